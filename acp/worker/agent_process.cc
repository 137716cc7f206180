#include "acp/worker/agent_process.h"

#include <errno.h>
#include <sys/wait.h>

#include "acp/process_stat.h"
#include "acp/worker/child_process.h"

namespace acpd::worker {
namespace {

AgentProcess NotStarted(StartFailure failure) {
  AgentProcess agent;
  agent.start_errno = failure.error;
  agent.start_error = std::move(failure.why);
  return agent;
}

}  // namespace

AgentProcess StartAgent(const acp::LaunchSpec& spec) {
  if (spec.argv.empty() || spec.argv[0].empty()) {
    return NotStarted({EINVAL, "the agent has no command"});
  }
  Pipe in, out, err;
  if (!in.Open() || !out.Open() || !err.Open()) return NotStarted(NoProcess());
  ChildPlan plan;
  plan.argv = spec.argv;
  plan.env = spec.env;
  plan.marks = {{kWorkerMark, spec.worker_id}};
  plan.cwd = spec.cwd;
  plan.in = in.read_end.get();
  plan.out = out.write_end.get();
  plan.err = err.write_end.get();
  ForkedChild child = ForkChild(plan);
  if (child.pid == 0) return NotStarted(std::move(child.failure));
  // Nothing else is to be done yet, so it may block.
  StartFailure failure = *ReadStartFailure(child.status.get(), plan);
  if (failure.error != 0) {
    waitpid(child.pid, nullptr, 0);
    return NotStarted(std::move(failure));
  }
  AgentProcess agent;
  agent.pid = child.pid;
  if (auto stat = acp::ReadProcessStat(child.pid)) agent.start_ticks = stat->start_ticks;
  agent.in = std::move(in.write_end);
  agent.out = std::move(out.read_end);
  agent.err = std::move(err.read_end);
  for (const UniqueFd* fd : {&agent.in, &agent.out, &agent.err}) SetNonBlocking(fd->get());
  return agent;
}

}  // namespace acpd::worker
