#include "server/chat_request.h"

#include "acp/setup.h"
#include "server/content.h"
#include "server/mcp_servers.h"
#include "server/option_request.h"
#include "server/request_checks.h"
#include "server/stored_request.h"
#include "server/strings.h"
#include "session/errors.h"

namespace acpd::server {
namespace {

constexpr size_t kMaxSystemPrompt = 256u << 10;
constexpr size_t kMaxMeta = 64u << 10;
constexpr int kMaxDirectories = 64;
constexpr int kMaxOptions = 64;

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

void CheckMeta(const std::string& meta_json, Checks& checks) {
  checks.Text("meta_json", meta_json, kMaxMeta);
  if (meta_json.empty() || !checks.status().ok()) return;
  const absl::Status good = acp::CheckSetupMeta(meta_json);
  checks.Require(good.ok(), "INVALID_REQUEST", Cat("meta_json: ", good.message()));
}

void CheckDirectories(const v1::ChatRequest& request, Checks& checks) {
  const auto& folders = request.additional_directories();
  checks.Count("additional_directories", folders.size(), kMaxDirectories);
  for (int i = 0; i < folders.size() && checks.status().ok(); ++i) {
    const std::string field = Cat("additional_directories[", i, "]");
    checks.Text(field, folders[i]);
    checks.Require(folders[i].starts_with('/'), "CWD_NOT_ALLOWED",
                   Cat(field, " is no absolute path."));
  }
}

// What the session is set up with, and what is set in it.
void CheckSettings(const v1::ChatRequest& request, Checks& checks) {
  checks.Require(!request.clear_mcp_servers() || request.mcp_servers().empty(), "INVALID_REQUEST",
                 "clear_mcp_servers goes with no mcp_servers; name those that are to be there.");
  CheckMcpServers(request.mcp_servers(), checks);
  checks.Text("system_prompt", request.system_prompt(), kMaxSystemPrompt);
  CheckMeta(request.meta_json(), checks);
  CheckDirectories(request, checks);
  checks.Text("mode_id", request.mode_id());
  checks.Count("config_options", request.config_options_size(), kMaxOptions);
  for (int i = 0; i < request.config_options_size() && checks.status().ok(); ++i)
    CheckOptionValue(Cat("config_options[", i, "]"), request.config_options(i), checks);
}

void CheckPrompt(const v1::ChatRequest& request, const RequestRules& rules,
                 const acp::TraceContext& trace, Checks& checks) {
  CheckContent(request.content(), checks);
  if (!checks.status().ok()) return;
  const size_t line = PromptLineBytes(request, trace);
  checks.Require(line <= rules.max_line, "INVALID_REQUEST",
                 Cat("prompt and content make a line of ", line,
                     " bytes for the agent (media and blobs grow by a third), over its limit of ",
                     rules.max_line, "; send less of it, or a resource_link to a file."));
}

absl::Status CheckChat(const v1::ChatRequest& request, const RequestRules& rules,
                       const acp::TraceContext& trace) {
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
  if (checks.status().ok()) CheckSettings(request, checks);
  if (checks.status().ok()) CheckPrompt(request, rules, trace, checks);
  return checks.status();
}

session::ChatRequest Checked(const v1::ChatRequest& request, const RequestRules& rules,
                             const acp::TraceContext& trace) {
  session::ChatRequest chat = FieldsFrom(request);
  chat.trace = trace;
  chat.stored_bytes = EncodeRequest(request, trace, rules.store_mcp_secrets);
  chat.content_hash = ContentHash(request, rules.hash_key);
  return chat;
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

session::ResumePolicy ResumePolicyFrom(const v1::ResumePolicy& from) {
  session::ResumePolicy policy;
  policy.mode = static_cast<session::ResumeMode>(from.mode());
  if (from.has_max_retries()) policy.max_retries = from.max_retries();
  policy.preserve_mcp_servers = !from.has_preserve_mcp_servers() || from.preserve_mcp_servers();
  return policy;
}

// Unset is what changes nothing.
void SetSettings(const v1::ChatRequest& request, session::ChatRequest& chat) {
  if (request.clear_mcp_servers() || !request.mcp_servers().empty())
    chat.mcp_servers = McpServersFrom(request.mcp_servers());
  if (!request.system_prompt().empty()) chat.system_prompt = request.system_prompt();
  if (!request.meta_json().empty()) chat.meta_json = request.meta_json();
  const auto& folders = request.additional_directories();
  if (!folders.empty()) chat.additional_directories.emplace(folders.begin(), folders.end());
  chat.mode_id = request.mode_id();
  for (const auto& option : request.config_options())
    chat.config_options.push_back(OptionValueFrom(option));
}

}  // namespace

session::ChatRequest FieldsFrom(const v1::ChatRequest& request) {
  session::ChatRequest chat;
  chat.project_id = request.project_id();
  chat.session_id = request.session_id();
  chat.prompt = request.prompt();
  chat.content = ContentFrom(request.content());
  chat.request_id = request.request_id();
  chat.agent = request.agent();
  chat.resume_policy = ResumePolicyFrom(request.resume_policy());
  chat.busy_policy = static_cast<session::BusyPolicy>(request.busy_policy());
  chat.wait_for = static_cast<session::WaitFor>(request.wait_for());
  chat.model_provider = ModelProviderFrom(request);
  chat.permission_mode = static_cast<session::PermissionMode>(request.permission_mode());
  chat.cwd = request.cwd();
  chat.turn_timeout = MillisecondsFrom(request.turn_timeout());
  chat.question_timeout = MillisecondsFrom(request.question_timeout());
  chat.labels.insert(request.labels().begin(), request.labels().end());
  chat.agent_session_id = request.agent_session_id();
  SetSettings(request, chat);
  return chat;
}

absl::StatusOr<session::ChatRequest> ChatFrom(const v1::ChatRequest& request,
                                              const RequestRules& rules,
                                              const acp::TraceContext& trace) {
  if (auto status = CheckChat(request, rules, trace); !status.ok()) return status;
  if (request.prompt().empty() && request.content().empty()) {
    return session::MakeError("EMPTY_PROMPT",
                              "prompt and content are empty; say what the agent is to do.");
  }
  return Checked(request, rules, trace);
}

absl::StatusOr<session::ChatRequest> SetupFrom(const v1::CreateSessionRequest& request,
                                               const RequestRules& rules,
                                               const acp::TraceContext& trace) {
  if (!request.setup().prompt().empty() || request.setup().content_size() > 0) {
    return session::MakeError(
        "INVALID_REQUEST",
        "setup.prompt and setup.content have to be empty; use Chat to send a prompt.");
  }
  if (auto status = CheckChat(request.setup(), rules, trace); !status.ok()) return status;
  return Checked(request.setup(), rules, trace);
}

absl::StatusOr<session::ChatRequest> ForkFrom(const v1::ForkSessionRequest& request,
                                              const RequestRules& rules,
                                              const acp::TraceContext& trace) {
  Checks checks;
  checks.Session(request.session_id());
  if (!request.request_id().empty()) checks.RequestId(request.request_id());
  checks.Map("labels", request.labels());
  if (!checks.status().ok()) return checks.status();
  v1::ChatRequest setup;
  setup.set_session_id(request.session_id());
  setup.set_request_id(request.request_id());
  *setup.mutable_labels() = request.labels();
  return Checked(setup, rules, trace);
}

}  // namespace acpd::server
