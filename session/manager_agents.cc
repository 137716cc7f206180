// The configured agents, and a probe that starts one.
#include <utility>

#include "session/errors.h"
#include "session/launch.h"
#include "session/manager_errors.h"
#include "session/manager_impl.h"
#include "session/names.h"
#include "session/paths.h"

namespace acpd::session {
namespace {

using std::chrono::steady_clock;

// Probes wait for no slot among the workers; they have a bound of their own.
constexpr size_t kMaxProbes = 4;

AgentView Describe(const Core& core, const AgentDefinition& agent, const absl::Status& available) {
  AgentView view;
  view.name = agent.name;
  view.command.push_back(agent.command);
  view.command.insert(view.command.end(), agent.args.begin(), agent.args.end());
  view.is_default = agent.name == core.config().default_agent;
  view.available = available.ok();
  view.unavailable_reason = std::string(available.message());
  const auto facts = core.facts.find(agent.name);
  if (facts != core.facts.end()) {
    view.version = facts->second.initialize.agent_version;
    view.capabilities_json = facts->second.initialize.capabilities_json;
    view.auth_methods_json = facts->second.initialize.auth_methods_json;
    view.auth_required = facts->second.auth_required;
  }
  return view;
}

// Looks each command up; blocking.
std::vector<absl::Status> CheckCommands(const std::vector<AgentDefinition>& agents,
                                        const std::string& path) {
  std::vector<absl::Status> found;
  for (const AgentDefinition& agent : agents)
    found.push_back(CheckCommand(agent.command, path, "/"));
  return found;
}

std::string PathOf(const std::vector<std::pair<std::string, std::string>>& env) {
  for (const auto& [name, value] : env) {
    if (name == "PATH") return value;
  }
  return "/usr/local/bin:/usr/bin:/bin";
}

// What an answer to `initialize` that is no result means.
absl::Status ProbeFailure(const AgentAnswer& answer, const AgentWorker& worker) {
  switch (answer.kind) {
    case AgentAnswer::Kind::kTimedOut:
      return MakeError("START_TIMEOUT",
                       "The agent did not answer initialize in time (phase initialize).");
    case AgentAnswer::Kind::kError:
      return MakeError(absl::StatusCode::kUnavailable, "AGENT_START_FAILED",
                       "The agent refused initialize: " + answer.error.message);
    default:
      return MakeError(absl::StatusCode::kUnavailable, "AGENT_START_FAILED",
                       "The agent ended before it answered initialize: " + worker.ExitDetail());
  }
}

}  // namespace

// The listener of a probe's worker: it has no session, only a record for the worker's row.
class SessionManager::Impl::Probe : public AgentListener {
 public:
  Probe(Core& core, const std::string& id) : recorder_(core, id, "", 0) {}
  Recorder& recorder() override { return recorder_; }
  void OnUpdate(const acp::UpdateView&) override {}
  void OnAgentRequest(const acp::Message& message) override {
    worker->SendLine(
        acp::ErrorLine(message.id, acp::kMethodNotFound, "acpd only probes this agent"));
  }
  void OnAgentNotification(const acp::Message&) override {}
  void OnPromptAnswer(uint64_t, const AgentAnswer&) override {}
  void OnNotice(Severity, std::string_view, const std::string&) override {}
  void OnGone() override {}

  std::shared_ptr<AgentWorker> worker;
  std::optional<absl::Status> verdict;  // known before the agent has been stopped again

