#include "acp/worker/child_process.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <algorithm>

// fork and not posix_spawn: the parent-death signal can only be set by the child itself. The worker
// has one thread and no library with locks or exit handlers, so what makes fork dangerous in acpd
// is not here.
namespace acpd::worker {
namespace {

enum class StartStep : int { kSetUp, kEnterFolder, kRun };

struct StatusMessage {
  StartStep step = StartStep::kSetUp;
  int error = 0;
};

// Everything the child needs, made before the fork.
struct ChildArgs {
  std::vector<char*> argv;
  std::vector<std::string> env_text;
  std::vector<char*> env;
  const char* cwd = nullptr;
  pid_t worker = 0;
  int status = -1;
};

std::vector<std::string> EnvironmentOf(const ChildPlan& plan) {
  std::vector<std::string> env;
  for (const auto& [name, value] : plan.env) {
    const bool is_mark = std::any_of(plan.marks.begin(), plan.marks.end(),
                                     [&name](const auto& mark) { return mark.first == name; });
    if (!is_mark) env.push_back(name + "=" + value);
  }
  for (const auto& [name, value] : plan.marks) env.push_back(name + "=" + value);
  return env;
}

ChildArgs MakeArgs(const ChildPlan& plan) {
  ChildArgs args;
  for (const std::string& arg : plan.argv) args.argv.push_back(const_cast<char*>(arg.c_str()));
  args.argv.push_back(nullptr);
  args.env_text = EnvironmentOf(plan);
  for (std::string& entry : args.env_text) args.env.push_back(entry.data());
  args.env.push_back(nullptr);
  if (!plan.cwd.empty()) args.cwd = plan.cwd.c_str();
  args.worker = getpid();
  return args;
}

[[noreturn]] void GiveUp(int status_fd, StartStep step) {
  StatusMessage message{step, errno};
  ssize_t written = write(status_fd, &message, sizeof message);
  _exit(written == sizeof message ? 127 : 126);
}

void ResetSignals() {
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void BecomeProgram(const ChildPlan& plan, const ChildArgs& args) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != args.worker) _exit(126);  // it died before the signal was asked for
  if (plan.own_session) {
    setsid();
  } else {
    setpgid(0, 0);
  }
  ResetSignals();
  if (dup2(plan.in, 0) < 0 || dup2(plan.out, 1) < 0 || dup2(plan.err, 2) < 0) {
    GiveUp(args.status, StartStep::kSetUp);
  }
  // The status pipe goes to 3, and closes when the program runs; nothing else is left above 2.
  if (args.status != 3 && dup3(args.status, 3, O_CLOEXEC) < 0) {
    GiveUp(args.status, StartStep::kSetUp);
  }
  syscall(SYS_close_range, 4u, ~0u, 0u);
  if (args.cwd != nullptr && chdir(args.cwd) != 0) GiveUp(3, StartStep::kEnterFolder);
  environ = const_cast<char**>(args.env.data());  // execvp looks the program up in this PATH
  execvp(args.argv[0], args.argv.data());
  GiveUp(3, StartStep::kRun);
}

StartFailure Explain(const StatusMessage& message, const ChildPlan& plan) {
  const std::string why = strerror(message.error);
  switch (message.step) {
    case StartStep::kEnterFolder:
      return {message.error, "cannot enter the folder " + plan.cwd + ": " + why};
    case StartStep::kRun:
      return {message.error, "cannot run " + plan.argv[0] + ": " + why};
    case StartStep::kSetUp:
      break;
  }
  return {message.error, "cannot start a process: " + why};
}

}  // namespace

bool Pipe::Open() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return false;
  read_end.Reset(fds[0]);
  write_end.Reset(fds[1]);
  return true;
}

StartFailure NoProcess() {
  const int error = errno;
  return {error, std::string("cannot start a process: ") + strerror(error)};
}

ForkedChild ForkChild(const ChildPlan& plan) {
  ForkedChild child;
  Pipe status;
  pid_t pid = -1;
  if (status.Open()) {
    ChildArgs args = MakeArgs(plan);
    args.status = status.write_end.get();
    pid = fork();
    if (pid == 0) BecomeProgram(plan, args);
  }
  if (pid < 0) {
    child.failure = NoProcess();
    return child;
  }
  // So that a signal to the group finds it whoever was first. (The leader of a group could not
  // begin a session.)
  if (!plan.own_session) setpgid(pid, pid);
  child.pid = pid;
  child.status = std::move(status.read_end);
  return child;
}

std::optional<StartFailure> ReadStartFailure(int status, const ChildPlan& plan) {
  StatusMessage message;
  ssize_t got;
  do {
    got = read(status, &message, sizeof message);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && errno == EAGAIN) return std::nullopt;
  if (got != sizeof message) return StartFailure();  // end of file: the program runs
  return Explain(message, plan);
}

}  // namespace acpd::worker
