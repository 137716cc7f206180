// Chat and CreateSession: accept the turn, wait as long as the caller wants, answer with committed
// state.
#include <algorithm>
#include <utility>

#include "session/errors.h"
#include "session/manager_errors.h"
#include "session/manager_impl.h"

namespace acpd::session {
namespace {

constexpr milliseconds kCommitTime{150};

// A failure before the prompt was sent is the call's own.
bool IsCallsError(const TurnView& turn) {
  return turn.state == TurnState::kEnded && turn.result.outcome == Outcome::kFailed &&
         !turn.result.prompt_sent;
}

bool WasCancelled(const TurnView& turn) {
  return turn.state == TurnState::kEnded && turn.result.outcome == Outcome::kCancelled;
}

absl::Status SetUpCancelled(const TurnView& turn) {
  const absl::Status status =
      MakeError(absl::StatusCode::kUnavailable, "AGENT_START_FAILED",
                "The set-up was cancelled (by " + turn.result.cancelled_by +
                    ") before the agent's session was ready; send the call again.");
  return OfSession(status, turn.session_id);
}

}  // namespace

SteadyTime CommitDeadline(const CallPtr& call) {
  return std::max(call->deadline, std::chrono::steady_clock::now() + kCommitTime);
}

ChatReply ReplyOf(const Core& core, const TurnView& turn, bool deduplicated) {
  ChatReply reply;
  reply.turn = turn;
  reply.deduplicated = deduplicated;
  reply.epoch = core.deps.store->epoch();
  const auto it = core.sessions.find(turn.session_id);
  if (it != core.sessions.end()) reply.agent_session_id = it->second->row().agent_session_id;
  return reply;
}

awaitable<absl::StatusOr<ChatReply>> SessionManager::Impl::Chat(
    CallPtr call, ChatRequest request, std::function<void(const ChatReply&)> accepted) {
  WaitFor wait_for = request.wait_for;
  absl::StatusOr<Accepted> taken = co_await Accept(call, std::move(request), false);
  if (!taken.ok()) co_return taken.status();
  if (taken->stored) {
    if (accepted) accepted(ReplyOf(core, ViewOf(*taken->stored), true));
    co_return Answer(*taken, wait_for);
  }
  const TurnPtr turn = taken->turn;
  if (accepted) accepted(ReplyOf(core, turn->View(), taken->deduplicated));
  if (wait_for == WaitFor::kUnspecified)
    wait_for = taken->ahead ? WaitFor::kAccepted : WaitFor::kStarted;
  const bool waited = co_await WaitForTurn(call, turn, wait_for);
  if (!waited) {
    co_return ShuttingDownWith(
        "the turn was accepted and is kept. Do not send it again: ask GetTurn for it when acpd is "
        "back.",
        turn->row.session_id, turn->row.turn_id);
  }
  // The snapshot is taken first; what it shows is committed before it is given out.
  absl::StatusOr<ChatReply> reply = Answer(*taken, wait_for);
  const auto it = core.sessions.find(turn->row.session_id);
  if (it != core.sessions.end()) {
    const SessionPtr session = it->second;
    const bool settled = co_await session->recorder().Settled(CommitDeadline(call));
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
  const TurnView view = accepted.stored ? ViewOf(*accepted.stored) : accepted.turn->View();
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

awaitable<absl::StatusOr<SessionView>> SessionManager::Impl::CreateSession(CallPtr call,
                                                                           ChatRequest setup) {
  absl::StatusOr<Accepted> taken = co_await Accept(call, std::move(setup), true);
  if (!taken.ok()) co_return taken.status();
  std::string session_id;
  if (taken->turn) {
    const bool waited = co_await WaitForTurn(call, taken->turn, WaitFor::kFinished);
    session_id = taken->turn->row.session_id;
    if (!waited) {
      co_return ShuttingDownWith(
          "the session is kept and is set up after the restart. Do not send the call again: ask "
          "GetSession for it when acpd is back.",
          session_id, "");
    }
  } else {
    session_id = taken->stored->row.session_id;
  }
  const absl::StatusOr<ChatReply> outcome = Answer(*taken, WaitFor::kFinished);
  if (!outcome.ok()) co_return outcome.status();
  const auto it = core.sessions.find(session_id);
  if (it == core.sessions.end()) {
    co_return MakeError("SESSION_NOT_FOUND", "The session was deleted while it was set up.");
  }
  if (WasCancelled(outcome->turn)) co_return SetUpCancelled(outcome->turn);
  const SessionPtr session = it->second;
  absl::StatusOr<SessionView> view = co_await SettledView(call, session);
  co_return view;
}

}  // namespace acpd::session
