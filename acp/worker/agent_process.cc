#include "acp/worker/agent_process.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <vector>

#include "acp/process_stat.h"

// fork and not posix_spawn: the parent-death signal can only be set by the child itself. The worker
// has one thread and no library with locks or exit handlers, so what makes fork dangerous in acpd
// is not here.
namespace acpd::worker {
namespace {

enum class Step : int { kSetUp, kEnterFolder, kRun };

struct Failure {
  Step step = Step::kSetUp;
  int error = 0;
};

// Everything the child needs, made before the fork.
struct ChildPlan {
  std::vector<char*> argv;
  std::vector<std::string> env_text;
  std::vector<char*> env;
  const char* cwd = nullptr;
  pid_t worker = 0;
  int in = -1, out = -1, err = -1, status = -1;
};

std::vector<std::string> Environment(const acp::LaunchSpec& spec) {
  std::vector<std::string> env;
  for (const auto& [name, value] : spec.env) {
    if (name != "ACPD_WORKER_ID") env.push_back(name + "=" + value);
  }
  env.push_back("ACPD_WORKER_ID=" + spec.worker_id);
  return env;
}

ChildPlan MakePlan(const acp::LaunchSpec& spec) {
  ChildPlan plan;
  for (const std::string& arg : spec.argv) plan.argv.push_back(const_cast<char*>(arg.c_str()));
  plan.argv.push_back(nullptr);
  plan.env_text = Environment(spec);
  for (std::string& entry : plan.env_text) plan.env.push_back(entry.data());
  plan.env.push_back(nullptr);
  if (!spec.cwd.empty()) plan.cwd = spec.cwd.c_str();
  plan.worker = getpid();
  return plan;
}

[[noreturn]] void GiveUp(int status_fd, Step step) {
  Failure failure{step, errno};
  ssize_t written = write(status_fd, &failure, sizeof failure);
  _exit(written == sizeof failure ? 127 : 126);
}

void ResetSignals() {
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void BecomeAgent(const ChildPlan& plan) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != plan.worker) _exit(126);  // it died before the signal was asked for
  setpgid(0, 0);
  ResetSignals();
  if (dup2(plan.in, 0) < 0 || dup2(plan.out, 1) < 0 || dup2(plan.err, 2) < 0) {
    GiveUp(plan.status, Step::kSetUp);
  }
  // The status pipe goes to 3, and closes when the program runs; nothing else is left above 2.
  if (plan.status != 3 && dup3(plan.status, 3, O_CLOEXEC) < 0) GiveUp(plan.status, Step::kSetUp);
  syscall(SYS_close_range, 4u, ~0u, 0u);
  if (plan.cwd != nullptr && chdir(plan.cwd) != 0) GiveUp(3, Step::kEnterFolder);
  environ = const_cast<char**>(plan.env.data());  // execvp looks the program up in this PATH
  execvp(plan.argv[0], plan.argv.data());
  GiveUp(3, Step::kRun);
}

Failure ReadFailure(int fd) {
  Failure failure;
  ssize_t got;
  do {
    got = read(fd, &failure, sizeof failure);
  } while (got < 0 && errno == EINTR);
  return got == sizeof failure ? failure : Failure{};  // end of file: the program runs
}

void Explain(const Failure& failure, const acp::LaunchSpec& spec, AgentProcess* agent) {
  std::string why = strerror(failure.error);
  agent->start_errno = failure.error;
  switch (failure.step) {
    case Step::kSetUp:
      agent->start_error = "cannot start a process: " + why;
      break;
    case Step::kEnterFolder:
      agent->start_error = "cannot enter the folder " + spec.cwd + ": " + why;
      break;
    case Step::kRun:
      agent->start_error = "cannot run " + spec.argv[0] + ": " + why;
      break;
  }
}

struct Pipe {
  UniqueFd read_end, write_end;

  bool Open() {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) return false;
    read_end.Reset(fds[0]);
    write_end.Reset(fds[1]);
    return true;
  }
};

}  // namespace

AgentProcess StartAgent(const acp::LaunchSpec& spec) {
  AgentProcess agent;
  if (spec.argv.empty() || spec.argv[0].empty()) {
    agent.start_errno = EINVAL;
    agent.start_error = "the agent has no command";
    return agent;
  }
  Pipe in, out, err, status;
  pid_t pid = -1;
  if (in.Open() && out.Open() && err.Open() && status.Open()) {
    ChildPlan plan = MakePlan(spec);
    plan.in = in.read_end.get();
    plan.out = out.write_end.get();
    plan.err = err.write_end.get();
    plan.status = status.write_end.get();
    pid = fork();
    if (pid == 0) BecomeAgent(plan);
  }
  if (pid < 0) {
    Explain({Step::kSetUp, errno}, spec, &agent);
    return agent;
  }
  setpgid(pid, pid);  // so that a signal to the group finds it whoever was first
  status.write_end.Reset();
  Failure failure = ReadFailure(status.read_end.get());
  if (failure.error != 0) {
    waitpid(pid, nullptr, 0);
    Explain(failure, spec, &agent);
    return agent;
  }
  agent.pid = pid;
  if (auto stat = acp::ReadProcessStat(pid)) agent.start_ticks = stat->start_ticks;
  agent.in = std::move(in.write_end);
  agent.out = std::move(out.read_end);
  agent.err = std::move(err.read_end);
  for (const UniqueFd* fd : {&agent.in, &agent.out, &agent.err}) SetNonBlocking(fd->get());
  return agent;
}

}  // namespace acpd::worker
