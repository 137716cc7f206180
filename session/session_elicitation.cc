// What the agent asks of a person beside permissions: a form to fill in, or a page to visit
// (https://agentclientprotocol.com/protocol/elicitation). Answered by callers only: no policy fills
// in forms.
#include <algorithm>
#include <utility>

#include "acp/elicitation.h"
#include "acp/text.h"
#include "session/errors.h"
#include "session/pack.h"
#include "session/permission.h"
#include "session/session.h"

namespace acpd::session {
namespace {

constexpr size_t kMaxSchemaJson = 256u << 10;
constexpr size_t kMaxUrl = 16u << 10;
constexpr size_t kMaxElicitationId = 1u << 10;
// Of an agent that completes none of its pages the oldest are forgotten.
constexpr size_t kMaxOpenedPages = 64;

std::string TooLarge(const acp::Elicitation& asked) {
  if (asked.schema_json.size() > kMaxSchemaJson)
    return "requestedSchema has more than 256 KiB; ask for less";
  if (asked.elicitation_id.size() > kMaxElicitationId)
    return "elicitationId has more than 1 KiB; use a shorter one";
  return asked.url.size() > kMaxUrl ? "url has more than 16 KiB" : "";
}

absl::Status NotAnAnswer(const std::string& sentence) {
  return MakeError("INVALID_ANSWER", sentence);
}

}  // namespace

void Session::OnElicitation(const acp::Message& message) {
  const absl::StatusOr<acp::Elicitation> asked = acp::ReadElicitation(message.params);
  std::string wrong = asked.ok() ? TooLarge(*asked) : std::string(asked.status().message());
  if (RefuseQuestion(message, asked.ok() ? asked->session_id : "", std::move(wrong))) return;
  const milliseconds timeout = QuestionTimeout();
  const std::shared_ptr<Question> question = MakeQuestion(message, timeout);
  QuestionRow& row = question->row;
  row.kind = asked->url_mode ? QuestionKind::kUrl : QuestionKind::kForm;
  row.schema_json = asked->schema_json;
  row.elicitation_id = asked->elicitation_id;

  ElicitationRequestedEvent event;
  event.question_id = row.question_id;
  event.message = asked->message;
  event.url_mode = asked->url_mode;
  event.schema_json = asked->schema_json;
  event.url = asked->url;
  event.tool_call_id = asked->tool_call_id;
  event.expire_time = row.expire_time;
  row.event_seq = recorder_.Append(row.turn_id, event);
  if (current_ && current_->row.state == TurnState::kCancelling) {
    Resolve(row.question_id, Answer(), ResolvedBy::kCancel, "", "");
    return;
  }
  OpenQuestion(question, timeout);
}

// A person went to this page. Question ids begin with their time, so the least is the oldest.
void Session::NotePage(const QuestionRow& row) {
  if (opened_pages_.size() >= kMaxOpenedPages) {
    opened_pages_.erase(
        std::min_element(opened_pages_.begin(), opened_pages_.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; }));
  }
  opened_pages_[row.elicitation_id] = row.question_id;
  RecordPages();
}

void Session::RecordPages() {
  if (!worker_ || !worker_->alive()) return;
  worker_->mutable_row().opened_pages = PackMap(opened_pages_);
  worker_->RecordRow();
}

// The agent saw the page's interaction through. Ids that it never gave, or has completed, mean
// nothing.
void Session::OnElicitationComplete(const acp::Message& message) {
  const std::string elicitation_id = acp::ReadElicitationId(message.params);
  if (elicitation_id.empty()) return;
  for (const auto& [id, question] : questions_) {
    if (question->row.elicitation_id != elicitation_id) continue;
    Answer seen_through;
    seen_through.outcome = QuestionOutcome::kAccepted;
    Resolve(std::string(id), seen_through, ResolvedBy::kAgent, "", "");
    return;
  }
  const auto opened = opened_pages_.find(elicitation_id);
  if (opened == opened_pages_.end()) return;
  const std::string question_id = std::move(opened->second);
  opened_pages_.erase(opened);
  RecordPages();
  OnNotice(Severity::kInfo, "ELICITATION_COMPLETED",
           "What a person was sent to a page for (question " + question_id +
               ") is done; the agent goes on.");
}

absl::Status Session::CheckAnswer(const Question& question, const Answer& answer) const {
  const bool permission = question.row.kind == QuestionKind::kPermission;
  if (answer.outcome == QuestionOutcome::kCancelled) return absl::OkStatus();
  if (answer.option_id.has_value() != permission) {
    return NotAnAnswer(
        permission ? "This question is a permission: answer with option_id or option_kind."
                   : "This question is an elicitation: answer with accept_json or decline.");
  }
  if (permission) {
    if (IsOffered(*answer.option_id, question.options)) return absl::OkStatus();
    return NotAnAnswer("The agent did not offer the option \"" + *answer.option_id +
                       "\"; use an option_id of its permission_requested event.");
  }
  if (answer.outcome == QuestionOutcome::kDeclined) return absl::OkStatus();
  if (question.row.kind == QuestionKind::kUrl) {
    if (answer.content.empty() || answer.content == "{}") return absl::OkStatus();
    return NotAnAnswer("A page takes no content: accept_json has to be \"{}\".");
  }
  const absl::Status fits = acp::CheckContent(answer.content, question.row.schema_json);
  if (fits.ok()) return fits;
  return NotAnAnswer("accept_json does not fit the form: " + std::string(fits.message()));
}

}  // namespace acpd::session
