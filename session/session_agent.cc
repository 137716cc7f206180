// What the agent says, in wire order: updates, requests, notifications, the prompt's answer, its
// end.
#include <algorithm>
#include <utility>

#include "acp/text.h"
#include "session/errors.h"
#include "session/session.h"

namespace acpd::session {
namespace {

using std::chrono::steady_clock;

// An update is cut into parts so that each event stays below 3 MiB: `json` and `text` take up to
// this much of each.
constexpr size_t kWholeUpdate = 2'800'000;
constexpr size_t kPart = 1'400'000;

Usage ToUsage(const acp::TokenUsage& tokens) {
  Usage usage;
  usage.input_tokens = tokens.input_tokens;
  usage.output_tokens = tokens.output_tokens;
  usage.cached_read_tokens = tokens.cached_read_tokens;
  usage.cached_write_tokens = tokens.cached_write_tokens;
  usage.thought_tokens = tokens.thought_tokens;
  usage.total_tokens = tokens.total_tokens;
  return usage;
}

// Takes the next piece off the front, on a character border.
std::string_view TakePiece(std::string_view& rest) {
  const std::string_view piece = CutText(rest, kPart);
  rest.remove_prefix(piece.size());
  return piece;
}

uint32_t CountPieces(std::string_view text) {
  uint32_t pieces = 0;
  while (!text.empty()) {
    TakePiece(text);
    ++pieces;
  }
  return pieces;
}

}  // namespace

std::string_view Session::CurrentTurnId() const {
  return current_ && current_->running() ? std::string_view(current_->row.turn_id)
                                         : std::string_view();
}

ServiceScope Session::service_scope() const {
  ServiceScope scope;
  if (!setting_up_) scope.agent_session_id = row_.agent_session_id;
  scope.roots = row_.setup.additional_directories;
  scope.roots.insert(scope.roots.begin(), row_.cwd);
  return scope;
}

bool Session::IsForeign(std::string_view agent_session_id) {
  // While a set-up is under way its session's id may not be known yet; but there is one.
  return agent_session_id.empty() || (!setting_up_ && agent_session_id != row_.agent_session_id);
}

void Session::OnUpdate(const acp::UpdateView& update) {
  last_update_ = steady_clock::now();
  if (hold_updates_) {
    held_.push_back({std::string(update.session_id), std::string(update.json),
                     std::string(update.kind), std::string(update.text),
                     std::string(update.message_id), std::string(update.tool_call_id),
                     std::string(update.tool_status), std::string(update.title)});
    held_bytes_ += update.json.size() + update.text.size();
    return;
  }
  if (IsForeign(update.session_id)) {
    if (foreign_reported_) return;
    foreign_reported_ = true;
    OnNotice(Severity::kWarning, "FOREIGN_SESSION",
             "Dropped updates for the session id \"" +
                 std::string(CutText(update.session_id, 256)) +
                 "\", which this worker does not have.");
    return;
  }
  if (replaying_) {
    replay_seen_ = true;
    if (replay_known_) return;
    AppendUpdate(update, true);
    TakeSideEffects(update);  // all that is known of a session from elsewhere
    return;
  }
  if (current_ && current_->running()) {
    current_->Observe(update.kind, update.message_id, update.text);
    WatchToolCall(update.kind, update.tool_call_id, update.tool_status);
    NoteToolCall(update);
  }
  AppendUpdate(update, false);
  TakeSideEffects(update);
}

void Session::AppendUpdate(const acp::UpdateView& update, bool replayed) {
  SessionUpdateEvent event;
  event.kind = update.kind;
  event.json = update.json;
  event.text = update.text;
  event.message_id = update.message_id;
  event.tool_call_id = update.tool_call_id;
  event.tool_status = update.tool_status;
  event.title = update.title;
  event.replayed = replayed;
  if (event.json.size() + event.text.size() <= kWholeUpdate) {
    recorder_.Append(CurrentTurnId(), event);
  } else {
    AppendParts(event);
  }
}

void Session::AppendParts(SessionUpdateEvent event) {
  std::string_view json = event.json;
  std::string_view text = event.text;
  event.title = CutText(event.title, kPart / 8);
  event.parts = std::max(CountPieces(json), CountPieces(text));
  for (event.part = 1; event.part <= event.parts; ++event.part) {
    event.json = TakePiece(json);
    event.text = TakePiece(text);
    recorder_.Append(CurrentTurnId(), event);
  }
}

void Session::TakeSideEffects(const acp::UpdateView& update) {
  if (update.kind == "usage_update") {
    const acp::ContextUsage usage = acp::ReadContextUsage(update.json);
    if (usage.used) row_.usage.context_used = usage.used;
    if (usage.size) row_.usage.context_size = usage.size;
    if (usage.cost) row_.usage.cost = usage.cost;
    if (!usage.currency.empty()) row_.usage.currency = usage.currency;
    RecordRow();
  } else if (update.kind == "session_info_update") {
    const std::optional<std::string> title = acp::ReadSessionTitle(update.json);
    if (!title || *title == row_.title) return;
    row_.title = *title;
    Announce({"title"}, "");
  } else {
    TakeOptionUpdate(update);
  }
}

void Session::ReleaseHeld(Session& to) {
  for (const HeldUpdate& held : DropHeld()) {
    acp::UpdateView update;
    update.session_id = held.session_id;
    update.json = held.json;
    update.kind = held.kind;
    update.text = held.text;
    update.message_id = held.message_id;
    update.tool_call_id = held.tool_call_id;
    update.tool_status = held.tool_status;
    update.title = held.title;
    to.OnUpdate(update);
  }
  if (to.worker_) to.worker_->RecordConsumed();
}

std::vector<Session::HeldUpdate> Session::DropHeld() {
  held_bytes_ = 0;
  core_.room.Notify();
  return std::exchange(held_, {});
}

void Session::OnAgentRequest(const acp::Message& message) {
  if (message.method == "session/request_permission") {
    OnPermissionRequest(message);
    return;
  }
  if (message.method == "elicitation/create" && worker_->agent().capabilities.elicitation) {
    OnElicitation(message);
    return;
  }
  worker_->SendLine(
      acp::ErrorLine(message.id, acp::kMethodNotFound,
                     "Method not found: " + RepairText(CutText(message.method, 256))));
}

void Session::OnAgentNotification(const acp::Message& message) {
  if (message.method == "elicitation/complete") return OnElicitationComplete(message);
  if (message.method != "$/cancel_request") return;
  const std::string request_id = acp::ReadCancelledRequestId(message.params);
  for (const auto& [id, question] : questions_) {
    if (question->row.agent_request_id != request_id) continue;
    Resolve(id, Answer(), ResolvedBy::kAgent, "", "");
    return;
  }
}

void Session::OnPromptAnswer(uint64_t id, const AgentAnswer& answer) {
  const TurnPtr turn = current_;
  if (!turn || !turn->running() || turn->prompt_id != id) return;
  const bool failed = answer.kind == AgentAnswer::Kind::kError;
  core_.facts[row_.agent].auth_required = failed && answer.error.code == acp::kAuthRequired;
  if (failed) {
    Failure failure;
    failure.agent_code = static_cast<int32_t>(answer.error.code);
    failure.message = answer.error.message;
    failure.agent_data = answer.error.data;
    if (answer.error.code == acp::kAuthRequired) {
      const absl::Status wanted = LoginWanted(answer.error.message);
      failure.reason = "AGENT_AUTH_REQUIRED";
      failure.message = std::string(wanted.message());
    }
    if (answer.too_large && turn->evidence.limit.empty())
      turn->evidence.limit = "MESSAGE_TOO_LARGE";
    turn->evidence.agent_error = std::move(failure);
  } else {
    const absl::StatusOr<acp::PromptResult> result = acp::ReadPromptResult(answer.result);
    if (result.ok()) {
      turn->evidence.stop_reason = result->stop_reason;
      turn->row.result.usage = ToUsage(result->usage);
    } else {
      Failure failure;
      failure.agent_code = static_cast<int32_t>(acp::kInvalidRequest);
      failure.message = "The agent's answer to session/prompt cannot be read: " +
                        std::string(result.status().message());
      turn->evidence.agent_error = std::move(failure);
    }
  }
  LooksPhantom(turn, answer) ? TakeBack(turn) : EndTurn(turn);
}

void Session::OnNotice(Severity severity, std::string_view code, const std::string& text) {
  NoticeEvent event;
  event.severity = severity;
  event.code = std::string(code);
  event.message = RepairText(text);
  recorder_.Append(CurrentTurnId(), event);
}

void Session::OnGone() {
  const std::shared_ptr<AgentWorker> worker = worker_;
  if (!worker) return;
  ResolveAll(ResolvedBy::kExit);
  if (worker->launched()) {
    WorkerExitedEvent event = worker->ExitedEvent();
    event.expected = event.expected || closing_;
    recorder_.Append(CurrentTurnId(), event);
    Log(event.expected ? Severity::kInfo : Severity::kWarning, "worker ended", CurrentTurnId(),
        {{"how", worker->ExitDetail()}});
  }
  worker_ = nullptr;
  opened_pages_.clear();
  last_worker_detail_ = worker->ExitDetail();
  replaying_ = false;
  fresh_resume_ = false;
  const TurnPtr turn = current_;
  if (turn && turn->running()) {
    if (worker->lost()) {
      turn->evidence.worker_lost = true;
    } else {
      turn->evidence.exit_detail = last_worker_detail_;
    }
    EndTurn(turn);
  }
  changed_.Notify();
}

}  // namespace acpd::session
