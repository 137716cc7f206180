// What the agent asks of a person: permissions, answered by policy, a caller, the time-out, or by
// what ends the turn.
#include <utility>

#include "acp/text.h"
#include "session/errors.h"
#include "session/names.h"
#include "session/permission.h"
#include "session/session.h"

namespace acpd::session {
namespace {

using std::chrono::steady_clock;

constexpr size_t kMaxToolCallJson = 256u << 10;
// Options are never cut (an answer has to name one as it is): too many are refused.
constexpr size_t kMaxOptionBytes = 64u << 10;
// An agent that asks and asks is told so; nobody answers that many.
constexpr size_t kMaxOpenQuestions = 256;

size_t SizeOf(const std::vector<acp::PermissionOption>& options) {
  size_t bytes = 0;
  for (const acp::PermissionOption& option : options)
    bytes += option.id.size() + option.name.size() + 16;
  return bytes;
}

}  // namespace

PermissionMode Session::EffectivePermissionMode() const {
  if (current_ && current_->running() &&
      current_->request.permission_mode != PermissionMode::kUnspecified) {
    return current_->request.permission_mode;
  }
  const AgentDefinition* definition = agent();
  return definition ? definition->permission_mode : PermissionMode::kAsk;
}

void Session::OnPermissionRequest(const acp::Message& message) {
  const absl::StatusOr<acp::PermissionRequest> request = acp::ReadPermissionRequest(message.params);
  if (!request.ok()) {
    const std::string why(request.status().message());
    worker_->SendLine(acp::ErrorLine(message.id, acp::kInvalidParams, why));
    return;
  }
  if (IsForeign(request->session_id)) {
    worker_->SendLine(
        acp::ErrorLine(message.id, acp::kInvalidParams,
                       "no such session here: " + std::string(CutText(request->session_id, 256))));
    return;
  }
  if (questions_.size() >= kMaxOpenQuestions) {
    worker_->SendLine(acp::ErrorLine(message.id, acp::kInvalidRequest,
                                     "256 permission requests are open; wait for an answer first"));
    return;
  }
  if (SizeOf(request->options) > kMaxOptionBytes) {
    worker_->SendLine(acp::ErrorLine(message.id, acp::kInvalidParams,
                                     "the options have more than 64 KiB; offer fewer"));
    return;
  }
  const AgentDefinition* definition = agent();
  milliseconds timeout = definition ? definition->question_timeout : milliseconds(300'000);
  if (current_ && current_->running()) {
    current_->had_output = true;
    if (current_->request.question_timeout.count() > 0)
      timeout = current_->request.question_timeout;
  }
  const auto question = std::make_shared<Question>(core_.deps.loop);
  for (const acp::PermissionOption& option : request->options) {
    question->options.push_back({option.id, option.name, ParseOptionKind(option.kind)});
  }
  QuestionRow& row = question->row;
  row.question_id = NewId(core_.now());
  row.session_id = row_.session_id;
  row.turn_id = std::string(CurrentTurnId());
  row.worker_id = worker_->id();
  row.agent_request_id = std::string(message.id);
  row.options = PackOptions(question->options);
  row.expire_time = core_.now() + std::chrono::microseconds(timeout).count();

  PermissionRequestedEvent event;
  event.question_id = row.question_id;
  event.tool_call_json = std::string(CutText(request->tool_call_json, kMaxToolCallJson));
  event.tool_call_truncated = event.tool_call_json.size() < request->tool_call_json.size();
  event.tool_call_id = request->tool_call_id;
  event.title = request->title;
  event.tool_kind = request->tool_kind;
  event.options = question->options;
  event.expire_time = row.expire_time;
  row.event_seq = recorder_.Append(row.turn_id, event);
  questions_[row.question_id] = question;

  if (current_ && current_->row.state == TurnState::kCancelling) {
    Resolve(row.question_id, std::nullopt, ResolvedBy::kCancel, "", "");
    return;
  }
  const PermissionMode mode = EffectivePermissionMode();
  const std::optional<std::string> chosen = ChooseByPolicy(mode, question->options);
  if (chosen || mode == PermissionMode::kDeny) {
    Resolve(row.question_id, chosen, ResolvedBy::kPolicy, "", "");
    return;
  }
  recorder_.pending().questions.push_back(row);
  if (current_ && current_->running()) SetTurnState(current_, TurnState::kWaiting);
  question->timer.expires_after(timeout);
  ArmQuestion(question);
}

void Session::ArmQuestion(const std::shared_ptr<Question>& question) {
  question->timer.async_wait(
      [self = shared_from_this(), question](const boost::system::error_code& error) {
        if (error || !self->questions_.count(question->row.question_id)) return;
        self->Resolve(question->row.question_id, ChooseOnTimeout(question->options),
                      ResolvedBy::kTimeout, "", "");
        self->recorder_.Flush();
      });
}

Resolution Session::Resolve(const std::string& question_id,
                            const std::optional<std::string>& option_id, ResolvedBy by,
                            const std::string& principal, const std::string& comment) {
  const auto it = questions_.find(question_id);
  const std::shared_ptr<Question> question = it->second;
  questions_.erase(it);
  question->timer.cancel();
  QuestionRow& row = question->row;
  row.resolved = true;
  row.outcome = option_id ? QuestionOutcome::kSelected : QuestionOutcome::kCancelled;
  row.option_id = option_id.value_or("");
  row.by = by;
  row.principal = principal;
  row.comment = comment;
  recorder_.pending().questions.push_back(row);
  recorder_.pending().full_sync = true;

  QuestionResolvedEvent event;
  event.resolution =
      Resolution{row.question_id, row.outcome, row.option_id, by, principal, comment};
  recorder_.Append(row.turn_id, event);
  if (by != ResolvedBy::kExit && worker_ && worker_->alive()) {
    worker_->SendLine(option_id ? acp::PermissionSelectedLine(row.agent_request_id, *option_id)
                                : acp::PermissionCancelledLine(row.agent_request_id));
  }
  if (questions_.empty() && current_ && current_->row.state == TurnState::kWaiting) {
    SetTurnState(current_, TurnState::kRunning);
  }
  return event.resolution;
}

void Session::ResolveAll(ResolvedBy by) {
  while (!questions_.empty()) Resolve(questions_.begin()->first, std::nullopt, by, "", "");
}

const Question* Session::FindQuestion(const std::string& question_id) const {
  const auto it = questions_.find(question_id);
  return it == questions_.end() ? nullptr : it->second.get();
}

absl::StatusOr<Resolution> Session::Respond(const std::string& question_id,
                                            const std::optional<std::string>& option_id,
                                            const std::string& principal,
                                            const std::string& comment) {
  const Question* question = FindQuestion(question_id);
  if (!question) {
    return MakeError("QUESTION_NOT_FOUND", "The session has no open question with this id.");
  }
  if (option_id && !IsOffered(*option_id, question->options)) {
    return MakeError("INVALID_ANSWER",
                     "The agent did not offer the option \"" + *option_id +
                         "\"; use an option_id of its permission_requested event.");
  }
  Resolution resolution = Resolve(question_id, option_id, ResolvedBy::kCaller, principal, comment);
  recorder_.Flush();
  return resolution;
}

}  // namespace acpd::session
