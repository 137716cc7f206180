// Chat and CreateSession: find the session, accept the turn, wait as long as the caller wants.
#include <algorithm>
#include <utility>

#include "session/errors.h"
#include "session/manager_impl.h"
#include "session/names.h"
#include "session/paths.h"

namespace acpd::session {
namespace {

absl::Status ShuttingDown() {
  return MakeError("SHUTTING_DOWN", "acpd is stopping; send the call again when it is back.");
}

absl::Status StoreLate() {
  return MakeError(absl::StatusCode::kUnavailable, "STORE_UNAVAILABLE",
                   "The store did not commit in time; look at the disk of state_dir. GetTurn by request_id tells whether "
                   "the turn was accepted.");
}

// A failure before the prompt was sent is the call's own.
bool IsCallsError(const TurnView& turn) {
  return turn.state == TurnState::kEnded && turn.result.outcome == Outcome::kFailed && !turn.result.prompt_sent;
}

bool FreesRequestId(const TurnRow& row) {
  return row.state == TurnState::kEnded && !row.result.prompt_sent && row.result.error.retryable;
}

}  // namespace

ChatReply ReplyOf(const Core& core, const TurnView& turn, bool deduplicated) {
  ChatReply reply;
  reply.turn = turn;
  reply.deduplicated = deduplicated;
  reply.epoch = core.deps.store->epoch();
  const auto it = core.sessions.find(turn.session_id);
  if (it != core.sessions.end()) reply.agent_session_id = it->second->row().agent_session_id;
  return reply;
}

awaitable<absl::StatusOr<ChatReply>> SessionManager::Impl::Chat(CallPtr call, ChatRequest request,
                                                                std::function<void(const ChatReply&)> accepted) {
  WaitFor wait_for = request.wait_for;
  absl::StatusOr<Accepted> taken = co_await Accept(call, std::move(request), false);
  if (!taken.ok()) co_return taken.status();
  if (taken->stored) {
    if (accepted) accepted(ReplyOf(core, ViewOf(taken->stored->row, taken->stored->queued_position), true));
    co_return Answer(*taken, wait_for);
  }
  const TurnPtr turn = taken->turn;
  if (accepted) accepted(ReplyOf(core, turn->View(), taken->deduplicated));
  if (wait_for == WaitFor::kUnspecified) wait_for = taken->ahead ? WaitFor::kAccepted : WaitFor::kStarted;
  const bool waited = co_await WaitForTurn(call, turn, wait_for);
  if (!waited) {
    absl::Status status = ShuttingDown();
    AttachIds(status, turn->row.session_id, turn->row.turn_id);
    co_return status;
  }
  // The snapshot is taken first; what it shows is committed before it is given out.
  absl::StatusOr<ChatReply> reply = Answer(*taken, wait_for);
  const auto it = core.sessions.find(turn->row.session_id);
  if (it != core.sessions.end()) {
    const SessionPtr session = it->second;
    const bool settled = co_await session->recorder().Settled(call->deadline);
    if (!settled) {
      absl::Status status = StoreLate();
      AttachIds(status, turn->row.session_id, turn->row.turn_id);
      co_return status;
    }
  }
  if (reply.ok()) reply->turn.after_position = turn->after_position;
  co_return reply;
}

absl::StatusOr<ChatReply> SessionManager::Impl::Answer(const Accepted& accepted, WaitFor wait_for) {
  const TurnView view = accepted.stored ? ViewOf(accepted.stored->row, accepted.stored->queued_position)
                                        : accepted.turn->View();
  if (IsCallsError(view) && wait_for != WaitFor::kAccepted) {
    absl::Status status = ToStatus(view.result.error);
    AttachIds(status, view.session_id, view.turn_id);
    return status;
  }
  return ReplyOf(core, view, accepted.deduplicated);
}

awaitable<bool> SessionManager::Impl::WaitForTurn(CallPtr call, TurnPtr turn, WaitFor wait_for) {
  waiting.push_back(call);
  bool refused = false;
  while (wait_for != WaitFor::kAccepted && !call->gone && !turn->ended()) {
    if (wait_for == WaitFor::kStarted && turn->running() && turn->row.start_time != 0) break;
    if (core.refusing) {
      refused = true;
      break;
    }
    call->waiting_on = &turn->changed;
    const bool notified = co_await turn->changed.Wait(call->deadline);
    call->waiting_on = nullptr;
    if (!notified) break;
  }
  waiting.erase(std::find(waiting.begin(), waiting.end(), call));
  co_return !refused;
}

awaitable<absl::StatusOr<SessionManager::Impl::Accepted>> SessionManager::Impl::Accept(CallPtr call,
                                                                                      ChatRequest request,
                                                                                      bool setup_only) {
  if (core.refusing) co_return ShuttingDown();
  const absl::Status health = core.deps.store->health();
  if (!health.ok()) co_return health;
  if (request.request_id.empty()) {
    absl::StatusOr<Accepted> accepted = co_await AcceptNew(call, std::move(request), setup_only);
    co_return accepted;
  }
  const std::pair<std::string, std::string> key{request.project_id, request.request_id};
  absl::StatusOr<std::optional<Accepted>> known = co_await Deduplicate(call, request);
  if (!known.ok()) co_return known.status();
  if (*known) co_return std::move(**known);
  // Deduplicate has left a mark for this id: nobody else accepts it meanwhile.
  absl::StatusOr<Accepted> accepted = co_await AcceptNew(call, std::move(request), setup_only);
  const auto it = core.requests.find(key);
  if (!accepted.ok() && it != core.requests.end() && !it->second) core.requests.erase(it);
  core.room.Notify();
  co_return accepted;
}

awaitable<absl::StatusOr<std::optional<SessionManager::Impl::Accepted>>> SessionManager::Impl::Deduplicate(
    CallPtr call, const ChatRequest& request) {
  const std::pair<std::string, std::string> key{request.project_id, request.request_id};
  const std::string content_hash = request.content_hash;
  const absl::Status reused =
      MakeError("REQUEST_ID_REUSED", "The request_id \"" + request.request_id +
                                         "\" was used for a Chat with other content; use a new one.");
  std::optional<Accepted> none;
  auto it = core.requests.find(key);
  while (it != core.requests.end() && !it->second) {
    const bool notified = co_await core.room.Wait(call->deadline);
    if (!notified) co_return StoreLate();
    it = core.requests.find(key);
  }
  if (it != core.requests.end()) {
    const TurnPtr turn = it->second;
    if (turn->row.content_hash != content_hash) co_return reused;
    if (!FreesRequestId(turn->row)) {
      Accepted accepted;
      accepted.turn = turn;
      accepted.deduplicated = true;
      const auto session = core.sessions.find(turn->row.session_id);
      accepted.ahead = turn->row.state == TurnState::kQueued && session != core.sessions.end() &&
                       session->second->UnfinishedTurns().front() != turn;
      co_return accepted;
    }
  }
  core.requests[key] = nullptr;
  TurnQuery query;
  query.project_id = key.first;
  query.request_id = key.second;
  const std::optional<FoundTurn> found = co_await LookUpTurn(query);
  const WallTime oldest =
      core.now() - std::chrono::duration_cast<std::chrono::microseconds>(core.config().limits.request_id_ttl).count();
  if (!found || FreesRequestId(found->row) || found->row.accept_time < oldest) co_return none;
  core.requests.erase(key);
  core.room.Notify();
  if (found->row.content_hash != content_hash) co_return reused;
  Accepted accepted;
  accepted.stored = found;
  accepted.deduplicated = true;
  co_return accepted;
}

absl::StatusOr<std::string> SessionManager::Impl::AgentFor(const ChatRequest& request) const {
  std::string agent = request.agent;
  if (agent.empty()) {
    const absl::StatusOr<SessionPtr> session = FollowSession(request.session_id, request.project_id);
    agent = session.ok() ? (*session)->row().agent : core.config().default_agent;
  }
  if (agent.empty()) {
    return MakeError("AGENT_NOT_FOUND", "No agent is configured; add one to agent_servers.");
  }
  if (!core.config().Find(agent)) {
    return MakeError("AGENT_NOT_FOUND", "There is no agent \"" + agent + "\"; ListAgents shows the configured ones.");
  }
  return agent;
}

awaitable<absl::StatusOr<SessionManager::Impl::Accepted>> SessionManager::Impl::AcceptNew(CallPtr call,
                                                                                         ChatRequest request,
                                                                                         bool setup_only) {
  const absl::StatusOr<std::string> agent = AgentFor(request);
  if (!agent.ok()) co_return agent.status();
  std::string session_cwd;
  if (const auto known = FollowSession(request.session_id, request.project_id); known.ok()) {
    session_cwd = (*known)->row().cwd;
  }
  std::string cwd = session_cwd;
  if (session_cwd.empty() || !request.cwd.empty()) {
    const absl::Status folder = co_await CheckFolder(request, *core.config().Find(*agent), session_cwd, &cwd);
    if (!folder.ok()) co_return folder;
  }
  if (core.refusing) co_return ShuttingDown();
  // Nothing waits from here until the turn stands in its session's queue.
  const absl::StatusOr<SessionPtr> session = SessionFor(request, *agent, cwd);
  if (!session.ok()) co_return session.status();
  absl::Status refused = CheckRoom(**session, request);
  if (refused.ok()) refused = CheckCredentials(session->get(), request);
  if (!refused.ok()) {
    // A session that was made for this Chat leaves no trace.
    const bool untouched = (*session)->recorder().newest_seq() == 0 && (*session)->UnfinishedTurns().empty();
    if (untouched) ForgetUntouched(*session);
    co_return refused;
  }
  Session& home = **session;
  for (const auto& [name, value] : request.labels) home.mutable_row().labels[name] = value;
  const auto turn = std::make_shared<Turn>(core.deps.loop);
  TurnRow& row = turn->row;
  row.turn_id = NewId(core.now());
  row.project_id = request.project_id;
  row.request_id = request.request_id;
  row.content_hash = request.content_hash;
  row.principal = call->principal;
  row.stored_request = request.stored_bytes;
  row.prompt = request.prompt;
  row.accept_time = core.now();
  row.setup_only = setup_only;
  const bool interrupt = request.busy_policy == BusyPolicy::kInterrupt;
  turn->request = std::move(request);

  Accepted accepted;
  accepted.turn = turn;
  const TurnPtr running = home.current();
  if (interrupt && running) {
    home.Cancel(running, "interrupt", "a Chat with BUSY_POLICY_INTERRUPT came", std::nullopt);
  }
  accepted.ahead = home.queue_length() > 0 || home.current() != nullptr;
  if (home.recorder().newest_seq() == 0 && home.row().ready_once) home.AnnounceCreated();
  core.turns[row.turn_id] = turn;
  if (!row.request_id.empty()) core.requests[{row.project_id, row.request_id}] = turn;
  core.queued_turns += 1;
  core.queued_bytes += row.stored_request.size();
  home.Accept(turn, interrupt);
  const bool settled = co_await home.recorder().Settled(call->deadline);
  if (!settled) co_return StoreLate();
  home.Pump();
  co_return accepted;
}

absl::StatusOr<SessionPtr> SessionManager::Impl::SessionFor(const ChatRequest& request, const std::string& agent,
                                                            const std::string& cwd) {
  const std::string& id = request.session_id;
  if (id.empty()) return MakeSession(request, agent, cwd);
  if (core.deleted.count(id)) {
    return MakeError("SESSION_NOT_FOUND", "The session \"" + id + "\" does not exist; leave session_id empty for a new one.");
  }
  auto it = core.sessions.find(id);
  if (it == core.sessions.end()) {
    const auto known = core.by_agent_session.find({agent, id});
    if (known != core.by_agent_session.end()) it = core.sessions.find(known->second);
  }
  if (it == core.sessions.end()) {
    if (!core.config().adopt_unknown_sessions) {
      return MakeError("SESSION_NOT_FOUND", "The session \"" + id + "\" does not exist; leave session_id empty for a new one.");
    }
    return MakeSession(request, agent, cwd);
  }
  const SessionRow& asked = it->second->row();
  if (asked.project_id != request.project_id) {
    return MakeError("SESSION_NOT_FOUND", "The session \"" + id + "\" does not exist; leave session_id empty for a new one.");
  }
  if (!asked.replaced_by.empty() && request.resume_policy.mode == ResumeMode::kRequire) {
    return MakeError("SESSION_NOT_RESUMABLE", "The session was replaced by " + asked.replaced_by +
                                                  "; send the Chat there, or without MODE_REQUIRE.");
  }
  while (!it->second->row().replaced_by.empty()) {
    it = core.sessions.find(it->second->row().replaced_by);
    if (it == core.sessions.end()) {
      return MakeError("SESSION_NOT_FOUND", "The session that replaced \"" + id + "\" was deleted.");
    }
  }
  if (!request.agent.empty() && it->second->row().agent != request.agent) {
    return MakeError("AGENT_MISMATCH", "The session belongs to the agent \"" + it->second->row().agent +
                                           "\"; leave `agent` empty or start a new session.");
  }
  return it->second;
}

void SessionManager::Impl::ForgetUntouched(const SessionPtr& session) {
  const SessionRow& row = session->row();
  core.by_agent_session.erase({row.agent, row.agent_session_id});
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
  if (request.session_id.empty()) {
    row.session_id = NewId(core.now());
    row.ready_once = true;
  } else {
    // The agent may know it: resume with exactly that id.
    row.session_id = request.session_id;
    row.agent_session_id = request.agent_session_id.empty() ? request.session_id : request.agent_session_id;
  }
  return Session::Make(core, std::move(row), 0);
}

absl::Status SessionManager::Impl::CheckRoom(const Session& session, const ChatRequest& request) const {
  const Limits& limits = core.config().limits;
  const bool busy = session.current() != nullptr || session.queue_length() > 0;
  if (busy && request.busy_policy == BusyPolicy::kReject) {
    return MakeError("SESSION_BUSY", "The session has a turn under way; wait for its end or use BUSY_POLICY_QUEUE.");
  }
  if (session.queue_length() >= limits.max_queued_turns) {
    return MakeError("QUEUE_FULL", "The session has " + std::to_string(session.queue_length()) +
                                       " queued turns (limits.max_queued_turns); wait or cancel some.");
  }
  if (core.queued_turns >= limits.max_queued_total) {
    return MakeError("QUEUE_FULL", "acpd has " + std::to_string(core.queued_turns) +
                                       " queued turns (limits.max_queued_total); try again later.");
  }
  if (core.queued_bytes + request.stored_bytes.size() > limits.max_queued_bytes) {
    return MakeError("QUEUE_FULL", "The queued turns of acpd reach limits.max_queued_bytes; try again later.");
  }
  return absl::OkStatus();
}

absl::Status SessionManager::Impl::CheckCredentials(const Session* session, const ChatRequest& request) const {
  const std::optional<ModelProvider>& provider = request.model_provider;
  if (provider && !provider->api_key_ref.empty() && !core.config().secrets.count(provider->api_key_ref)) {
    return MakeError("CREDENTIALS_NEEDED", "The config's `secrets` have no entry \"" + provider->api_key_ref + "\".");
  }
  const bool missing = session->row().needs_api_key && !session->has_api_key() && !provider &&
                       session->needs_worker_for(request);
  if (!missing) return absl::OkStatus();
  return MakeError("CREDENTIALS_NEEDED",
                   "The session was set up with an api_key that acpd does not keep; send it again in "
                   "model_provider.api_key, or use api_key_ref.");
}

awaitable<absl::Status> SessionManager::Impl::CheckFolder(const ChatRequest& request, const AgentDefinition& agent,
                                                          std::string session_cwd, std::string* cwd) {
  CwdRules rules;
  rules.projects_root = agent.projects_root.empty() ? core.config().projects_root : agent.projects_root;
  rules.project_id = request.project_id;
  rules.allowed_roots = core.config().allowed_roots;
  std::function<absl::StatusOr<std::string>()> check =
      [rules, wanted = request.cwd, session_cwd]() -> absl::StatusOr<std::string> {
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

awaitable<absl::StatusOr<SessionView>> SessionManager::Impl::CreateSession(CallPtr call, ChatRequest setup) {
  absl::StatusOr<Accepted> taken = co_await Accept(call, std::move(setup), true);
  if (!taken.ok()) co_return taken.status();
  std::string session_id;
  if (taken->turn) {
    const bool waited = co_await WaitForTurn(call, taken->turn, WaitFor::kFinished);
    if (!waited) co_return ShuttingDown();
    session_id = taken->turn->row.session_id;
  } else {
    session_id = taken->stored->row.session_id;
  }
  const absl::StatusOr<ChatReply> outcome = Answer(*taken, WaitFor::kFinished);
  if (!outcome.ok()) co_return outcome.status();
  const auto it = core.sessions.find(session_id);
  if (it == core.sessions.end()) {
    co_return MakeError("SESSION_NOT_FOUND", "The session was deleted while it was set up.");
  }
  const SessionPtr session = it->second;
  absl::StatusOr<SessionView> view = co_await SettledView(call, session);
  co_return view;
}

}  // namespace acpd::session
