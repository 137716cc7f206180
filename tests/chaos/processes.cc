#include "tests/chaos/processes.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <system_error>

#include "tests/e2e/harness/leftovers.h"
#include "tests/e2e/harness/temp_dir.h"

namespace acpd::chaos {
namespace {

std::string ProcFile(pid_t pid, const char* name) {
  return e2e::ReadFile("/proc/" + std::to_string(pid) + "/" + name);
}

bool IsSpared(pid_t pid) {
  return ProcFile(pid, "cmdline").find(Processes::kSpared) != std::string::npos;
}

// The field behind the program's name, which may itself hold parentheses, and the state.
pid_t ParentOf(pid_t pid) {
  const std::string stat = ProcFile(pid, "stat");
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(stat.substr(name_end + 1));
  char state = 0;
  pid_t parent = 0;
  fields >> state >> parent;
  return parent;
}

std::vector<pid_t> PidsOf(const std::string& program) {
  std::vector<pid_t> pids;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid > 0 && ProcFile(pid, "comm") == program + "\n") pids.push_back(pid);
  }
  return pids;
}

}  // namespace

bool Processes::IsOurs(pid_t pid, const std::string& program) const {
  if (ProcFile(pid, "comm") != program + "\n" || !e2e::IsAlive(pid)) return false;
  const std::string entry = std::string(e2e::Leftovers::kMarkName) + "=" + mark_;
  return ProcFile(pid, "environ").find(entry) != std::string::npos ||
         ProcFile(pid, "cmdline").find(folder_) != std::string::npos;
}

std::vector<pid_t> Processes::Find(const std::string& program) const {
  std::set<pid_t> spared;
  for (const pid_t agent : PidsOf("fake_agent")) {
    if (IsSpared(agent)) spared.insert({agent, ParentOf(agent)});
  }
  std::vector<pid_t> found;
  for (const pid_t pid : PidsOf(program)) {
    if (!spared.contains(pid) && IsOurs(pid, program)) found.push_back(pid);
  }
  return found;
}

bool Processes::Kill(pid_t pid, const std::string& program) const {
  const int fd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) return false;
  // Looked at once more behind the descriptor, which no other process can get.
  const bool ours = IsOurs(pid, program);
  const bool killed = ours && ::syscall(SYS_pidfd_send_signal, fd, SIGKILL, nullptr, 0) == 0;
  ::close(fd);
  return killed;
}

uint64_t ResidentKib(pid_t pid) {
  const std::string status = ProcFile(pid, "status");
  const std::string key = "VmRSS:";
  const size_t at = status.find(key);
  return at == std::string::npos ? 0 : std::strtoull(status.c_str() + at + key.size(), nullptr, 10);
}

uint64_t OpenDescriptors(pid_t pid) {
  std::error_code error;
  uint64_t count = 0;
  const std::string folder = "/proc/" + std::to_string(pid) + "/fd";
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    ++count;
  }
  return count;
}

}  // namespace acpd::chaos
