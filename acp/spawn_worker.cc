#include "acp/spawn_worker.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "acp/process_marks.h"
#include "acp/process_stat.h"

namespace acpd::acp {
namespace {

// What of our environment a program needs to be loaded, and the sanitizers to report.
constexpr const char* kPassedOn[] = {"LD_LIBRARY_PATH", "ASAN_OPTIONS", "LSAN_OPTIONS",
                                     "UBSAN_OPTIONS", "TSAN_OPTIONS"};

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() {
    if (fd_ >= 0) close(fd_);
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t wrote = write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(wrote));
  }
  return true;
}

// A memory file that holds the spec: unlike a pipe it takes all of it at once, and no SIGPIPE comes
// of it when the worker dies. The number is above those that the child's standard fds take.
int SpecFile(const LaunchSpec& spec) {
  Fd file(memfd_create("acpd-launch-spec", MFD_CLOEXEC));
  if (file.get() < 0 || !WriteAll(file.get(), EncodeSpec(spec))) return -1;
  if (lseek(file.get(), 0, SEEK_SET) != 0) return -1;
  return fcntl(file.get(), F_DUPFD_CLOEXEC, 10);
}

std::vector<std::string> WorkerEnvironment(const std::string& worker_id) {
  std::vector<std::string> env = {std::string(kWorkerMark) + "=" + worker_id};
  for (const char* name : kPassedOn) {
    if (const char* value = std::getenv(name)) env.push_back(std::string(name) + "=" + value);
  }
  return env;
}

// The settings of a posix_spawn, freed with it.
class SpawnSettings {
 public:
  explicit SpawnSettings(int spec_fd) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&actions_, 0, 1);
    posix_spawn_file_actions_adddup2(&actions_, spec_fd, 3);
    posix_spawn_file_actions_addclosefrom_np(&actions_, 4);
    posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

absl::Status CannotStart(const std::string& program, int error) {
  return absl::UnavailableError("cannot start " + program + ": " + std::strerror(error));
}

}  // namespace

absl::StatusOr<SpawnedWorker> SpawnWorker(const std::string& program,
                                          const std::string& socket_path, const LaunchSpec& spec) {
  Fd spec_file(SpecFile(spec));
  if (spec_file.get() < 0) return CannotStart(program, errno);
  SpawnSettings settings(spec_file.get());
  std::vector<std::string> env_text = WorkerEnvironment(spec.worker_id);
  std::vector<char*> env;
  for (std::string& entry : env_text) env.push_back(entry.data());
  env.push_back(nullptr);
  char* argv[] = {const_cast<char*>(program.c_str()), const_cast<char*>(socket_path.c_str()),
                  nullptr};
  SpawnedWorker worker;
  int error = posix_spawn(&worker.pid, program.c_str(), settings.actions(), settings.attributes(),
                          argv, env.data());
  if (error != 0) return CannotStart(program, error);
  if (auto stat = ReadProcessStat(worker.pid)) worker.start_ticks = stat->start_ticks;
  return worker;
}

}  // namespace acpd::acp
