// From a Chat to a turn in its session's queue: once for each request_id, and with no trace when it
// is refused.
#include <utility>

#include "session/errors.h"
#include "session/manager_errors.h"
#include "session/manager_impl.h"
#include "session/names.h"
#include "session/setup_settings.h"

namespace acpd::session {
namespace {

bool FreesRequestId(const TurnRow& row) {
  if (row.state != TurnState::kEnded || row.result.prompt_sent) return false;
  // A set-up that was cancelled is an error to its caller, who may try again.
  const bool cancelled_setup = row.setup_only && row.result.outcome == Outcome::kCancelled;
  return row.result.error.retryable || cancelled_setup;
}

// With the id of the session that the request means, where there is one.
absl::Status Refused(const absl::Status& status, const absl::StatusOr<SessionPtr>& known) {
  return known.ok() ? OfSession(status, (*known)->row().session_id) : status;
}

// A session's labels grow by those of each Chat.
absl::Status CheckLabels(Labels labels, const Labels& added) {
  for (const auto& [name, value] : added) labels[name] = value;
  if (AreLabels(labels)) return absl::OkStatus();
  return MakeError("INVALID_REQUEST",
                   "With these labels the session would have more than 64, or more than 16 KiB in "
                   "all; use names that it has, or a new session.");
}

}  // namespace

awaitable<absl::StatusOr<SessionManager::Impl::Accepted>> SessionManager::Impl::Accept(
    CallPtr call, ChatRequest request, bool setup_only) {
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

awaitable<absl::StatusOr<std::optional<SessionManager::Impl::Accepted>>>
SessionManager::Impl::Deduplicate(CallPtr call, const ChatRequest& request) {
  const std::pair<std::string, std::string> key{request.project_id, request.request_id};
  const std::string content_hash = request.content_hash;
  const absl::Status reused = MakeError(
      "REQUEST_ID_REUSED", "The request_id \"" + request.request_id +
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
  const WallTime oldest = core.now() - std::chrono::duration_cast<std::chrono::microseconds>(
                                           core.config().limits.request_id_ttl)
                                           .count();
  if (!found || FreesRequestId(found->row) || found->row.accept_time < oldest) co_return none;
  core.requests.erase(key);
  core.room.Notify();
  if (found->row.content_hash != content_hash) co_return reused;
  Accepted accepted;
  accepted.stored = found;
  accepted.deduplicated = true;
  co_return accepted;
}

awaitable<absl::StatusOr<SessionManager::Impl::Accepted>> SessionManager::Impl::AcceptNew(
    CallPtr call, ChatRequest request, bool setup_only) {
  const absl::Status unwanted = Refusal();
  if (!unwanted.ok()) co_return unwanted;
  const absl::StatusOr<std::string> agent = AgentFor(request);
  if (!agent.ok()) co_return agent.status();
  // What a process of this agent said of itself; where none has yet, the turn's start finds out.
  const auto facts = core.facts.find(*agent);
  if (facts != core.facts.end() && facts->second.initialize.protocol_version != 0) {
    const absl::Status taken = CheckContent(request.content, facts->second.initialize.prompt);
    if (!taken.ok()) co_return taken;
  }
  absl::StatusOr<SessionPtr> known = FollowSession(request.session_id, request.project_id);
  // Or by the agent's own id of it, as SessionFor does.
  const auto by_agent = core.by_agent_session.find({*agent, request.session_id});
  if (!known.ok() && by_agent != core.by_agent_session.end())
    known = FollowSession(by_agent->second, request.project_id);
  const std::string session_cwd = known.ok() ? (*known)->row().cwd : "";
  std::string cwd = session_cwd;
  if (session_cwd.empty() || !request.cwd.empty() || request.additional_directories) {
    const absl::Status folder =
        co_await CheckFolder(request, *core.config().Find(*agent), session_cwd, &cwd);
    if (!folder.ok()) co_return Refused(folder, known);
  }
  absl::Status unwanted_now = Refusal();
  if (unwanted_now.ok()) unwanted_now = CheckFork(request);
  if (!unwanted_now.ok()) co_return Refused(unwanted_now, known);
  // Nothing waits from here until the turn stands in its session's queue.
  const absl::StatusOr<SessionPtr> session = SessionFor(request, *agent, cwd);
  if (!session.ok()) co_return Refused(session.status(), known);
  absl::Status refused = CheckRoom(**session, request);
  if (refused.ok()) refused = CheckCredentials(session->get(), request);
  if (refused.ok()) refused = (*session)->CheckStart(request);
  if (refused.ok()) refused = CheckLabels((*session)->row().labels, request.labels);
  if (!refused.ok()) {
    // A session that was made for this Chat leaves no trace.
    const bool untouched =
        (*session)->recorder().newest_seq() == 0 && (*session)->UnfinishedTurns().empty();
    if (untouched) Unlist(*session);
    co_return Refused(refused, known);
  }
  absl::StatusOr<Accepted> accepted =
      co_await Enqueue(call, *session, std::move(request), setup_only);
  co_return accepted;
}

awaitable<absl::StatusOr<SessionManager::Impl::Accepted>> SessionManager::Impl::Enqueue(
    CallPtr call, SessionPtr session, ChatRequest request, bool setup_only) {
  Session& home = *session;
  const bool made = home.recorder().newest_seq() == 0 && home.UnfinishedTurns().empty();
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
    home.Cancel(running, "interrupt", "a Chat with BUSY_POLICY_INTERRUPT came", std::nullopt,
                turn->request.trace);
  }
  accepted.ahead = home.queue_length() > 0 || home.current() != nullptr;
  if (home.recorder().newest_seq() == 0 && home.row().ready_once) home.AnnounceCreated();
  core.turns[row.turn_id] = turn;
  if (!row.request_id.empty()) core.requests[{row.project_id, row.request_id}] = turn;
  core.CountQueued(row);
  home.Accept(turn, interrupt);
  const Commitment commitment = WhenCommitted(session, turn, made);
  co_await home.recorder().Settled(CommitDeadline(call));
  if (!*commitment) {
    absl::Status late = StoreLate();
    AttachIds(late, row.session_id, row.turn_id);
    co_return late;
  }
  if (!(*commitment)->ok()) co_return StoreRefused(**commitment);
  co_return accepted;
}

// The turn runs once it is stored, whatever has become of the call; where the store refuses it, it
// goes without a trace, and with it a session that was made for it.
SessionManager::Impl::Commitment SessionManager::Impl::WhenCommitted(SessionPtr session,
                                                                     TurnPtr turn, bool made) {
  auto commitment = std::make_shared<std::optional<absl::Status>>();
  session->recorder().WhenCommitted([this, session, turn, made,
                                     commitment](const CommitResult& result) {
    *commitment = result.status;
    if (result.status.ok()) {
      session->Pump();
      return;
    }
    core.Log(Severity::kError, "the store refused a turn: " + std::string(result.status.message()),
             {{"session", session->row().session_id}, {"turn", turn->row.turn_id}});
    session->Undo(turn, StoreRefused(result.status));
    if (made && session->UnfinishedTurns().empty()) Unlist(session);
  });
  return commitment;
}

}  // namespace acpd::session
