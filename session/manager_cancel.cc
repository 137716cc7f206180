// Cancel and Respond.
#include <algorithm>
#include <utility>

#include "session/errors.h"
#include "session/manager_errors.h"
#include "session/manager_impl.h"
#include "session/names.h"
#include "session/permission.h"

namespace acpd::session {
namespace {

using std::chrono::duration_cast;
using std::chrono::steady_clock;

CancelOutcome OutcomeOf(const Turn& turn, bool was_unstarted) {
  if (!turn.ended()) return CancelOutcome::kPending;
  if (turn.row.result.outcome != Outcome::kCancelled) return CancelOutcome::kAlreadyEnded;
  if (was_unstarted && !turn.row.result.prompt_sent) return CancelOutcome::kNotStarted;
  return turn.forced ? CancelOutcome::kForced : CancelOutcome::kCancelled;
}

CancelOutcome Summary(const std::vector<CancelledTurn>& turns) {
  for (const CancelOutcome outcome :
       {CancelOutcome::kForced, CancelOutcome::kCancelled, CancelOutcome::kNotStarted,
        CancelOutcome::kPending, CancelOutcome::kAlreadyEnded}) {
    for (const CancelledTurn& turn : turns) {
      if (turn.outcome == outcome) return outcome;
    }
  }
  return CancelOutcome::kNothingRunning;
}

}  // namespace

absl::StatusOr<std::vector<TurnPtr>> SessionManager::Impl::CancelTargets(const CancelQuery& query,
                                                                         CancelReply* reply) const {
  std::vector<TurnPtr> targets;
  const absl::Status mismatch = MakeError(
      "SCOPE_MISMATCH", "turn_id, session_id and project_id of the Cancel do not belong together.");
  SessionPtr session;
  if (!query.session_id.empty()) {
    const absl::StatusOr<SessionPtr> found = FollowSession(query.session_id, "");
    if (!found.ok()) return found.status();
    session = *found;
    if (!query.project_id.empty() && session->row().project_id != query.project_id) return mismatch;
  }
  if (!query.turn_id.empty()) {
    const auto it = core.turns.find(query.turn_id);
    if (it == core.turns.end()) return targets;  // the caller looks in the store
    if (session && it->second->row.session_id != session->row().session_id) return mismatch;
    if (!query.project_id.empty() && it->second->row.project_id != query.project_id)
      return mismatch;
    targets.push_back(it->second);
  } else if (session) {
    targets = session->UnfinishedTurns();
    if (!query.include_queued && targets.size() > 1) targets.resize(1);
  } else {
    for (const auto& [id, each] : core.sessions) {
      if (!query.everything && each->row().project_id != query.project_id) continue;
      for (const TurnPtr& turn : each->UnfinishedTurns()) targets.push_back(turn);
    }
  }
  reply->outcome = CancelOutcome::kNothingRunning;
  return targets;
}

// That nothing runs is said once the ends that made it so can be read.
awaitable<void> SessionManager::Impl::SettleEnds(CallPtr call) {
  std::vector<SessionPtr> ending;
  for (const auto& [id, turn] : core.turns) {
    const auto it = core.sessions.find(turn->row.session_id);
    if (turn->ended() && it != core.sessions.end()) ending.push_back(it->second);
  }
  for (const SessionPtr& session : ending) {
    co_await session->recorder().Settled(CommitDeadline(call));
  }
}

awaitable<absl::StatusOr<CancelReply>> SessionManager::Impl::Cancel(CallPtr call,
                                                                    CancelQuery query) {
  const bool scoped =
      !query.session_id.empty() || !query.project_id.empty() || !query.turn_id.empty();
  if (scoped == query.everything) {
    co_return MakeError(
        "INVALID_REQUEST",
        "Cancel wants a turn_id, a session_id, a project_id, or everything: true alone.");
  }
  CancelReply reply;
  const absl::StatusOr<std::vector<TurnPtr>> targets = CancelTargets(query, &reply);
  if (!targets.ok()) co_return targets.status();
  if (targets->empty() && !query.turn_id.empty()) {
    TurnQuery by_id;
    by_id.turn_id = query.turn_id;
    const std::optional<FoundTurn> found = co_await LookUpTurn(by_id);
    if (!found)
      co_return MakeError("TURN_NOT_FOUND", "There is no turn \"" + query.turn_id + "\".");
    const bool other_session =
        !query.session_id.empty() && found->row.session_id != query.session_id;
    const bool other_project =
        !query.project_id.empty() && found->row.project_id != query.project_id;
    if (other_session || other_project) {
      co_return MakeError("SCOPE_MISMATCH",
                          "The turn does not belong to the session or project of the Cancel.");
    }
    reply.turns.push_back(
        {found->row.session_id, found->row.turn_id, CancelOutcome::kAlreadyEnded, milliseconds(0)});
    reply.outcome = CancelOutcome::kAlreadyEnded;
    co_return reply;
  }
  if (targets->empty()) co_await SettleEnds(call);
  const SteadyTime asked_at = steady_clock::now();
  std::vector<bool> unstarted;
  for (const TurnPtr& turn : *targets) unstarted.push_back(turn->unstarted());
  // The queued ones first: none of them may start in between.
  for (size_t i = targets->size(); i-- > 0;) {
    const TurnPtr& turn = (*targets)[i];
    const auto it = core.sessions.find(turn->row.session_id);
    if (it == core.sessions.end()) continue;
    it->second->Cancel(turn, call->principal.empty() ? "caller" : call->principal, query.reason,
                       query.grace, query.trace);
    it->second->recorder().Flush();
  }
  for (size_t i = 0; i < targets->size(); ++i) {
    const TurnPtr turn = (*targets)[i];
    while (!turn->ended() && !call->gone) {
      call->waiting_on = &turn->changed;
      const bool notified = co_await turn->changed.Wait(call->deadline);
      call->waiting_on = nullptr;
      if (!notified) break;
    }
    CancelledTurn cancelled;
    cancelled.session_id = turn->row.session_id;
    cancelled.turn_id = turn->row.turn_id;
    cancelled.outcome = OutcomeOf(*turn, unstarted[i]);
    const SteadyTime until = turn->ended() ? turn->ended_at : steady_clock::now();
    cancelled.duration = duration_cast<milliseconds>(std::max(until, asked_at) - asked_at);
    const auto it = core.sessions.find(turn->row.session_id);
    if (it != core.sessions.end()) {
      const SessionPtr session = it->second;
      co_await SettleAnswer(call, session);
    }
    reply.turns.push_back(std::move(cancelled));
  }
  reply.outcome = Summary(reply.turns);
  co_return reply;
}

awaitable<absl::StatusOr<RespondReply>> SessionManager::Impl::Respond(CallPtr call,
                                                                      RespondQuery query) {
  const absl::StatusOr<SessionPtr> found = FollowSession(query.session_id, "");
  if (!found.ok()) co_return found.status();
  const SessionPtr session = *found;
  RespondReply reply;
  reply.session_id = session->row().session_id;
  absl::StatusOr<Resolution> resolution =
      co_await Resolve(call, session, std::move(query), &reply.turn_id);
  if (!resolution.ok()) {
    absl::Status status = resolution.status();
    AttachIds(status, reply.session_id, reply.turn_id);
    co_return status;
  }
  reply.resolution = std::move(*resolution);
  co_return reply;
}

awaitable<absl::StatusOr<Resolution>> SessionManager::Impl::Resolve(CallPtr call,
                                                                    SessionPtr session,
                                                                    RespondQuery query,
                                                                    std::string* turn_id) {
  const Question* question = session->FindQuestion(query.question_id);
  if (!question) {
    absl::StatusOr<Resolution> before =
        co_await ResolvedBefore(call, session, std::move(query), turn_id);
    co_return before;
  }
  *turn_id = question->row.turn_id;
  std::optional<std::string> option_id;
  if (!query.option_id.empty()) option_id = query.option_id;
  if (query.option_kind != OptionKind::kUnspecified) {
    option_id = ChooseByKind(query.option_kind, question->options);
    if (!option_id) {
      co_return MakeError("INVALID_ANSWER",
                          "The agent offered no option of this kind; use one of its option_ids.");
    }
  }
  session::Answer answer;
  answer.option_id = option_id;
  answer.content = query.accept_json;
  if (option_id) answer.outcome = QuestionOutcome::kSelected;
  if (!query.accept_json.empty()) answer.outcome = QuestionOutcome::kAccepted;
  if (query.decline) answer.outcome = QuestionOutcome::kDeclined;
  const absl::StatusOr<Resolution> resolution =
      session->Respond(query.question_id, answer, call->principal, query.comment);
  if (!resolution.ok()) co_return resolution.status();
  const bool settled = co_await session->recorder().Settled(CommitDeadline(call));
  if (!settled) {
    co_return MakeError(absl::StatusCode::kUnavailable, "STORE_UNAVAILABLE",
                        "The store did not commit the answer in time; send it again.");
  }
  co_return *resolution;
}

// Answered already, or never asked: the store knows, once what is pending is committed.
awaitable<absl::StatusOr<Resolution>> SessionManager::Impl::ResolvedBefore(CallPtr call,
                                                                           SessionPtr session,
                                                                           RespondQuery query,
                                                                           std::string* turn_id) {
  const SteadyTime deadline = CommitDeadline(call);
  co_await session->recorder().Settled(deadline);
  const asio::any_io_executor loop = core.deps.loop;
  const auto signal = std::make_shared<Signal>(loop);
  const auto row = std::make_shared<std::optional<QuestionRow>>();
  const auto arrived = std::make_shared<bool>(false);
  core.deps.store->FindQuestion(
      session->row().session_id, query.question_id,
      [loop, signal, row, arrived](std::optional<QuestionRow> found_row) {
        asio::post(loop, [signal, row, arrived, found_row = std::move(found_row)] {
          *row = found_row;
          *arrived = true;
          signal->Notify();
        });
      });
  while (!*arrived) {
    const bool notified = co_await signal->Wait(deadline);
    if (!notified) co_return StoreLate();
  }
  if (!*row || !(*row)->resolved) {
    co_return MakeError("QUESTION_NOT_FOUND", "The session has no question with this id.");
  }
  const QuestionRow& stands = **row;
  *turn_id = stands.turn_id;
  bool same = query.cancelled && stands.outcome == QuestionOutcome::kCancelled;
  if (stands.outcome == QuestionOutcome::kSelected) {
    same = (!query.option_id.empty() && query.option_id == stands.option_id) ||
           (query.option_kind != OptionKind::kUnspecified &&
            ChooseByKind(query.option_kind, UnpackOptions(stands.options)) == stands.option_id);
  }
  if (query.decline) same = stands.outcome == QuestionOutcome::kDeclined;
  if (!query.accept_json.empty() && stands.outcome == QuestionOutcome::kAccepted) {
    same = stands.memory_key == Fingerprint(core.deps.store->fingerprint_key(), query.accept_json);
  }
  if (!same || stands.by != ResolvedBy::kCaller) {
    co_return MakeError("ALREADY_ANSWERED",
                        "The question has been resolved already; this answer was not sent.");
  }
  co_return Resolution{stands.question_id, stands.outcome,   stands.option_id,
                       stands.by,          stands.principal, stands.comment};
}

}  // namespace acpd::session
