#include "server/requests.h"

#include <algorithm>

#include "acp/json_value.h"
#include "server/page_token.h"
#include "server/request_checks.h"
#include "session/errors.h"
#include "session/names.h"

namespace acpd::server {
namespace {

constexpr uint32_t kDefaultPage = 50;
constexpr uint32_t kMaxPage = 500;
constexpr size_t kMaxAcceptJson = 256u << 10;

uint32_t PageSize(int32_t asked) {
  return asked == 0 ? kDefaultPage : std::min<uint32_t>(static_cast<uint32_t>(asked), kMaxPage);
}

template <class Request>
void CheckListed(const Request& request, Checks& checks) {
  if (!request.project_id().empty()) checks.Project(request.project_id());
  checks.Require(request.page_size() >= 0, "INVALID_REQUEST", "page_size is negative.");
}

bool IsJsonObject(const std::string& text) {
  const auto value = acp::JsonValue::Parse(text);
  return value && value->IsObject();
}

void CheckAnswer(const v1::RespondRequest& request, Checks& checks) {
  using Answer = v1::RespondRequest;
  switch (request.answer_case()) {
    case Answer::kOptionId:
      return checks.Require(!request.option_id().empty(), "INVALID_ANSWER", "option_id is empty.");
    case Answer::kCancelled:
      return checks.Require(request.cancelled(), "INVALID_ANSWER",
                            "cancelled is false; leave it out and give an answer.");
    case Answer::kOptionKind:
      return checks.Require(v1::PermissionOptionKind_IsValid(request.option_kind()) &&
                                request.option_kind() != v1::PERMISSION_OPTION_KIND_UNSPECIFIED,
                            "INVALID_ANSWER", "option_kind has no known value.");
    case Answer::kAcceptJson:
      checks.Text("accept_json", request.accept_json(), kMaxAcceptJson);
      if (!checks.status().ok()) return;
      return checks.Require(IsJsonObject(request.accept_json()), "INVALID_ANSWER",
                            "accept_json is no JSON object; give the form's content as one.");
    case Answer::kDecline:
      return checks.Require(request.decline(), "INVALID_ANSWER",
                            "decline is false; leave it out and give an answer.");
    case Answer::ANSWER_NOT_SET:
      return checks.Require(false, "INVALID_ANSWER",
                            "there is no answer; set option_id, option_kind, accept_json, decline "
                            "or cancelled.");
  }
}

}  // namespace

absl::StatusOr<session::CancelQuery> CancelFrom(const v1::CancelRequest& request,
                                                const acp::TraceContext& trace) {
  const bool scoped =
      !request.session_id().empty() || !request.project_id().empty() || !request.turn_id().empty();
  Checks checks;
  checks.Require(scoped || request.everything(), "INVALID_REQUEST",
                 "say what to cancel: session_id, project_id, turn_id or everything.");
  checks.Require(!scoped || !request.everything(), "SCOPE_MISMATCH",
                 "everything goes with no session_id, project_id or turn_id.");
  if (!request.session_id().empty()) checks.Session(request.session_id());
  if (!request.project_id().empty()) checks.Project(request.project_id());
  checks.Text("turn_id", request.turn_id(), kMaxIdBytes);
  checks.Text("reason", request.reason());
  checks.Duration("grace", request.grace());
  if (!checks.status().ok()) return checks.status();
  session::CancelQuery query;
  query.session_id = request.session_id();
  query.project_id = request.project_id();
  query.turn_id = request.turn_id();
  query.reason = request.reason();
  query.include_queued = request.include_queued();
  query.everything = request.everything();
  if (request.has_grace()) query.grace = MillisecondsFrom(request.grace());
  query.trace = trace;
  return query;
}

absl::StatusOr<session::RespondQuery> RespondFrom(const v1::RespondRequest& request) {
  Checks checks;
  checks.Session(request.session_id());
  checks.Require(!request.question_id().empty(), "INVALID_REQUEST", "question_id is empty.");
  checks.Text("question_id", request.question_id(), kMaxIdBytes);
  checks.Text("comment", request.comment());
  CheckAnswer(request, checks);
  if (!checks.status().ok()) return checks.status();
  session::RespondQuery query;
  query.session_id = request.session_id();
  query.question_id = request.question_id();
  query.option_id = request.option_id();
  query.cancelled = request.cancelled();
  query.option_kind = static_cast<session::OptionKind>(request.option_kind());
  query.accept_json = request.accept_json();
  query.decline = request.decline();
  query.comment = request.comment();
  return query;
}

absl::StatusOr<GetTurnParams> GetTurnFrom(const v1::GetTurnRequest& request) {
  const bool by_request = !request.project_id().empty() && !request.request_id().empty();
  Checks checks;
  checks.Require(!request.turn_id().empty() || by_request, "INVALID_REQUEST",
                 "say which turn: turn_id, or project_id and request_id.");
  checks.Text("turn_id", request.turn_id(), kMaxIdBytes);
  checks.Text("request_id", request.request_id(), kMaxIdBytes);
  if (request.turn_id().empty()) checks.Project(request.project_id());
  checks.Enum("wait_for", v1::WaitFor_IsValid(request.wait_for()));
  if (!checks.status().ok()) return checks.status();
  GetTurnParams params;
  params.query.turn_id = request.turn_id();
  params.query.project_id = request.project_id();
  params.query.request_id = request.request_id();
  params.wait_for = static_cast<session::WaitFor>(request.wait_for());
  return params;
}

absl::StatusOr<ListTurnsParams> ListTurnsFrom(const v1::ListTurnsRequest& request) {
  Checks checks;
  CheckListed(request, checks);
  if (!request.session_id().empty()) checks.Session(request.session_id());
  for (int state : request.states())
    checks.Enum("states", v1::TurnState_IsValid(state) && state != 0);
  if (!checks.status().ok()) return checks.status();
  const auto token = TokenOf(request);
  if (!token.ok()) return token.status();
  ListTurnsParams params;
  params.query.project_id = request.project_id();
  params.query.session_id = request.session_id();
  for (int state : request.states())
    params.query.states.push_back(static_cast<session::TurnState>(state));
  params.query.limit = PageSize(request.page_size());
  params.query.before_time = token->before_time;
  params.query.before_turn_id = token->before_id;
  params.as_of_position = token->as_of_position;
  return params;
}

absl::StatusOr<ListSessionsParams> ListSessionsFrom(const v1::ListSessionsRequest& request) {
  Checks checks;
  CheckListed(request, checks);
  for (int state : request.states())
    checks.Enum("states", v1::Session::State_IsValid(state) && state != 0);
  checks.Map("labels", request.labels());
  checks.Enum("view", v1::SessionView_IsValid(request.view()));
  if (!checks.status().ok()) return checks.status();
  const auto token = TokenOf(request);
  if (!token.ok()) return token.status();
  ListSessionsParams params;
  params.query.project_id = request.project_id();
  for (int state : request.states())
    params.query.states.push_back(static_cast<session::SessionState>(state));
  params.query.labels.insert(request.labels().begin(), request.labels().end());
  params.query.limit = PageSize(request.page_size());
  params.query.before_time = token->before_time;
  params.query.before_session_id = token->before_id;
  params.full = request.view() == v1::SESSION_VIEW_FULL;
  params.as_of_position = token->as_of_position;
  return params;
}

std::string NextPageToken(const v1::ListTurnsRequest& request, const session::TurnView& last,
                          uint64_t as_of) {
  return EncodePageToken({last.accept_time, last.turn_id, as_of}, ListName(request));
}

std::string NextPageToken(const v1::ListSessionsRequest& request, const session::SessionView& last,
                          uint64_t as_of) {
  return EncodePageToken({last.create_time, last.session_id, as_of}, ListName(request));
}

absl::Status CheckSessionId(const std::string& session_id) {
  Checks checks;
  checks.Session(session_id);
  return checks.status();
}

}  // namespace acpd::server
