// What an agent is asked without a session: the sessions that it itself knows, and its logins.
#include <algorithm>
#include <utility>

#include "absl/time/time.h"
#include "acp/text.h"
#include "session/agent_probe.h"
#include "session/errors.h"
#include "session/launch.h"
#include "session/manager_errors.h"
#include "session/secrets.h"

namespace acpd::session {
namespace {

constexpr std::chrono::minutes kLoginTime{10};

// What an answer that is no result comes to.
absl::Status RefusedBy(const AgentWorker& worker, const AgentAnswer& answer,
                       const std::string& method) {
  switch (answer.kind) {
    case AgentAnswer::Kind::kTimedOut:
      return MakeError("START_TIMEOUT",
                       "The agent did not answer " + method +
                           " before the call's deadline or its session_setup_timeout; raise the "
                           "one that was shorter.");
    case AgentAnswer::Kind::kExited:
    case AgentAnswer::Kind::kLost:
      return MakeError("AGENT_EXITED", "The agent ended before it answered " + method + ": " +
                                           worker.ExitDetail() + " Try again.");
    default:
      break;
  }
  const std::string words =
      answer.error.message + (answer.error.data.empty() ? "" : " " + answer.error.data);
  if (answer.error.code == acp::kAuthRequired) {
    return MakeError("AGENT_AUTH_REQUIRED", "The agent wants a login before " + method + ": " +
                                                words + ". See `acpctl login " +
                                                worker.agent().name + "`.");
  }
  return MakeError("NOT_SUPPORTED_BY_AGENT", "The agent refused " + method + ": " + words);
}

WallTime ReadTime(const std::string& iso) {
  absl::Time time;
  std::string error;
  if (iso.empty() || !absl::ParseTime(absl::RFC3339_full, iso, &time, &error)) return 0;
  return absl::ToUnixMicros(time);
}

// What differs from the daemon's own environment, without keys: whoever may Chat reads it.
void DescribeTerminalLogin(const AgentWorker& worker, const acp::AuthMethod& method,
                           const Config& config, LoginView& login) {
  const acp::LaunchSpec* spec = worker.spec();
  if (spec == nullptr) return;
  std::vector<std::string> secrets;
  for (const auto& [name, value] : config.secrets) secrets.push_back(value);
  for (const std::string& word : spec->argv)
    login.command.push_back(HideSecrets(word, secrets, word.size()));
  login.command.insert(login.command.end(), method.args.begin(), method.args.end());
  const auto inherited = DaemonEnvironment();
  for (const auto& pair : spec->env) {
    const bool is_own = std::find(inherited.begin(), inherited.end(), pair) == inherited.end();
    const bool is_open = HideSecrets(pair.second, secrets, pair.second.size()) == pair.second;
    if (is_own && is_open && pair.first != "ACPD_WORKER_ID" && !NamesSecret(pair.first))
      login.env.push_back(pair);
  }
  login.env.insert(login.env.end(), method.env.begin(), method.env.end());
}

std::string IdsOf(const std::vector<acp::AuthMethod>& methods) {
  std::string ids;
  for (const acp::AuthMethod& method : methods) ids += (ids.empty() ? "" : ", ") + method.id;
  return ids.empty() ? "none" : std::string(CutText(ids, 512));
}

}  // namespace

awaitable<absl::StatusOr<AgentSessionPage>> SessionManager::Impl::ListAgentSessions(
    CallPtr call, std::string agent, std::string cwd, std::string cursor) {
  if (agent.empty()) agent = core.config().default_agent;
  ProbeErrand errand = [this, cwd, cursor](std::shared_ptr<Probe> probe, SteadyTime deadline) {
    return AskSessions(std::move(probe), deadline, cwd, cursor);
  };
  const absl::StatusOr<std::shared_ptr<Probe>> probe =
      co_await RunProbe(call, agent, "", std::move(errand));
  if (!probe.ok()) co_return probe.status();
  AgentSessionPage page = std::move((*probe)->sessions);
  for (AgentSessionView& view : page.sessions) {
    const auto known = core.by_agent_session.find({agent, view.agent_session_id});
    const auto session = known == core.by_agent_session.end() ? core.sessions.end()
                                                              : core.sessions.find(known->second);
    if (session != core.sessions.end() && session->second->known()) view.session_id = known->second;
  }
  co_return page;
}

awaitable<absl::Status> SessionManager::Impl::AskSessions(std::shared_ptr<Probe> probe,
                                                          SteadyTime deadline, std::string cwd,
                                                          std::string cursor) {
  const std::shared_ptr<AgentWorker> worker = probe->worker;
  if (!worker->initialize.list) {
    co_return MakeError("NOT_SUPPORTED_BY_AGENT",
                        "The agent keeps no list: it lacks sessionCapabilities.list.");
  }
  // A method that wants a page is not offered here; the agent may know its user all the same.
  const std::string& method = worker->agent().auth_method;
  const std::vector<std::string>& offered = worker->initialize.auth_method_ids;
  if (std::find(offered.begin(), offered.end(), method) != offered.end()) {
    const absl::Status logged_in = co_await AskLogin(probe, deadline, method);
    if (!logged_in.ok()) co_return logged_in;
  }
  const uint64_t id = worker->NextId();
  std::string line = acp::ListSessionsLine(id, cwd, cursor, probe->trace);
  const AgentAnswer answer = co_await worker->Call(id, std::move(line), deadline);
  if (answer.kind != AgentAnswer::Kind::kResult)
    co_return RefusedBy(*worker, answer, "session/list");
  absl::StatusOr<acp::AgentSessionPage> read = acp::ReadSessionPage(answer.result);
  if (!read.ok()) {
    co_return MakeError("PROTOCOL_MISMATCH", "The agent's answer to session/list cannot be read: " +
                                                 std::string(read.status().message()));
  }
  for (acp::AgentSession& session : read->sessions) {
    AgentSessionView& view = probe->sessions.sessions.emplace_back();
    view.agent_session_id = std::move(session.session_id);
    view.cwd = std::move(session.cwd);
    view.title = std::move(session.title);
    view.update_time = ReadTime(session.updated_at);
  }
  probe->sessions.next_cursor = std::move(read->next_cursor);
  co_return absl::OkStatus();
}

awaitable<absl::StatusOr<LoginView>> SessionManager::Impl::LoginAgent(CallPtr call,
                                                                      std::string agent,
                                                                      std::string method_id) {
  // A person may have to see it through in a browser.
  const SteadyTime until = std::min(call->deadline, std::chrono::steady_clock::now() + kLoginTime);
  ProbeErrand errand = [this, method_id, until](std::shared_ptr<Probe> probe, SteadyTime) {
    return AskLogin(std::move(probe), until, method_id);
  };
  const absl::StatusOr<std::shared_ptr<Probe>> probe =
      co_await RunProbe(call, agent, "", std::move(errand));
  if (!probe.ok()) co_return probe.status();
  LoginView view = std::move((*probe)->login);
  if (view.logged_in) core.facts[agent].auth_required = false;
  co_return view;
}

awaitable<absl::Status> SessionManager::Impl::AskLogin(std::shared_ptr<Probe> probe,
                                                       SteadyTime deadline, std::string method_id) {
  const std::shared_ptr<AgentWorker> worker = probe->worker;
  probe->login.methods = acp::ReadAuthMethods(worker->initialize.auth_methods_json);
  if (method_id.empty()) co_return absl::OkStatus();
  const auto& methods = probe->login.methods;
  const auto method =
      std::find_if(methods.begin(), methods.end(),
                   [&method_id](const acp::AuthMethod& other) { return other.id == method_id; });
  if (method == methods.end()) {
    co_return MakeError("INVALID_REQUEST",
                        "The agent has no login method \"" + method_id +
                            "\" for this call; it has: " + IdsOf(methods) +
                            ". One that sends a person to a page works as `auth_method` in its "
                            "config: whoever reads the session is asked to open it.");
  }
  if (method->type == "terminal") {
    DescribeTerminalLogin(*worker, *method, core.config(), probe->login);
    co_return absl::OkStatus();
  }
  const uint64_t id = worker->NextId();
  std::string line = acp::AuthenticateLine(id, method_id, probe->trace);
  const AgentAnswer answer = co_await worker->Call(id, std::move(line), deadline);
  if (answer.kind == AgentAnswer::Kind::kError) {
    core.facts[worker->agent().name].auth_required = true;
    co_return MakeError("AGENT_AUTH_REQUIRED", "The agent refused the login method \"" + method_id +
                                                   "\": " + answer.error.message +
                                                   ". Try another one, or look at its own manual.");
  }
  if (answer.kind != AgentAnswer::Kind::kResult)
    co_return RefusedBy(*worker, answer, "authenticate");
  probe->login.logged_in = true;
  co_return absl::OkStatus();
}

awaitable<absl::Status> SessionManager::Impl::LogoutAgent(CallPtr call, std::string agent) {
  ProbeErrand errand = [this](std::shared_ptr<Probe> probe, SteadyTime deadline) {
    return AskLogout(std::move(probe), deadline);
  };
  const absl::StatusOr<std::shared_ptr<Probe>> probe =
      co_await RunProbe(call, agent, "", std::move(errand));
  co_return probe.status();
}

awaitable<absl::Status> SessionManager::Impl::AskLogout(std::shared_ptr<Probe> probe,
                                                        SteadyTime deadline) {
  const std::shared_ptr<AgentWorker> worker = probe->worker;
  if (!worker->initialize.logout) {
    co_return MakeError("NOT_SUPPORTED_BY_AGENT",
                        "The agent cannot log out: it lacks agentCapabilities.auth.logout.");
  }
  const uint64_t id = worker->NextId();
  std::string line = acp::LogoutLine(id, probe->trace);
  const AgentAnswer answer = co_await worker->Call(id, std::move(line), deadline);
  if (answer.kind != AgentAnswer::Kind::kResult) co_return RefusedBy(*worker, answer, "logout");
  core.facts[worker->agent().name].auth_required = true;
  co_return absl::OkStatus();
}

}  // namespace acpd::session
