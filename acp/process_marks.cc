#include "acp/process_marks.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "acp/process_stat.h"

namespace acpd::acp {
namespace {

constexpr int kLookAgainMs = 20;

// Keeps a process from being taken for another: while this is held, what was read of it is either
// true of it or it is dead.
class HeldProcess {
 public:
  explicit HeldProcess(pid_t pid)
      : pid_(pid),
        fd_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))),
        stat_(ReadProcessStat(pid)) {}
  ~HeldProcess() {
    if (fd_ >= 0) close(fd_);
  }
  HeldProcess(HeldProcess&& other) noexcept
      : pid_(other.pid_), fd_(std::exchange(other.fd_, -1)), stat_(other.stat_) {}
  HeldProcess& operator=(HeldProcess&&) = delete;

  bool alive() const { return stat_ && stat_->state != 'Z' && stat_->state != 'X'; }
  uint64_t start_ticks() const { return stat_->start_ticks; }
  pid_t pid() const { return pid_; }
  int fd() const { return fd_; }

  void Kill() const {
    if (fd_ >= 0) {
      syscall(SYS_pidfd_send_signal, fd_, SIGKILL, nullptr, 0);
      return;
    }
    // No pidfd (an old kernel, or no fd left): the same start time says that it is still the same
    // process.
    auto now = ReadProcessStat(pid_);
    if (now && now->start_ticks == stat_->start_ticks) kill(pid_, SIGKILL);
  }

 private:
  pid_t pid_;
  int fd_;
  std::optional<ProcessStat> stat_;
};

bool HasMark(pid_t pid, const std::string& mark) {
  // Entries end in NUL; a leading one makes the first an entry like the others.
  std::string environment = '\0' + ReadProcFile("/proc/" + std::to_string(pid) + "/environ");
  return environment.find(mark) != std::string::npos;
}

// Those to be killed that are alive.
std::vector<HeldProcess> Find(const std::string& worker_id, pid_t worker_pid,
                              uint64_t start_ticks) {
  std::string mark(1, '\0');
  mark.append(kWorkerMark).append("=").append(worker_id).push_back('\0');
  std::vector<HeldProcess> found;
  for (pid_t pid : AllProcesses()) {
    if (pid <= 1 || pid == getpid()) continue;
    HeldProcess process(pid);
    if (!process.alive()) continue;
    bool is_worker = pid == worker_pid && process.start_ticks() == start_ticks;
    if (is_worker || (!worker_id.empty() && HasMark(pid, mark))) {
      found.push_back(std::move(process));
    }
  }
  return found;
}

// Waits until one of them is gone, but not for long.
void WaitForEnd(const std::vector<HeldProcess>& processes) {
  std::vector<pollfd> polls;
  for (const HeldProcess& process : processes) polls.push_back({process.fd(), POLLIN, 0});
  const auto until = std::chrono::steady_clock::now() + milliseconds(kLookAgainMs);
  while (!polls.empty()) {
    auto left = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now()).count();
    if (left <= 0 || poll(polls.data(), polls.size(), static_cast<int>(left)) <= 0) return;
    std::erase_if(polls, [](const pollfd& entry) { return entry.revents != 0; });
  }
}

}  // namespace

bool KillMarked(const std::string& worker_id, pid_t worker_pid, uint64_t start_ticks,
                SteadyTime deadline) {
  // A process forked behind the back of one look is found by the next: two in a row must find none.
  for (int clean_looks = 0; clean_looks < 2;) {
    std::vector<HeldProcess> found = Find(worker_id, worker_pid, start_ticks);
    clean_looks = found.empty() ? clean_looks + 1 : 0;
    if (found.empty()) continue;
    for (const HeldProcess& process : found) process.Kill();
    if (std::chrono::steady_clock::now() >= deadline) return false;
    WaitForEnd(found);
  }
  return true;
}

}  // namespace acpd::acp
