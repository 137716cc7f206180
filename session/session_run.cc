// The turns of a session, one at a time, first in first out; and the one place where a turn ends.
#include <algorithm>
#include <utility>

#include "session/errors.h"
#include "session/session.h"

namespace acpd::session {
namespace {

using std::chrono::steady_clock;

// A caller sees when another session ran than the one it asked for: a successor, or the one that
// has this agent session.
void NameRequested(const std::string& asked, const std::string& ran, SessionOrigin& origin) {
  if (!asked.empty() && asked != ran && origin.requested_session_id.empty()) {
    origin.requested_session_id = asked;
  }
}

absl::Status CannotStore(const absl::Status& why) {
  return MakeError("INTERNAL",
                   "A change of this turn could not be stored: " + std::string(why.message()));
}

}  // namespace

void Session::Pump() {
  if (running_ || queue_.empty() || shut_down_ || held_back_ || !core_.started) return;
  Go(Run());
}

void Session::Go(awaitable<void> work) {
  running_ = true;
  Spawn(core_.deps.loop, std::move(work), [self = shared_from_this()](const std::string& what) {
    self->core_.Log(Severity::kError, "the session's loop failed: " + what,
                    {{"session", self->row_.session_id}});
    self->RecoverFromDefect();
  });
}

// Whatever the loop was at, the session goes on with its next turn.
void Session::RecoverFromDefect() {
  running_ = setting_up_ = closing_ = hold_updates_ = false;
  slot_.reset();
  watch_.reset();
  if (const TurnPtr turn = std::exchange(current_, nullptr); turn && !turn->ended()) {
    turn->evidence.start_failure = ToFailure(
        MakeError("INTERNAL", "acpd failed while it worked on this turn; its log says more."));
    EndTurn(turn);
  }
  recorder_.EndChunk();
  ReleaseHeld(*this);
  recorder_.Flush();
  changed_.Notify();
  Pump();
}

// Something of this session cannot be stored, and what built on it was never said. The turn under
// way cannot be told truly any more: it ends, with its agent, and the session goes on with the
// next. Where even that is refused (`again`) it stays pending until something else comes.
void Session::OnStoreRefused(const absl::Status& why, bool again) {
  const std::string text(why.message());
  Log(Severity::kError, "the store refused a record: " + text, CurrentTurnId());
  const std::vector<TurnPtr> unstored = std::exchange(unstored_ends_, {});
  const auto listed = core_.sessions.find(row_.session_id);
  if (listed == core_.sessions.end() || listed->second.get() != this) {
    for (const TurnPtr& turn : unstored) ForgetTurn(turn);
    return;
  }
  recorder_.EndChunk();
  OnNotice(Severity::kError, "STORE_REFUSED",
           "A change of this session could not be stored (" + text +
               "): what it held is missing here, and the turn under way was ended. The session "
               "goes on; acpd's log says more.");
  RecordRow();
  for (const TurnPtr& turn : queue_) RecordTurn(turn);
  for (const TurnPtr& turn : unstored) {
    turn->stored ? RecordEndAgain(turn, why)
                 : ForgetTurn(turn);  // of a refused one nothing is left
  }
  if (const TurnPtr turn = current_; turn && !turn->ended()) {
    turn->evidence.start_failure = ToFailure(CannotStore(why));
    EndTurn(turn);
  }
  if (!again) recorder_.Flush();
  if (!worker_) return;
  Spawn(core_.deps.loop, CloseWorker(CloseReason::kUnspecified, /*kill=*/true),
        [self = shared_from_this()](const std::string& what) {
          self->core_.Log(Severity::kError, "ending an agent failed: " + what);
        });
}

awaitable<void> Session::Run() {
  const auto self = shared_from_this();
  while (!queue_.empty() && !shut_down_) {
    idle_timer_.cancel();
    while (closing_) {
      const SteadyTime never = SteadyTime::max();
      co_await changed_.Wait(never);
    }
    co_await WaitForSlot();
    if (queue_.empty() || shut_down_) break;
    TurnPtr turn = queue_.front();
    queue_.pop_front();
    current_ = turn;
    co_await RunTurn(turn);
    if (current_ == turn) current_ = nullptr;
    slot_.reset();
  }
  slot_.reset();
  running_ = false;
  changed_.Notify();
  ArmIdleTimer();
}

awaitable<void> Session::RunTurn(TurnPtr turn) {
  core_.UncountQueued(turn->row);
  SetTurnState(turn, TurnState::kStarting);
  recorder_.Flush();
  setting_up_ = true;
  trace_ = turn->request.trace;
  const SetupSettings before = row_.setup;
  Ready ready = co_await MakeReady(turn);
  // What the agent cannot have stays this turn's wish.
  if (ReasonOf(ready.status) == "NOT_SUPPORTED_BY_AGENT") row_.setup = before;
  CountStart(ready);
  if (ready.status.ok() && !ready.moved) co_await WaitForReplayEnd(turn);
  absl::Status prepared;
  if (ready.status.ok() && !ready.moved) prepared = co_await PreparePrompt(turn);
  setting_up_ = false;
  changed_.Notify();  // SetSessionOption may have its turn
  if (ready.moved) co_return;
  if (ready.status.ok() && IsWanted(turn) && (!worker_ || !worker_->alive())) {
    ready.status = MakeError("AGENT_EXITED", "The agent ended before it got the prompt (" +
                                                 WorkerDetail() + "); send the Chat again.");
  }
  if (!ready.status.ok()) row_.last_error = ToFailure(ready.status);
  if (turn->ended() || turn->row.state == TurnState::kQueued) {
    RecordRow();
    recorder_.Flush();
    co_return;
  }
  if (!ready.status.ok()) {
    turn->evidence.start_failure = ToFailure(ready.status);
    RecordRow();
    EndTurn(turn);
    recorder_.Flush();
    co_return;
  }
  row_.origin = ready.origin;
  NameRequested(turn->request.session_id, row_.session_id, ready.origin);
  turn->row.origin = ready.origin;
  if (!row_.ready_once) {
    row_.ready_once = true;
    AnnounceCreated();
  }
  SessionReadyEvent event;
  event.origin = ready.origin;
  event.agent_session_id = row_.agent_session_id;
  event.agent = row_.agent;
  event.cwd = row_.cwd;
  recorder_.Append(turn->row.setup_only ? "" : turn->row.turn_id, event);
  LogReady(ready.origin, turn->row.turn_id);
  RecordRow();
  RecordWorker(0);
  if (!prepared.ok()) {
    turn->evidence.start_failure = ToFailure(prepared);
    EndTurn(turn);
    recorder_.Flush();
    co_return;
  }
  if (turn->row.setup_only) {
    turn->evidence.stop_reason = "end_turn";
    EndTurn(turn);
    recorder_.Flush();
    co_return;
  }
  StartPrompt(turn);
  co_await WatchTurn(turn);
  if (turn->phantom && !turn->ended()) co_await FallBackLate(turn);
}

// The resume only looked good: the turn has not started after all, and whoever cancels it now ends
// it at once. That stands in the record which takes the agent's answer: an acpd that is started
// meanwhile resumes once more, and does not wait for an answer that has been.
void Session::TakeBack(const TurnPtr& turn) {
  turn->phantom = true;
  turn->phantom_answer =
      turn->evidence.agent_error ? turn->evidence.agent_error->message : "refusal";
  turn->evidence = TurnEvidence();
  turn->row.result = TurnResult();
  turn->row.start_time = 0;
  turn->timeout_at = turn->kill_at = SteadyTime::max();
  fresh_resume_ = true;
  if (worker_) worker_->RecordNotReady();
  SetTurnState(turn, TurnState::kStarting);
}

awaitable<void> Session::FallBackLate(TurnPtr turn) {
  Ladder ladder;
  ladder.reason = "SESSION_NOT_FOUND";
  ladder.detail = turn->phantom_answer;
  ladder.attempts = 1;
  setting_up_ = true;
  Ready moved = co_await FallBack(turn, std::move(ladder));
  CountStart(moved);
  setting_up_ = false;
  if (moved.moved || turn->ended() || turn->row.state == TurnState::kQueued) co_return;
  turn->evidence.start_failure = ToFailure(moved.status);
  EndTurn(turn);
  recorder_.Flush();
}

void Session::StartPrompt(const TurnPtr& turn) {
  replaying_ = false;
  const AgentDefinition* definition = agent();
  const milliseconds timeout = turn->request.turn_timeout.count() > 0
                                   ? turn->request.turn_timeout
                                   : (definition ? definition->turn_timeout : milliseconds(0));
  if (timeout.count() > 0) turn->timeout_at = steady_clock::now() + timeout;
  turn->row.start_time = core_.now();
  turn->fresh_resume = std::exchange(fresh_resume_, false);
  turn->evidence.prompt_sent = true;
  turn->row.result.prompt_sent = true;
  row_.prompt_sent = true;
  TurnStartedEvent started;
  started.request_id = turn->row.request_id;
  recorder_.Append(turn->row.turn_id, started);
  Log(Severity::kInfo, "turn started", turn->row.turn_id);
  RecordWorker(turn->prompt_id);
  worker_->SendPrompt(turn->prompt_id, std::exchange(turn->prompt_line, {}));
  row_.transcript.clear();
  RecordRow();
  SetTurnState(turn, TurnState::kRunning);
  recorder_.Flush();
}

void Session::SetTurnState(const TurnPtr& turn, TurnState state) {
  if (turn->row.state == state) return;
  turn->row.state = state;
  RecordTurn(turn);
  turn->changed.Notify();
}

awaitable<void> Session::ForceEnd(TurnPtr turn) {
  turn->kill_at = SteadyTime::max();
  turn->forced = true;
  const std::shared_ptr<AgentWorker> worker = worker_;
  if (worker) co_await worker->Stop(milliseconds(0));
  if (turn->ended()) co_return;
  turn->evidence.exit_detail = "its worker was killed";
  EndTurn(turn);
  recorder_.Flush();
}

bool Session::LooksPhantom(const TurnPtr& turn, const AgentAnswer& answer) const {
  if (!turn->fresh_resume || turn->had_output || replay_seen_ || turn->evidence.cancel_sent ||
      !turn->evidence.limit.empty() || !questions_.empty()) {
    return false;
  }
  if (turn->request.resume_policy.mode == ResumeMode::kRequire) return false;
  if (answer.kind == AgentAnswer::Kind::kError) {
    const AgentDefinition* definition = agent();
    return !answer.too_large && definition &&
           SaysSessionNotFound(answer.error.code, answer.error.message, answer.error.data,
                               definition->resume_missing_patterns);
  }
  const absl::StatusOr<acp::PromptResult> result = acp::ReadPromptResult(answer.result);
  return result.ok() && result->stop_reason == "refusal";
}

// The only place where a turn ends.
void Session::EndTurn(const TurnPtr& turn) {
  if (turn->ended()) return;
  const bool was_current = turn == current_;
  if (was_current) {
    ResolveAll(ResolvedBy::kTurnEnd);
    tool_calls_.clear();
    if (worker_) worker_->ReportNoise();
  }
  const Usage usage = turn->row.result.usage;
  turn->row.result = DecideTurnEnd(turn->evidence);
  turn->row.result.text = std::move(turn->text);
  turn->row.result.final_text = std::move(turn->final_text);
  turn->row.result.text_truncated = turn->text_truncated;
  turn->row.result.usage = usage;
  turn->row.state = TurnState::kEnded;
  turn->row.end_time = core_.now();
  turn->ended_at = steady_clock::now();
  row_.last_active_time = turn->row.end_time;
  if (turn->row.result.outcome == Outcome::kFailed ||
      turn->row.result.outcome == Outcome::kInterrupted) {
    row_.last_error = turn->row.result.error;
  } else if (turn->row.result.outcome == Outcome::kCompleted) {
    row_.last_error = Failure();
  }
  LogTurnEnd(*turn);
  RecordEnd(turn);
  turn->changed.Notify();
}

void Session::RecordEnd(const TurnPtr& turn) {
  if (!turn->row.setup_only) {
    TurnEndedEvent event;
    event.request_id = turn->row.request_id;
    event.result = turn->row.result;
    recorder_.Append(turn->row.turn_id, event);
  }
  RecordRow();
  RecordTurn(turn);
  recorder_.WhenCommitted([self = shared_from_this(), turn](const CommitResult& result) {
    // A refusal is followed by OnStoreRefused, unless the store was closed.
    if (result.status.ok() || absl::IsUnavailable(result.status)) return self->ForgetTurn(turn);
    self->unstored_ends_.push_back(turn);
  });
}

// The record with its end was refused, and nobody was told of it: it may hold what cannot be
// stored.
void Session::RecordEndAgain(const TurnPtr& turn, const absl::Status& why) {
  TurnResult result;
  result.outcome = Outcome::kFailed;
  result.error = ToFailure(CannotStore(why));
  result.prompt_sent = turn->row.result.prompt_sent;
  row_.last_error = result.error;
  turn->row.result = std::move(result);
  RecordEnd(turn);
}

void Session::ForgetTurn(const TurnPtr& turn) {
  core_.turns.erase(turn->row.turn_id);
  const auto it = core_.requests.find({turn->row.project_id, turn->row.request_id});
  if (it != core_.requests.end() && it->second == turn) core_.requests.erase(it);
}

}  // namespace acpd::session
