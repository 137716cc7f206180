// After a restart: a session goes on with the worker and the turn that an earlier acpd left
// (LINK.md, rule 6). What memory knew of them stands in the worker's row; what the turn has said so
// far, its tool calls included, is read back from the log.
#include <algorithm>
#include <functional>
#include <utility>

#include "session/agent_settings.h"
#include "session/log_reading.h"
#include "session/pack.h"
#include "session/permission.h"
#include "session/session.h"

namespace acpd::session {
namespace {

using std::chrono::steady_clock;

constexpr milliseconds kHelloTime{5000};
// What the agent said while nobody listened is read before a turn_timeout strikes that passed
// meanwhile.
constexpr milliseconds kCatchUpTime{3000};
// A question that was open all the while acpd was away is not timed out the moment it is back.
constexpr milliseconds kLeastQuestionTime{60'000};

// What was read back of a turn.
struct RereadUpdates {
  struct Update {
    StoredUpdate said;
    std::optional<acp::ToolCallFacts> facts;  // with a tool call's only or last part
  };
  std::vector<Update> updates;
  std::string json;  // of a tool call's update whose last part is still to come
};

// Takes the JSON out of an update of a tool call.
std::optional<acp::ToolCallFacts> TakeFacts(StoredUpdate& said, std::string& json) {
  if (said.tool_call_id.empty()) return std::nullopt;
  if (said.part <= 1) json.clear();
  json += std::exchange(said.json, {});
  if (said.part < said.parts) return std::nullopt;
  return acp::ReadToolCallFacts(std::exchange(json, {}));
}

// The turn's updates behind position `after`.
RereadUpdates DecodeUpdates(const EventCodec& codec, const std::vector<LogRowPtr>& rows,
                            uint64_t after, const std::string& turn_id, std::string json) {
  RereadUpdates read;
  for (const LogRowPtr& row : rows) {
    for (size_t i = 0; i < row->size(); ++i) {
      if (row->first_position + i <= after) continue;
      RereadUpdates::Update update;
      const bool is_update = codec.DecodeUpdate(row->event(i), &update.said);
      if (!is_update || update.said.turn_id != turn_id) continue;
      update.facts = TakeFacts(update.said, json);
      read.updates.push_back(std::move(update));
    }
  }
  read.json = std::move(json);
  return read;
}

}  // namespace

// `prompt_id`: of the open session/prompt; 0: none.
void Session::RecordWorker(uint64_t prompt_id) {
  WorkerRow& row = worker_->mutable_row();
  row.set_up = true;
  row.settings = PackSettings(worker_->agent());
  row.prompt_id = prompt_id;
  row.fresh_resume = prompt_id != 0 ? current_->fresh_resume : fresh_resume_;
  row.replaying = replaying_;
  row.replay_known = replay_known_;
  row.replay_seen = replay_seen_;
  worker_->RecordRow();
}

// Graces start afresh; how long a turn may last counts from its start.
void Session::RestoreEvidence(const TurnPtr& turn) const {
  const TurnResult stored = std::exchange(turn->row.result, TurnResult());
  turn->evidence.prompt_sent = true;
  turn->row.result.prompt_sent = true;
  const AgentDefinition* definition = agent();
  if (turn->row.state == TurnState::kCancelling) {
    turn->evidence.limit = stored.error.reason;
    turn->evidence.cancel_sent = stored.error.reason.empty();
    turn->evidence.cancelled_by = stored.cancelled_by;
    turn->evidence.cancel_reason = stored.cancel_reason;
    turn->cancel_asked_at = steady_clock::now();
    turn->kill_at =
        steady_clock::now() + (definition ? definition->cancel_grace : milliseconds(30'000));
  }
  const milliseconds timeout = turn->request.turn_timeout.count() > 0
                                   ? turn->request.turn_timeout
                                   : (definition ? definition->turn_timeout : milliseconds(0));
  if (timeout.count() == 0 || !turn->evidence.limit.empty()) return;
  const std::chrono::microseconds ran(std::max<WallTime>(core_.now() - turn->row.start_time, 0));
  turn->timeout_at = steady_clock::now() + timeout - ran;
}

void Session::RestoreRunning(const TurnPtr& turn) {
  current_ = turn;
  RestoreEvidence(turn);
}

void Session::RestoreWorker(WorkerRow row, std::vector<OutboxLine> outbox,
                            StoredServices services) {
  opened_pages_ = UnpackMap(row.opened_pages).value_or(opened_pages_);
  const bool prompted = row.prompt_id != 0;
  replaying_ = row.replaying;
  replay_known_ = row.replay_known;
  replay_seen_ = row.replay_seen;
  mode_told_ = options_told_ = row.set_up;
  fresh_resume_ = !prompted && row.fresh_resume;
  if (current_) {
    current_->prompt_id = row.prompt_id;
    current_->fresh_resume = prompted && row.fresh_resume;
  }
  const AgentDefinition* configured = core_.config().Find(row_.agent);
  const AgentDefinition definition =
      configured ? *configured : UnpackSettings(row_.agent, row.settings);
  const absl::StatusOr<acp::InitializeResult> initialize = ReadInitialize(row.initialize_json);
  worker_ =
      std::make_shared<AgentWorker>(core_, definition, this, std::move(row), std::move(outbox));
  worker_->RestoreServices(std::move(services));
  if (!initialize.ok()) return;
  worker_->initialize = *initialize;
  core_.facts[row_.agent].initialize = *initialize;
}

void Session::RestoreQuestion(QuestionRow row) {
  const auto question = std::make_shared<Question>(core_.deps.loop);
  question->options = UnpackOptions(row.options);
  const milliseconds left((row.expire_time - core_.now()) / 1000);
  question->timer.expires_after(std::max(left, kLeastQuestionTime));
  if (current_ && current_->row.turn_id == row.turn_id) current_->had_output = true;
  questions_[row.question_id] = question;
  question->row = std::move(row);
  ArmQuestion(question);
}

awaitable<void> Session::TakeOver() {
  const auto self = shared_from_this();
  const std::shared_ptr<AgentWorker> worker = worker_;
  if (current_) {
    BeginWatch();
    co_await RereadTurn(current_);
  }
  if (!worker->gone()) co_await worker->Attach(kHelloTime);
  held_back_ = false;
  if (current_ && !shut_down_) {
    Go(RunAdopted(current_));
    co_return;
  }
  Pump();
  ArmIdleTimer();
}

awaitable<void> Session::RunAdopted(TurnPtr turn) {
  const auto self = shared_from_this();
  trace_ = turn->request.trace;
  turn->timeout_at = std::max(turn->timeout_at, steady_clock::now() + kCatchUpTime);
  co_await WatchTurn(turn);
  if (turn->phantom && !turn->ended()) co_await FallBackLate(turn);
  if (current_ == turn) current_ = nullptr;
  co_await Run();
}

// What the turn has said so far: its text, and what it told of its tool calls.
awaitable<void> Session::RereadTurn(TurnPtr turn) {
  const auto self = shared_from_this();
  uint64_t after = co_await Locate(core_, row_.session_id, turn->row.queued_seq);
  const LogScope scope{LogScope::Kind::kSession, row_.session_id};
  RereadUpdates read;
  for (;;) {
    const EventLog::Page page = co_await ReadPage(core_, scope, after);
    if (page.rows.empty()) co_return;
    std::function<RereadUpdates()> decode = [codec = core_.deps.codec, rows = page.rows, after,
                                             turn_id = turn->row.turn_id,
                                             json = std::exchange(read.json, {})] {
      return DecodeUpdates(*codec, rows, after, turn_id, json);
    };
    read = co_await OnPool<RereadUpdates>(*core_.deps.pool, std::move(decode));
    if (turn->ended()) co_return;
    for (RereadUpdates::Update& update : read.updates) {
      const StoredUpdate& said = update.said;
      turn->Observe(said.kind, said.message_id, said.text);
      WatchToolCall(said.kind, said.tool_call_id, said.tool_status);
      if (update.facts) KeepToolCall(said.kind, said.tool_call_id, *std::move(update.facts));
    }
    after = page.rows.back()->last_position();
  }
}

void Session::GiveUpTakeOver() {
  if (worker_) SpawnClose(CloseReason::kUnspecified);
  GoOnAfresh();
}

void Session::GoOnAfresh() {
  held_back_ = false;
  ResolveAll(ResolvedBy::kExit);
  if (const TurnPtr turn = current_; turn && turn->running()) EndLost(turn);
  recorder_.Flush();
  Pump();
}

// An api_key that only memory had is in the agent's environment, where the config puts it.
void Session::OnAdopted(const acp::LaunchSpec& spec) {
  const AgentDefinition* definition = agent();
  if (!row_.needs_api_key || !row_.model_provider || !definition) return;
  for (const auto& [name, value] : definition->env) {
    if (value != "${model.api_key}") continue;
    for (const auto& [given, key] : spec.env) {
      if (given == name) row_.model_provider->api_key = key;
    }
  }
}

}  // namespace acpd::session
