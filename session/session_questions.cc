// What the agent asks of a person: how a question is asked, and answered by policy, a caller, the
// time-out, or by what ends the turn; and permissions (others: session_elicitation.cc).
#include <utility>

#include "acp/elicitation.h"
#include "acp/text.h"
#include "session/errors.h"
#include "session/names.h"
#include "session/permission.h"
#include "session/permission_rules.h"
#include "session/session.h"

namespace acpd::session {
namespace {

using std::chrono::steady_clock;

constexpr size_t kMaxToolCallJson = 256u << 10;
// Options are never cut (an answer has to name one as it is): too many are refused.
constexpr size_t kMaxOptionBytes = 64u << 10;
// An agent that asks and asks is told so; nobody answers that many.
constexpr size_t kMaxOpenQuestions = 256;
constexpr size_t kMaxToolCalls = 256;

Answer AnswerOf(const std::optional<std::string>& option_id) {
  Answer answer;
  answer.option_id = option_id;
  if (option_id) answer.outcome = QuestionOutcome::kSelected;
  return answer;
}

PermissionSubject SubjectOf(const acp::PermissionRequest& request, const std::string& cwd) {
  PermissionSubject subject;
  subject.tool_kind = request.tool_kind;
  subject.title = request.title;
  subject.paths = request.paths;
  subject.raw_input = request.raw_input;
  subject.cwd = cwd;
  return subject;
}

PermissionRequestedEvent EventOf(const acp::PermissionRequest& request, const Question& question) {
  PermissionRequestedEvent event;
  event.question_id = question.row.question_id;
  event.tool_call_json = std::string(CutText(request.tool_call_json, kMaxToolCallJson));
  event.tool_call_truncated = event.tool_call_json.size() < request.tool_call_json.size();
  event.tool_call_id = request.tool_call_id;
  event.title = request.title;
  event.tool_kind = request.tool_kind;
  event.options = question.options;
  event.paths = request.paths;
  event.expire_time = question.row.expire_time;
  return event;
}

// What the agent is told.
std::string LineOf(const QuestionRow& row, const Answer& answer) {
  const std::string& id = row.agent_request_id;
  if (row.kind == QuestionKind::kPermission) {
    return answer.option_id ? acp::PermissionSelectedLine(id, *answer.option_id)
                            : acp::PermissionCancelledLine(id);
  }
  if (answer.outcome == QuestionOutcome::kDeclined) return acp::ElicitationDeclineLine(id);
  if (answer.outcome != QuestionOutcome::kAccepted) return acp::ElicitationCancelLine(id);
  const bool form = row.kind == QuestionKind::kForm;
  return acp::ElicitationAcceptLine(id,
                                    form ? std::string_view(answer.content) : std::string_view());
}

size_t SizeOf(const std::vector<acp::PermissionOption>& options) {
  size_t bytes = 0;
  for (const acp::PermissionOption& option : options)
    bytes += option.id.size() + option.name.size() + 16;
  return bytes;
}

}  // namespace

// Why a question of the agent cannot be asked, which it was told; `wrong` says what is wrong with
// the question itself. False: it can be asked.
bool Session::RefuseQuestion(const acp::Message& message, const std::string& agent_session_id,
                             std::string wrong) {
  // A question about a request of ours (a login, say) names no session.
  if (wrong.empty() && !agent_session_id.empty() && IsForeign(agent_session_id))
    wrong = "no such session here: " + std::string(CutText(agent_session_id, 256));
  if (!wrong.empty()) {
    worker_->SendLine(acp::ErrorLine(message.id, acp::kInvalidParams, wrong));
    return true;
  }
  if (questions_.size() < kMaxOpenQuestions) return false;
  worker_->SendLine(acp::ErrorLine(
      message.id, acp::kInvalidRequest,
      std::to_string(kMaxOpenQuestions) + " questions are open; wait for an answer first"));
  return true;
}

milliseconds Session::QuestionTimeout() {
  const AgentDefinition* definition = agent();
  if (!current_ || !current_->running() || current_->request.question_timeout.count() == 0)
    return definition ? definition->question_timeout : milliseconds(300'000);
  return current_->request.question_timeout;
}

std::shared_ptr<Question> Session::MakeQuestion(const acp::Message& message, milliseconds timeout) {
  if (current_ && current_->running()) current_->had_output = true;
  const auto question = std::make_shared<Question>(core_.deps.loop);
  QuestionRow& row = question->row;
  row.question_id = NewId(core_.now());
  row.session_id = row_.session_id;
  row.turn_id = std::string(CurrentTurnId());
  row.worker_id = worker_->id();
  row.agent_request_id = std::string(message.id);
  row.expire_time = core_.now() + std::chrono::microseconds(timeout).count();
  questions_[row.question_id] = question;
  return question;
}

// Waits for somebody's answer.
void Session::OpenQuestion(const std::shared_ptr<Question>& question, milliseconds timeout) {
  recorder_.pending().questions.push_back(question->row);
  if (current_ && current_->running()) SetTurnState(current_, TurnState::kWaiting);
  question->timer.expires_after(timeout);
  ArmQuestion(question);
}

PermissionMode Session::DecideAhead(const PermissionSubject& subject) const {
  const AgentDefinition* definition = agent();
  const PermissionMode asked = current_ && current_->running() ? current_->request.permission_mode
                                                               : PermissionMode::kUnspecified;
  const auto rule =
      definition ? DecideByRules(definition->permission_rules, subject) : std::nullopt;
  return DecidePermission(asked, rule, PermissionMemory(row_.remembered).Find(subject),
                          definition ? definition->permission_mode : PermissionMode::kAsk);
}

// Agents may say what a tool call is before they ask for it, and leave it out of the question.
void Session::NoteToolCall(const acp::UpdateView& update) {
  if (update.tool_call_id.empty() || !update.kind.starts_with("tool_call")) return;
  KeepToolCall(update.kind, update.tool_call_id, acp::ReadToolCallFacts(update.json));
}

void Session::KeepToolCall(std::string_view kind, std::string_view id, acp::ToolCallFacts said) {
  if (!kind.starts_with("tool_call")) return;
  const auto known = tool_calls_.find(id);
  if (known == tool_calls_.end()) {
    if (tool_calls_.size() >= kMaxToolCalls) tool_calls_.erase(tool_calls_.begin());
    tool_calls_.emplace(id, std::move(said));
    return;
  }
  if (!said.kind.empty()) known->second.kind = std::move(said.kind);
  if (!said.title.empty()) known->second.title = std::move(said.title);
  if (!said.paths.empty()) known->second.paths = std::move(said.paths);
}

void Session::CompleteFromToolCall(acp::PermissionRequest& request) const {
  const auto known = tool_calls_.find(request.tool_call_id);
  if (known == tool_calls_.end()) return;
  if (request.tool_kind.empty()) request.tool_kind = known->second.kind;
  if (request.title.empty()) request.title = known->second.title;
  if (request.paths.empty()) request.paths = known->second.paths;
}

void Session::OnPermissionRequest(const acp::Message& message) {
  absl::StatusOr<acp::PermissionRequest> request = acp::ReadPermissionRequest(message.params);
  if (request.ok()) CompleteFromToolCall(*request);
  std::string wrong(request.status().message());
  if (request.ok() && SizeOf(request->options) > kMaxOptionBytes)
    wrong = "the options have more than 64 KiB; offer fewer";
  if (RefuseQuestion(message, request.ok() ? request->session_id : "", std::move(wrong))) return;
  const milliseconds timeout = QuestionTimeout();
  const std::shared_ptr<Question> question = MakeQuestion(message, timeout);
  for (const acp::PermissionOption& option : request->options) {
    question->options.push_back(
        {option.id, option.name, ParseOptionKind(option.kind), option.kind});
  }
  const PermissionSubject subject = SubjectOf(*request, row_.cwd);
  QuestionRow& row = question->row;
  row.options = PackOptions(question->options);
  row.memory_key = PermissionMemory::KeyOf(subject);
  row.event_seq = recorder_.Append(row.turn_id, EventOf(*request, *question));
  if (current_ && current_->row.state == TurnState::kCancelling) {
    Resolve(row.question_id, Answer(), ResolvedBy::kCancel, "", "");
    return;
  }
  const PermissionMode mode = DecideAhead(subject);
  const std::optional<std::string> chosen = ChooseByPolicy(mode, question->options);
  if (chosen || mode == PermissionMode::kDeny) {
    Resolve(row.question_id, AnswerOf(chosen), ResolvedBy::kPolicy, "", "");
    return;
  }
  OpenQuestion(question, timeout);
}

void Session::ArmQuestion(const std::shared_ptr<Question>& question) {
  question->timer.async_wait(
      [self = shared_from_this(), question](const boost::system::error_code& error) {
        if (error || !self->questions_.count(question->row.question_id)) return;
        // A question that is no permission has no options, and is cancelled.
        self->Resolve(question->row.question_id, AnswerOf(ChooseOnTimeout(question->options)),
                      ResolvedBy::kTimeout, "", "");
        self->recorder_.Flush();
      });
}

Resolution Session::Resolve(const std::string& question_id, const Answer& answer, ResolvedBy by,
                            const std::string& principal, const std::string& comment) {
  const auto it = questions_.find(question_id);
  const std::shared_ptr<Question> question = it->second;
  questions_.erase(it);
  question->timer.cancel();
  QuestionRow& row = question->row;
  row.resolved = true;
  row.outcome = answer.outcome;
  row.option_id = answer.option_id.value_or("");
  row.by = by;
  row.principal = principal;
  row.comment = comment;
  if (by == ResolvedBy::kCaller) RememberAnswer(*question, answer);
  recorder_.pending().questions.push_back(row);
  recorder_.pending().full_sync = true;

  QuestionResolvedEvent event;
  event.resolution =
      Resolution{row.question_id, row.outcome, row.option_id, by, principal, comment};
  recorder_.Append(row.turn_id, event);
  if (by != ResolvedBy::kExit && worker_ && worker_->alive()) {
    worker_->SendLine(LineOf(row, answer));
  }
  if (questions_.empty() && current_ && current_->row.state == TurnState::kWaiting) {
    SetTurnState(current_, TurnState::kRunning);
  }
  return event.resolution;
}

// A permission that is answered with "always", and the page that a person was sent to. Of what was
// filled into a form only a fingerprint is kept: the same answer again is known by it.
void Session::RememberAnswer(Question& question, const Answer& answer) {
  QuestionRow& row = question.row;
  if (answer.outcome == QuestionOutcome::kAccepted) {
    row.memory_key = Fingerprint(core_.deps.store->fingerprint_key(), answer.content);
    if (row.kind == QuestionKind::kUrl) NotePage(row);
    return;
  }
  if (!answer.option_id) return;
  PermissionMemory memory(row_.remembered);
  for (const QuestionOption& option : question.options) {
    if (option.option_id != *answer.option_id) continue;
    if (!memory.Remember(row.memory_key, option.kind)) return;
    row_.remembered = memory.Packed();
    RecordRow();
    return;
  }
}

void Session::ResolveAll(ResolvedBy by) {
  while (!questions_.empty()) Resolve(questions_.begin()->first, Answer(), by, "", "");
}

const Question* Session::FindQuestion(const std::string& question_id) const {
  const auto it = questions_.find(question_id);
  return it == questions_.end() ? nullptr : it->second.get();
}

absl::StatusOr<Resolution> Session::Respond(const std::string& question_id, const Answer& answer,
                                            const std::string& principal,
                                            const std::string& comment) {
  const Question* question = FindQuestion(question_id);
  if (!question) {
    return MakeError("QUESTION_NOT_FOUND", "The session has no open question with this id.");
  }
  const absl::Status fits = CheckAnswer(*question, answer);
  if (!fits.ok()) return fits;
  Resolution resolution = Resolve(question_id, answer, ResolvedBy::kCaller, principal, comment);
  recorder_.Flush();
  return resolution;
}

}  // namespace acpd::session
