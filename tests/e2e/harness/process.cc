#include "tests/e2e/harness/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

extern char** environ;

namespace acpd::e2e {
namespace {

std::vector<char*> Pointers(std::vector<std::string>* texts) {
  std::vector<char*> pointers;
  for (std::string& text : *texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> Environment(const std::map<std::string, std::string>& added) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!added.contains(text.substr(0, text.find('=')))) entries.push_back(text);
  }
  for (const auto& [name, value] : added) entries.push_back(name + "=" + value);
  return entries;
}

void DescribeFiles(const Process::Options& options, posix_spawn_file_actions_t* actions) {
  if (!options.terminal.empty()) {
    // The first terminal that a session's leader opens becomes the session's.
    posix_spawn_file_actions_addopen(actions, 0, options.terminal.c_str(), O_RDWR, 0);
  } else if (options.stdin_fd >= 0) {
    posix_spawn_file_actions_adddup2(actions, options.stdin_fd, 0);
  } else {
    posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
  }
  if (options.stdout_fd >= 0) posix_spawn_file_actions_adddup2(actions, options.stdout_fd, 1);
  if (!options.stderr_file.empty()) {
    posix_spawn_file_actions_addopen(actions, 2, options.stderr_file.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
  }
  posix_spawn_file_actions_addclosefrom_np(actions, 3);
}

void DescribeSession(const Process::Options& options, posix_spawnattr_t* attributes) {
  if (options.terminal.empty()) return;
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(attributes, &signals);
  sigaddset(&signals, SIGINT);
  posix_spawnattr_setsigdefault(attributes, &signals);
  posix_spawnattr_setflags(attributes,
                           POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
}

}  // namespace

std::string ProgramPath(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

Process::Process(const Options& options) {
  std::vector<std::string> argv = options.args;
  argv.insert(argv.begin(), options.program);
  std::vector<std::string> env = Environment(options.env);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  DescribeFiles(options, &actions);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  DescribeSession(options, &attributes);
  const int error = ::posix_spawn(&pid_, options.program.c_str(), &actions, &attributes,
                                  Pointers(&argv).data(), Pointers(&env).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw std::runtime_error("cannot start " + options.program + ": " + std::strerror(error));
  }
}

Process::~Process() {
  Signal(SIGKILL);
  Wait();
}

void Process::Signal(int number) {
  if (!status_) ::kill(pid_, number);
}

std::optional<ExitStatus> Process::Wait(milliseconds patience) {
  WaitUntil([this] { return Reap(); }, patience);
  return status_;
}

bool Process::Reap() {
  if (status_) return true;
  int status = 0;
  const pid_t reaped = ::waitpid(pid_, &status, WNOHANG);
  if (reaped == 0 || (reaped < 0 && errno == EINTR)) return false;
  status_ =
      WIFEXITED(status) ? ExitStatus{WEXITSTATUS(status), 0} : ExitStatus{-1, WTERMSIG(status)};
  return true;
}

}  // namespace acpd::e2e