 private:
  Recorder recorder_;
};

awaitable<absl::StatusOr<std::vector<AgentView>>> SessionManager::Impl::ListAgents(CallPtr) {
  const std::string path = PathOf(DaemonEnvironment());
  std::function<std::vector<absl::Status>()> check = [agents = core.config().agents, path] {
    return CheckCommands(agents, path);
  };
  const std::vector<absl::Status> found =
      co_await OnPool<std::vector<absl::Status>>(*core.deps.pool, std::move(check));
  std::vector<AgentView> views;
  for (size_t i = 0; i < found.size(); ++i)
    views.push_back(Describe(core, core.config().agents[i], found[i]));
  co_return views;
}

awaitable<absl::StatusOr<AgentView>> SessionManager::Impl::ProbeAgent(CallPtr call,
                                                                      std::string name) {
  if (core.refusing) co_return ShuttingDown();
  const AgentDefinition* agent = core.config().Find(name);
  if (!agent) {
    co_return MakeError("AGENT_NOT_FOUND", "There is no agent \"" + name +
                                               "\"; ListAgents shows the configured ones.");
  }
  if (probing.size() >= kMaxProbes) {
    co_return MakeError("TOO_MANY_WORKERS", "acpd is probing " + std::to_string(kMaxProbes) +
                                                " agents already; send the call again when they "
                                                "have answered.");
  }
  const auto probe = std::make_shared<Probe>(core, "probe-" + NewId(core.now()));
  probe->worker = std::make_shared<AgentWorker>(core, *agent, probe.get(), "");
  probe->recorder().SetOwner(probe);
  probing.insert(probe);
  const SteadyTime deadline = std::min(steady_clock::now() + agent->start_timeout, call->deadline);
  awaitable<absl::Status> work = RunProbe(probe, agent, deadline);
  const std::optional<absl::Status> outcome = co_await Outlast(call, std::move(work));
  if (!outcome) {
    // Nobody waits for the agent any more.
    Spawn(core.deps.loop, EndProbe(probe), [this](const std::string& what) {
      core.Log(Severity::kError, "stopping a probed agent failed: " + what);
    });
  }
  if (!outcome && core.refusing) co_return ShuttingDown();
  const absl::Status status = probe->verdict.value_or(
      MakeError("START_TIMEOUT",
                "The agent did not answer initialize before the call's deadline; give it more."));
  if (!status.ok()) co_return status;
  co_return Describe(core, *agent, absl::OkStatus());
}

// Starts the agent, asks it and stops it again.
awaitable<absl::Status> SessionManager::Impl::RunProbe(std::shared_ptr<Probe> probe,
                                                       const AgentDefinition* agent,
                                                       SteadyTime deadline) {
  const std::shared_ptr<AgentWorker> worker = probe->worker;
  const absl::Status status = co_await AskProbed(probe, agent, deadline);
  probe->verdict = status;
  if (!worker->gone()) co_await worker->Stop(agent->stop_grace);
  probing.erase(probe);
  core.room.Notify();  // Shutdown waits for it
  co_await probe->recorder().Settled(deadline);
  probe->worker = nullptr;
  co_return status;
}

awaitable<absl::Status> SessionManager::Impl::AskProbed(std::shared_ptr<Probe> probe,
                                                        const AgentDefinition* agent,
                                                        SteadyTime deadline) {
  const std::shared_ptr<AgentWorker> worker = probe->worker;
  LaunchContext context;
  context.cwd = core.config().state_dir;
  context.secrets = &core.config().secrets;
  context.daemon_env = DaemonEnvironment();
  absl::StatusOr<acp::LaunchSpec> spec = BuildLaunchSpec(*agent, context, worker->id());
  if (!spec.ok()) co_return spec.status();
  const absl::Status started = co_await worker->Start(std::move(*spec), deadline);
  if (!started.ok()) co_return started;
  const uint64_t id = worker->NextId();
  const AgentAnswer answer =
      co_await worker->Call(id, acp::InitializeLine(id, ACPD_VERSION), deadline);
  if (answer.kind != AgentAnswer::Kind::kResult) co_return ProbeFailure(answer, *worker);
  absl::StatusOr<acp::InitializeResult> result = ReadInitialize(answer.result);
  if (!result.ok()) co_return result.status();
  core.facts[agent->name].initialize = std::move(*result);
  co_return absl::OkStatus();
}

awaitable<void> SessionManager::Impl::EndProbe(std::shared_ptr<Probe> probe) {
  const std::shared_ptr<AgentWorker> worker = probe->worker;
  if (worker && !worker->gone()) co_await worker->Stop(milliseconds(0));
}

}  // namespace acpd::session
