#include "server/requests.h"

#include <algorithm>

#include "server/codec.h"
#include "server/page_token.h"
#include "server/request_checks.h"
#include "session/errors.h"
#include "session/names.h"

namespace acpd::server {
namespace {

constexpr uint32_t kDefaultPage = 50;
constexpr uint32_t kMaxPage = 500;

// Fields that are there in the API before what they do is.
absl::Status CheckImplemented(const v1::ChatRequest& request) {
  const std::pair<bool, const char*> fields[] = {
      {request.content_size() > 0, "content"},
      {request.mcp_servers_size() > 0, "mcp_servers"},
      {request.clear_mcp_servers(), "clear_mcp_servers"},
      {!request.system_prompt().empty(), "system_prompt"},
      {request.additional_directories_size() > 0, "additional_directories"},
      {!request.meta_json().empty(), "meta_json"},
      {!request.mode_id().empty(), "mode_id"},
      {request.config_options_size() > 0, "config_options"},
      {request.resume_policy().mode() == v1::ResumePolicy::MODE_FALLBACK_WITH_TRANSCRIPT,
       "resume_policy.mode MODE_FALLBACK_WITH_TRANSCRIPT"},
      {request.resume_policy().has_preserve_mcp_servers() &&
           !request.resume_policy().preserve_mcp_servers(),
       "resume_policy.preserve_mcp_servers false"},
  };
  for (const auto& [used, name] : fields) {
    if (used) return NotImplemented(name);
  }
  return absl::OkStatus();
}

// What comes back in answers and events.
void CheckTexts(const v1::ChatRequest& request, Checks& checks) {
  const v1::ModelProvider& model = request.model_provider();
  checks.Text("agent", request.agent());
  checks.Text("cwd", request.cwd());
  checks.Text("agent_session_id", request.agent_session_id(), kMaxIdBytes);
  checks.Map("labels", request.labels());
  checks.Text("model_provider.provider", model.provider());
  checks.Text("model_provider.model", model.model());
  checks.Text("model_provider.api_key", model.api_key(), kMaxKeyBytes);
  checks.Text("model_provider.base_url", model.base_url());
  checks.Text("model_provider.api_key_ref", model.api_key_ref());
  checks.Map("model_provider.options", model.options());
}

absl::Status CheckChat(const v1::ChatRequest& request) {
  Checks checks;
  checks.Project(request.project_id());
  if (!request.session_id().empty()) checks.Session(request.session_id());
  if (!request.request_id().empty()) checks.RequestId(request.request_id());
  checks.Enum("resume_policy.mode", v1::ResumePolicy::Mode_IsValid(request.resume_policy().mode()));
  checks.Enum("busy_policy", v1::BusyPolicy_IsValid(request.busy_policy()));
  checks.Enum("wait_for", v1::WaitFor_IsValid(request.wait_for()));
  checks.Enum("permission_mode", v1::PermissionMode_IsValid(request.permission_mode()));
  checks.Duration("turn_timeout", request.turn_timeout());
  checks.Duration("question_timeout", request.question_timeout());
  CheckTexts(request, checks);
  checks.Add(CheckImplemented(request));
  return checks.status();
}

session::ChatRequest Checked(const v1::ChatRequest& request, std::string_view hash_key) {
  session::ChatRequest chat = FieldsFrom(request);
  chat.stored_bytes = EncodeRequest(request);
  chat.content_hash = ContentHash(request, hash_key);
  return chat;
}

// The filters of a list, without where in it a page is.
template <class Request>
std::string ListName(Request request) {
  request.clear_page_size();
  request.clear_page_token();
  return Request::descriptor()->name() + CanonicalBytes(request);
}

template <class Request>
absl::StatusOr<PageToken> TokenOf(const Request& request) {
  if (request.page_token().empty()) return PageToken();
  return DecodePageToken(request.page_token(), ListName(request));
}

uint32_t PageSize(int32_t asked) {
  return asked == 0 ? kDefaultPage : std::min<uint32_t>(static_cast<uint32_t>(asked), kMaxPage);
}

template <class Request>
void CheckListed(const Request& request, Checks& checks) {
  if (!request.project_id().empty()) checks.Project(request.project_id());
  checks.Require(request.page_size() >= 0, "INVALID_REQUEST", "page_size is negative.");
}

std::optional<session::ModelProvider> ModelProviderFrom(const v1::ChatRequest& request) {
  if (!request.has_model_provider()) return std::nullopt;
  const v1::ModelProvider& from = request.model_provider();
  session::ModelProvider provider;
  provider.provider = from.provider();
  provider.model = from.model();
  provider.api_key = from.api_key();
  provider.base_url = from.base_url();
  provider.options.insert(from.options().begin(), from.options().end());
  provider.api_key_ref = from.api_key_ref();
  return provider;
}

}  // namespace

session::ChatRequest FieldsFrom(const v1::ChatRequest& request) {
  session::ChatRequest chat;
  chat.project_id = request.project_id();
  chat.session_id = request.session_id();
  chat.prompt = request.prompt();
  chat.request_id = request.request_id();
  chat.agent = request.agent();
  chat.resume_policy.mode = static_cast<session::ResumeMode>(request.resume_policy().mode());
  if (request.resume_policy().has_max_retries())
    chat.resume_policy.max_retries = request.resume_policy().max_retries();
  chat.busy_policy = static_cast<session::BusyPolicy>(request.busy_policy());
  chat.wait_for = static_cast<session::WaitFor>(request.wait_for());
  chat.model_provider = ModelProviderFrom(request);
  chat.permission_mode = static_cast<session::PermissionMode>(request.permission_mode());
  chat.cwd = request.cwd();
  chat.turn_timeout = MillisecondsFrom(request.turn_timeout());
  chat.question_timeout = MillisecondsFrom(request.question_timeout());
  chat.labels.insert(request.labels().begin(), request.labels().end());
  chat.agent_session_id = request.agent_session_id();
  return chat;
}

absl::StatusOr<session::ChatRequest> ChatFrom(const v1::ChatRequest& request,
                                              std::string_view hash_key) {
  if (auto status = CheckChat(request); !status.ok()) return status;
  if (request.prompt().empty()) {
    return session::MakeError("EMPTY_PROMPT", "prompt is empty; say what the agent is to do.");
  }
  return Checked(request, hash_key);
}

absl::StatusOr<session::ChatRequest> SetupFrom(const v1::CreateSessionRequest& request,
                                               std::string_view hash_key) {
  if (!request.setup().prompt().empty() || request.setup().content_size() > 0) {
    return session::MakeError(
        "INVALID_REQUEST",
        "setup.prompt and setup.content have to be empty; use Chat to send a prompt.");
  }
  if (auto status = CheckChat(request.setup()); !status.ok()) return status;
  return Checked(request.setup(), hash_key);
}

absl::StatusOr<session::CancelQuery> CancelFrom(const v1::CancelRequest& request) {
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
  return query;
}

absl::StatusOr<session::RespondQuery> RespondFrom(const v1::RespondRequest& request) {
  using Answer = v1::RespondRequest;
  Checks checks;
  checks.Session(request.session_id());
  checks.Require(!request.question_id().empty(), "INVALID_REQUEST", "question_id is empty.");
  checks.Text("question_id", request.question_id(), kMaxIdBytes);
  checks.Text("comment", request.comment());
  switch (request.answer_case()) {
    case Answer::kOptionId:
      checks.Require(!request.option_id().empty(), "INVALID_ANSWER", "option_id is empty.");
      break;
    case Answer::kCancelled:
      checks.Require(request.cancelled(), "INVALID_ANSWER",
                     "cancelled is false; leave it out and give an answer.");
      break;
    case Answer::kOptionKind:
      checks.Require(v1::PermissionOptionKind_IsValid(request.option_kind()) &&
                         request.option_kind() != v1::PERMISSION_OPTION_KIND_UNSPECIFIED,
                     "INVALID_ANSWER", "option_kind has no known value.");
      break;
    case Answer::kAcceptJson:
      return NotImplemented("accept_json");
    case Answer::kDecline:
      return NotImplemented("decline");
    case Answer::ANSWER_NOT_SET:
      checks.Add(session::MakeError(
          "INVALID_ANSWER", "there is no answer; set option_id, option_kind or cancelled."));
  }
  if (!checks.status().ok()) return checks.status();
  session::RespondQuery query;
  query.session_id = request.session_id();
  query.question_id = request.question_id();
  query.option_id = request.option_id();
  query.cancelled = request.cancelled();
  query.option_kind = static_cast<session::OptionKind>(request.option_kind());
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
