// The configured agents, and what each says of itself.
#include <utility>

#include "session/agent_probe.h"
#include "session/errors.h"
#include "session/launch.h"
#include "session/paths.h"

namespace acpd::session {
namespace {

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

}  // namespace

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

awaitable<absl::Status> SessionManager::Impl::AskNothing(std::shared_ptr<Probe>, SteadyTime) {
  co_return absl::OkStatus();
}

awaitable<absl::StatusOr<AgentView>> SessionManager::Impl::ProbeAgent(CallPtr call,
                                                                      std::string name) {
  ProbeErrand nothing = [this](std::shared_ptr<Probe> probe, SteadyTime deadline) {
    return AskNothing(std::move(probe), deadline);
  };
  const absl::StatusOr<std::shared_ptr<Probe>> probe =
      co_await RunProbe(call, name, "", std::move(nothing));
  if (!probe.ok()) co_return probe.status();
  co_return Describe(core, *core.config().Find(name), absl::OkStatus());
}

}  // namespace acpd::session
