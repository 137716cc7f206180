// Starting an agent only to ask it something.
#include <utility>

#include "session/agent_probe.h"
#include "session/errors.h"
#include "session/launch.h"
#include "session/manager_errors.h"
#include "session/names.h"

namespace acpd::session {
namespace {

using std::chrono::steady_clock;

// Probes wait for no slot among the workers; they have a bound of their own.
constexpr size_t kMaxProbes = 4;

// What an answer to `initialize` that is no result means.
absl::Status ProbeFailure(const AgentAnswer& answer, const AgentWorker& worker) {
  switch (answer.kind) {
    case AgentAnswer::Kind::kTimedOut:
      return MakeError("START_TIMEOUT",
                       "The agent did not answer initialize in its start_timeout, or before the "
                       "call's deadline (phase initialize); raise the one that was shorter.");
    case AgentAnswer::Kind::kError:
      return MakeError(absl::StatusCode::kUnavailable, "AGENT_START_FAILED",
                       "The agent refused initialize: " + answer.error.message);
    default:
      return MakeError(absl::StatusCode::kUnavailable, "AGENT_START_FAILED",
                       "The agent ended before it answered initialize: " + worker.ExitDetail());
  }
}

}  // namespace

// Starts the agent (in `cwd`; empty: state_dir), has it do the errand and stops it again.
awaitable<absl::StatusOr<std::shared_ptr<SessionManager::Impl::Probe>>>
SessionManager::Impl::RunProbe(CallPtr call, std::string name, std::string cwd,
                               ProbeErrand errand) {
  if (core.refusing) co_return ShuttingDown();
  const AgentDefinition* agent = core.config().Find(name);
  if (!agent) {
    co_return MakeError("AGENT_NOT_FOUND", "There is no agent \"" + name +
                                               "\"; ListAgents shows the configured ones.");
  }
  if (probing.size() >= kMaxProbes) {
    co_return MakeError("TOO_MANY_WORKERS", "acpd has " + std::to_string(kMaxProbes) +
                                                " agents up already that are probed, listed or "
                                                "logged in; send the call again when they have "
                                                "answered (a login may take 10 minutes).");
  }
  const auto probe = std::make_shared<Probe>(core, "probe-" + NewId(core.now()));
  AgentDefinition unserved = *agent;  // as AskProbed offers nothing
  unserved.capabilities = {.fs = false, .terminal = false, .elicitation = false, .fs_read = false};
  probe->worker = std::make_shared<AgentWorker>(core, unserved, probe.get(), "");
  probe->trace = call->trace;
  probe->recorder().SetOwner(probe);
  probing.insert(probe);
  awaitable<absl::Status> work =
      ProbeWork(probe, agent, std::move(cwd), call->deadline, std::move(errand));
  const std::optional<absl::Status> outcome = co_await Outlast(call, std::move(work));
  if (!outcome) {
    // Nobody waits for the agent any more.
    Spawn(core.deps.loop, EndProbe(probe), [this](const std::string& what) {
      core.Log(Severity::kError, "stopping a probed agent failed: " + what);
    });
  }
  if (!outcome && core.refusing) co_return ShuttingDown();
  const absl::Status status = probe->verdict.value_or(MakeError(
      "START_TIMEOUT", "The agent did not answer before the call's deadline; give it more."));
  if (!status.ok()) co_return status;
  co_return probe;
}

awaitable<absl::Status> SessionManager::Impl::ProbeWork(std::shared_ptr<Probe> probe,
                                                        const AgentDefinition* agent,
                                                        std::string cwd, SteadyTime call_deadline,
                                                        ProbeErrand errand) {
  const std::shared_ptr<AgentWorker> worker = probe->worker;
  const SteadyTime start_by = std::min(steady_clock::now() + agent->start_timeout, call_deadline);
  absl::Status status = co_await AskProbed(probe, agent, std::move(cwd), start_by);
  if (status.ok()) {
    const SteadyTime answer_by =
        std::min(steady_clock::now() + agent->session_setup_timeout, call_deadline);
    status = co_await errand(probe, answer_by);
  }
  probe->verdict = status;
  if (!worker->gone()) co_await worker->Stop(agent->stop_grace);
  probing.erase(probe);
  core.room.Notify();  // Shutdown waits for it
  co_await probe->recorder().Settled(start_by);
  probe->worker = nullptr;
  co_return status;
}

awaitable<absl::Status> SessionManager::Impl::AskProbed(std::shared_ptr<Probe> probe,
                                                        const AgentDefinition* agent,
                                                        std::string cwd, SteadyTime deadline) {
  const std::shared_ptr<AgentWorker> worker = probe->worker;
  LaunchContext context;
  context.cwd = cwd.empty() ? core.config().state_dir : std::move(cwd);
  context.secrets = &core.config().secrets;
  context.daemon_env = DaemonEnvironment();
  absl::StatusOr<acp::LaunchSpec> spec = BuildLaunchSpec(*agent, context, worker->id());
  if (!spec.ok()) co_return spec.status();
  const absl::Status started = co_await worker->Start(std::move(*spec), deadline);
  if (!started.ok()) co_return started;
  const uint64_t id = worker->NextId();
  const acp::ClientCapabilities offered;  // there is no session that anything could be done for
  const AgentAnswer answer =
      co_await worker->Call(id, acp::InitializeLine(id, ACPD_VERSION, offered), deadline);
  if (answer.kind != AgentAnswer::Kind::kResult) co_return ProbeFailure(answer, *worker);
  absl::StatusOr<acp::InitializeResult> result = ReadInitialize(answer.result);
  if (!result.ok()) co_return result.status();
  worker->initialize = *result;
  core.facts[agent->name].initialize = std::move(*result);
  co_return absl::OkStatus();
}

awaitable<void> SessionManager::Impl::EndProbe(std::shared_ptr<Probe> probe) {
  const std::shared_ptr<AgentWorker> worker = probe->worker;
  if (worker && !worker->gone()) co_await worker->Stop(milliseconds(0));
}

}  // namespace acpd::session
