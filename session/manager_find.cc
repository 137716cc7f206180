// Which session a Chat means, and whether it may go there.
#include <utility>

#include "session/errors.h"
#include "session/launch.h"
#include "session/manager_impl.h"
#include "session/names.h"
#include "session/paths.h"
#include "session/setup_settings.h"

namespace acpd::session {

namespace {

// What a copy has of its original.
void CopyFrom(const SessionRow& original, SessionRow& row) {
  row.fork_of = original.agent_session_id;
  row.labels = original.labels;
  row.title = original.title;
  row.model_provider = original.model_provider;
  row.needs_api_key = original.needs_api_key;
  row.model = original.model;
  row.permission_mode = original.permission_mode;
  row.setup = original.setup;
  row.needs_setup_secrets = original.needs_setup_secrets;
  row.wanted_mode = original.wanted_mode;
  row.wanted_options = original.wanted_options;
}

// Of what a request brings along.
absl::Status CheckServerSecrets(const ChatRequest& request, const Config& config) {
  if (!request.mcp_servers) return absl::OkStatus();
  LaunchContext context;
  context.secrets = &config.secrets;
  SetupSettings settings;
  settings.mcp_servers = *request.mcp_servers;
  return ExpandSettings(settings, context).status();
}

}  // namespace

absl::StatusOr<std::string> SessionManager::Impl::AgentFor(const ChatRequest& request) const {
  std::string agent = request.agent;
  if (agent.empty()) {
    const absl::StatusOr<SessionPtr> session =
        FollowSession(request.session_id, request.project_id);
    agent = session.ok() ? (*session)->row().agent : core.config().default_agent;
  }
  if (agent.empty()) {
    return MakeError("AGENT_NOT_FOUND", "No agent is configured; add one to agent_servers.");
  }
  if (!core.config().Find(agent)) {
    return MakeError("AGENT_NOT_FOUND",
                     "There is no agent \"" + agent + "\"; ListAgents shows the configured ones.");
  }
  return agent;
}

absl::StatusOr<SessionPtr> SessionManager::Impl::SessionFor(const ChatRequest& request,
                                                            const std::string& agent,
                                                            const std::string& cwd) {
  const std::string& id = request.session_id;
  if (id.empty()) return MakeSession(request, agent, cwd);
  if (core.deleted.count(id)) {
    return MakeError(
        "SESSION_NOT_FOUND",
        "The session \"" + id + "\" does not exist; leave session_id empty for a new one.");
  }
  auto it = core.sessions.find(id);
  if (it == core.sessions.end()) {
    const auto known = core.by_agent_session.find({agent, id});
    if (known != core.by_agent_session.end()) it = core.sessions.find(known->second);
  }
  if (it == core.sessions.end() || it->second->vacant()) {
    if (!core.config().adopt_unknown_sessions) {
      return MakeError(
          "SESSION_NOT_FOUND",
          "The session \"" + id + "\" does not exist; leave session_id empty for a new one.");
    }
    return MakeSession(request, agent, cwd);
  }
  const SessionRow& asked = it->second->row();
  if (asked.project_id != request.project_id) {
    return MakeError(
        "SESSION_NOT_FOUND",
        "The session \"" + id + "\" does not exist; leave session_id empty for a new one.");
  }
  if (!asked.replaced_by.empty() && request.resume_policy.mode == ResumeMode::kRequire) {
    return MakeError("SESSION_NOT_RESUMABLE",
                     "The session was replaced by " + asked.replaced_by +
                         "; send the Chat there, or without MODE_REQUIRE.");
  }
  while (!it->second->row().replaced_by.empty()) {
    it = core.sessions.find(it->second->row().replaced_by);
    if (it == core.sessions.end()) {
      return MakeError("SESSION_NOT_FOUND",
                       "The session that replaced \"" + id + "\" was deleted.");
    }
  }
  if (!request.agent.empty() && it->second->row().agent != request.agent) {
    return MakeError("AGENT_MISMATCH", "The session belongs to the agent \"" +
                                           it->second->row().agent +
                                           "\"; leave `agent` empty or start a new session.");
  }
  return it->second;
}

void SessionManager::Impl::Unlist(const SessionPtr& session) {
  const SessionRow& row = session->row();
  const auto known = core.by_agent_session.find({row.agent, row.agent_session_id});
  const bool own = known != core.by_agent_session.end() && known->second == row.session_id;
  if (own) core.by_agent_session.erase(known);
  core.sessions.erase(row.session_id);
}

SessionPtr SessionManager::Impl::MakeSession(const ChatRequest& request, const std::string& agent,
                                             const std::string& cwd) {
  SessionRow row;
  row.project_id = request.project_id;
  row.agent = agent;
  row.cwd = cwd;
  row.create_time = core.now();
  row.last_active_time = row.create_time;
  const auto original = core.sessions.find(request.fork_of);
  if (original != core.sessions.end()) CopyFrom(original->second->row(), row);
  if (!row.fork_of.empty()) {
    row.session_id = NewId(core.now());  // known once it is ready
  } else if (request.session_id.empty()) {
    row.session_id = NewId(core.now());
    row.ready_once = true;
  } else {
    // The agent may know it: resume with exactly that id.
    row.session_id = request.session_id;
    row.agent_session_id =
        request.agent_session_id.empty() ? request.session_id : request.agent_session_id;
  }
  const auto before = core.sessions.find(row.session_id);
  if (before == core.sessions.end()) return Session::Make(core, std::move(row), 0);
  // The id was tried before and nothing came of it: only its turns are left, in the same log.
  const SessionPtr vacant = before->second;
  Unlist(vacant);
  const SessionPtr session = Session::Make(core, std::move(row), vacant->recorder().newest_seq());
  session->recorder().Continue(vacant->recorder());
  return session;
}

absl::Status SessionManager::Impl::CheckRoom(const Session& session,
                                             const ChatRequest& request) const {
  const Limits& limits = core.config().limits;
  const bool busy = session.current() != nullptr || session.queue_length() > 0;
  if (busy && request.busy_policy == BusyPolicy::kReject) {
    return MakeError(
        "SESSION_BUSY",
        "The session has a turn under way; wait for its end or use BUSY_POLICY_QUEUE.");
  }
  if (session.queue_length() >= limits.max_queued_turns) {
    return MakeError("QUEUE_FULL",
                     "The session has " + std::to_string(session.queue_length()) +
                         " queued turns (limits.max_queued_turns); wait or cancel some.");
  }
  if (core.queued_turns >= limits.max_queued_total) {
    return MakeError("QUEUE_FULL", "acpd has " + std::to_string(core.queued_turns) +
                                       " queued turns (limits.max_queued_total); try again later.");
  }
  if (core.queued_bytes + request.stored_bytes.size() > limits.max_queued_bytes) {
    return MakeError("QUEUE_FULL",
                     "The queued turns of acpd reach limits.max_queued_bytes; try again later.");
  }
  return absl::OkStatus();
}

absl::Status SessionManager::Impl::CheckCredentials(const Session* session,
                                                    const ChatRequest& request) const {
  const std::optional<ModelProvider>& provider = request.model_provider;
  if (provider && !provider->api_key_ref.empty() &&
      !core.config().secrets.count(provider->api_key_ref)) {
    return MakeError("CREDENTIALS_NEEDED",
                     "The config's `secrets` have no entry \"" + provider->api_key_ref + "\".");
  }
  const absl::Status secrets = CheckServerSecrets(request, core.config());
  if (!secrets.ok()) return secrets;
  SetupSettings settings = session->row().setup;
  TakeSettings(request, settings);
  if (LacksSecrets(settings) && session->needs_worker_for(request)) {
    return MakeError("CREDENTIALS_NEEDED",
                     "The session was set up with MCP servers or meta that acpd does not keep "
                     "(store_mcp_secrets); send mcp_servers and meta_json again.");
  }
  const bool missing = session->row().needs_api_key && !session->has_api_key() && !provider &&
                       session->needs_worker_for(request);
  if (!missing) return absl::OkStatus();
  return MakeError(
      "CREDENTIALS_NEEDED",
      "The session was set up with an api_key that acpd does not keep; send it again in "
      "model_provider.api_key, or use api_key_ref.");
}

awaitable<absl::Status> SessionManager::Impl::CheckFolder(const ChatRequest& request,
                                                          const AgentDefinition& agent,
                                                          std::string session_cwd,
                                                          std::string* cwd) {
  CwdRules rules;
  rules.projects_root =
      agent.projects_root.empty() ? core.config().projects_root : agent.projects_root;
  rules.project_id = request.project_id;
  rules.allowed_roots = core.config().allowed_roots;
  std::function<absl::StatusOr<std::string>()> check =
      [rules, wanted = request.cwd, session_cwd,
       further = request.additional_directories]() -> absl::StatusOr<std::string> {
    for (const std::string& directory : further.value_or(std::vector<std::string>())) {
      const absl::StatusOr<std::string> other = CheckCwd(rules, directory);
      if (!other.ok()) return other.status();
    }
    // What the session has already is checked again at its next start.
    if (wanted.empty() && !session_cwd.empty()) return session_cwd;
    absl::StatusOr<std::string> folder = CheckCwd(rules, wanted);
    if (!folder.ok() || session_cwd.empty() || SameFolder(*folder, session_cwd)) return folder;
    return MakeError("CWD_MISMATCH", "The session works in " + session_cwd +
                                         "; leave cwd empty or start a new session.");
  };
  const absl::StatusOr<std::string> folder =
      co_await OnPool<absl::StatusOr<std::string>>(*core.deps.pool, std::move(check));
  if (!folder.ok()) co_return folder.status();
  *cwd = session_cwd.empty() ? *folder : session_cwd;
  co_return absl::OkStatus();
}

}  // namespace acpd::session
