#ifndef ACPD_ACP_TYPES_H_
#define ACPD_ACP_TYPES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "acp/content.h"
#include "acp/options.h"
#include "acp/setup.h"

// ACP v1 as acpd uses it (https://agentclientprotocol.com/protocol): what agents answer, and the
// lines we send. JSON stays inside acp/: these are plain C++ types.
namespace acpd::acp {

// An `error` object of JSON-RPC.
struct RpcError {
  int64_t code = 0;
  std::string message;
  std::string data;  // its `data`, verbatim JSON; empty: none
};

inline constexpr int64_t kInvalidRequest = -32600;
inline constexpr int64_t kMethodNotFound = -32601;
inline constexpr int64_t kInvalidParams = -32602;
inline constexpr int64_t kInternalError = -32603;
inline constexpr int64_t kAuthRequired = -32000;
inline constexpr int64_t kResourceNotFound = -32002;
inline constexpr int64_t kRequestCancelled = -32800;

struct InitializeResult {
  int64_t protocol_version = 0;
  std::string agent_name;
  std::string agent_title;
  std::string agent_version;
  std::string capabilities_json = "{}";  // agentCapabilities, verbatim
  std::string auth_methods_json = "[]";  // authMethods, verbatim
  std::vector<std::string>
      auth_method_ids;  // without type `terminal`, which `authenticate` must not be given
  bool load_session = false;
  bool resume = false;  // sessionCapabilities.*: an object means yes; null, absent, false mean no
  bool close = false;
  bool list = false;
  bool remove = false;  // sessionCapabilities.delete
  bool fork = false;
  bool additional_directories = false;
  bool logout = false;  // auth.logout
  PromptCapabilities prompt;
  McpCapabilities mcp;
};

struct ModeInfo {
  std::string id;
  std::string name;
  std::string description;
};

// The result of session/new, load and resume; every field may be absent.
struct SetupResult {
  std::string session_id;
  std::string current_mode_id;
  std::vector<ModeInfo> modes;
  // Whether the answer has the list, be it empty: who resumes may leave it out.
  bool tells_modes = false, tells_options = false;
  std::string
      current_model_id;  // the config option of category "model", else models.currentModelId
  // configOptions; behind them, where none is of category "model", the one that stands for
  // `models`.
  std::vector<ConfigOption> options;
};

struct TokenUsage {
  std::optional<uint64_t> input_tokens, output_tokens, cached_read_tokens, cached_write_tokens,
      thought_tokens, total_tokens;
};

struct PromptResult {
  std::string stop_reason;
  TokenUsage usage;  // unstable in ACP v1: PromptResponse.usage
};

// usage_update
struct ContextUsage {
  std::optional<uint64_t> used, size;
  std::optional<double> cost;
  std::string currency;
};

struct PermissionOption {
  std::string id;
  std::string name;
  std::string kind;  // allow_once, allow_always, reject_once, reject_always, or what the agent said
};

// The params of session/request_permission.
struct PermissionRequest {
  std::string session_id;
  std::string tool_call_json;  // verbatim
  std::string tool_call_id;
  std::string title;
  std::string tool_kind;
  std::vector<PermissionOption> options;
  std::vector<std::string> paths;  // locations[].path of the tool call
  std::string raw_input;           // its rawInput, verbatim; empty: none
};

// What an update says of a tool call; a permission for it may leave that out.
struct ToolCallFacts {
  std::string kind, title;
  std::vector<std::string> paths;  // of its locations and diffs
};

// Readers of what agents send. INVALID_ARGUMENT with a sentence that names the field when a
// required one is missing or has the wrong type; optional ones of a wrong type count as absent (the
// schema's x-deserialize-default-on-error).
absl::StatusOr<InitializeResult> ReadInitializeResult(std::string_view json);
absl::StatusOr<SetupResult> ReadSetupResult(std::string_view json);  // `null` and `{}` are fine
absl::StatusOr<PromptResult> ReadPromptResult(std::string_view json);
absl::StatusOr<PermissionRequest> ReadPermissionRequest(std::string_view json);
ToolCallFacts ReadToolCallFacts(std::string_view update_json);
RpcError ReadError(std::string_view json);  // never fails: what cannot be read is in `message`
ContextUsage ReadContextUsage(std::string_view update_json);
std::string ReadCurrentMode(
    std::string_view update_json);  // current_mode_update: currentModeId or modeId
// session_info_update: nullopt when there is no `title` in it; "" when it is null.
std::optional<std::string> ReadSessionTitle(std::string_view update_json);
// params.requestId of `$/cancel_request`, as a raw JSON token; empty: none.
std::string ReadCancelledRequestId(std::string_view params_json);
std::string ReadSessionId(
    std::string_view params_json);  // params.sessionId of any request; empty: none

// Further lines that we send, without their newline (the others: setup.h, content.h, options.h
// ...). Ids are our own numbers.
std::string AuthenticateLine(uint64_t id, std::string_view method_id,
                             const TraceContext& trace = {});
std::string CloseSessionLine(uint64_t id, std::string_view session_id,
                             const TraceContext& trace = {});
std::string DeleteSessionLine(uint64_t id, std::string_view session_id,
                              const TraceContext& trace = {});
std::string CancelLine(std::string_view session_id, const TraceContext& trace = {});
// Answers; `request_id` is the raw JSON token that the agent sent.
std::string PermissionSelectedLine(std::string_view request_id, std::string_view option_id);
std::string PermissionCancelledLine(std::string_view request_id);
std::string ErrorLine(std::string_view request_id, int64_t code, std::string_view message);

}  // namespace acpd::acp

#endif  // ACPD_ACP_TYPES_H_
