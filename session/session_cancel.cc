// Cancel with its barrier: whatever has not started ends at once; a running turn ends when the
// agent has answered its prompt, or when its worker's tree is gone.
#include <algorithm>
#include <utility>

#include "session/errors.h"
#include "session/session.h"

namespace acpd::session {
namespace {

using std::chrono::steady_clock;

}  // namespace

void Session::Cancel(const TurnPtr& turn, const std::string& by, const std::string& reason,
                     std::optional<milliseconds> grace, const acp::TraceContext& trace) {
  if (turn->ended()) return;
  const AgentDefinition* definition = agent();
  milliseconds wanted =
      grace.value_or(definition ? definition->cancel_grace : milliseconds(30'000));
  // The agent would not hear of it before the store writes again; a kill needs no store.
  if (!core_.deps.store->health().ok()) wanted = milliseconds(0);
  if (turn->row.state == TurnState::kCancelling) {
    // A second Cancel joins the first; a shorter grace counts.
    if (grace) turn->kill_at = std::min(turn->kill_at, steady_clock::now() + *grace);
    turn->changed.Notify();
    return;
  }
  turn->evidence.cancel_sent = true;
  turn->evidence.cancelled_by = by;
  turn->evidence.cancel_reason = reason;
  Log(Severity::kInfo, "turn is being cancelled", turn->row.turn_id, {{"by", by}});
  turn->cancel_asked_at = steady_clock::now();
  if (turn->unstarted()) {
    const auto place = std::find(queue_.begin(), queue_.end(), turn);
    if (place != queue_.end()) {
      queue_.erase(place);
      core_.UncountQueued(turn->row);
      changed_.Notify();  // a wait for a slot
    }
    EndTurn(turn);
    return;
  }
  BeginCancel(turn, wanted, trace);
}

void Session::Undo(const TurnPtr& turn, const absl::Status& why) {
  const auto place = std::find(queue_.begin(), queue_.end(), turn);
  if (place == queue_.end()) return;
  queue_.erase(place);
  core_.UncountQueued(turn->row);
  turn->row.state = TurnState::kEnded;
  turn->row.result.outcome = Outcome::kFailed;
  turn->row.result.error = ToFailure(why);
  turn->ended_at = steady_clock::now();
  ForgetTurn(turn);  // there is nothing to commit
  turn->changed.Notify();
  ArmIdleTimer();
}

void Session::BeginCancel(const TurnPtr& turn, milliseconds grace, const acp::TraceContext& trace) {
  ResolveAll(ResolvedBy::kCancel);
  // For an acpd that is started meanwhile; the end itself comes of the evidence.
  turn->row.result.cancelled_by = turn->evidence.cancelled_by;
  turn->row.result.cancel_reason = turn->evidence.cancel_reason;
  turn->row.result.error.reason = turn->evidence.limit;
  SetTurnState(turn, TurnState::kCancelling);
  turn->kill_at = steady_clock::now() + grace;
  if (worker_ && worker_->alive() && grace.count() > 0) {
    worker_->SendLine(acp::CancelLine(row_.agent_session_id, trace));
    worker_->services().CancelTurn(turn->row.turn_id);
  }
  turn->changed.Notify();
}

}  // namespace acpd::session
