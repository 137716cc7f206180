// The readers of what agents send.

#include <utility>

#include "absl/status/status.h"
#include "acp/json_value.h"
#include "acp/types.h"

namespace acpd::acp {
namespace {

absl::Status Bad(const std::string& what, const std::string& field, const std::string& wanted) {
  return absl::InvalidArgumentError("The agent's " + what + " has no readable `" + field + "` (" +
                                    wanted + " is expected).");
}

absl::StatusOr<JsonObject> ReadObject(std::string_view json, const std::string& what) {
  const std::optional<JsonValue> value = JsonValue::Parse(json);
  if (!value || !value->IsObject()) {
    return absl::InvalidArgumentError("The agent's " + what + " is not an object.");
  }
  return value->Members();
}

// For what is optional as a whole: no object is one without members.
JsonObject AnyObject(std::string_view json) {
  const std::optional<JsonValue> value = JsonValue::Parse(json);
  return value ? value->Members() : JsonObject();
}

void ReadSessionCapabilities(const JsonObject& capabilities, InitializeResult* result) {
  const JsonObject session = capabilities.Get("sessionCapabilities").Members();
  result->resume = session.Get("resume").IsObject();
  result->close = session.Get("close").IsObject();
  result->list = session.Get("list").IsObject();
  result->remove = session.Get("delete").IsObject();
  result->fork = session.Get("fork").IsObject();
}

// A method of type `terminal` is run by a person and must not be passed to `authenticate`.
std::vector<std::string> ReadAuthMethodIds(const JsonValue& methods) {
  std::vector<std::string> ids;
  for (const JsonValue& item : methods.Items()) {
    const JsonObject method = item.Members();
    std::optional<std::string> id = method.Get("id").String();
    if (id && method.StringOr("type") != "terminal") ids.push_back(std::move(*id));
  }
  return ids;
}

std::vector<ModeInfo> ReadModes(const JsonValue& modes) {
  std::vector<ModeInfo> infos;
  for (const JsonValue& item : modes.Items()) {
    const JsonObject mode = item.Members();
    std::optional<std::string> id = mode.Get("id").String();
    if (!id) continue;
    ModeInfo info;
    info.name = mode.StringOr("name", *id);
    info.description = mode.StringOr("description");
    info.id = std::move(*id);
    infos.push_back(std::move(info));
  }
  return infos;
}

std::string ReadModelOption(const JsonValue& config_options) {
  for (const JsonValue& item : config_options.Items()) {
    const JsonObject option = item.Members();
    if (option.StringOr("category") == "model") return option.StringOr("currentValue");
  }
  return "";
}

TokenUsage ReadUsage(const JsonObject& usage) {
  TokenUsage tokens;
  tokens.input_tokens = usage.Get("inputTokens").Uint();
  tokens.output_tokens = usage.Get("outputTokens").Uint();
  tokens.cached_read_tokens = usage.Get("cachedReadTokens").Uint();
  tokens.cached_write_tokens = usage.Get("cachedWriteTokens").Uint();
  tokens.thought_tokens = usage.Get("thoughtTokens").Uint();
  tokens.total_tokens = usage.Get("totalTokens").Uint();
  return tokens;
}

}  // namespace

absl::StatusOr<InitializeResult> ReadInitializeResult(std::string_view json) {
  constexpr char kWhat[] = "answer to initialize";
  absl::StatusOr<JsonObject> object = ReadObject(json, kWhat);
  if (!object.ok()) return object.status();
  const std::optional<int64_t> version = object->Get("protocolVersion").Int();
  if (!version) return Bad(kWhat, "protocolVersion", "a number");

  InitializeResult result;
  result.protocol_version = *version;
  const JsonObject info = object->Get("agentInfo").Members();
  result.agent_name = info.StringOr("name");
  result.agent_title = info.StringOr("title");
  result.agent_version = info.StringOr("version");
  if (const JsonValue value = object->Get("agentCapabilities"); value.IsObject()) {
    const JsonObject capabilities = value.Members();
    result.capabilities_json = value.raw();
    result.load_session = capabilities.Get("loadSession").Bool().value_or(false);
    ReadSessionCapabilities(capabilities, &result);
  }
  if (const JsonValue methods = object->Get("authMethods"); methods.IsArray()) {
    result.auth_methods_json = methods.raw();
    result.auth_method_ids = ReadAuthMethodIds(methods);
  }
  return result;
}

absl::StatusOr<SetupResult> ReadSetupResult(std::string_view json) {
  const std::optional<JsonValue> value = JsonValue::Parse(json);
  if (value && value->IsNull()) return SetupResult();
  absl::StatusOr<JsonObject> object = ReadObject(json, "answer to the session's set-up");
  if (!object.ok()) return object.status();

  SetupResult result;
  result.session_id = object->StringOr("sessionId");
  const JsonObject modes = object->Get("modes").Members();
  result.current_mode_id = modes.StringOr("currentModeId");
  result.modes = ReadModes(modes.Get("availableModes"));
  const JsonValue options = object->Get("configOptions");
  if (options.IsArray()) result.config_options_json = options.raw();
  result.current_model_id = object->Get("models").Members().StringOr("currentModelId");
  if (result.current_model_id.empty()) result.current_model_id = ReadModelOption(options);
  return result;
}

absl::StatusOr<PromptResult> ReadPromptResult(std::string_view json) {
  constexpr char kWhat[] = "answer to session/prompt";
  absl::StatusOr<JsonObject> object = ReadObject(json, kWhat);
  if (!object.ok()) return object.status();
  std::optional<std::string> reason = object->Get("stopReason").String();
  if (!reason) return Bad(kWhat, "stopReason", "a string");
  PromptResult result;
  result.stop_reason = std::move(*reason);
  result.usage = ReadUsage(object->Get("usage").Members());
  return result;
}

absl::StatusOr<PermissionRequest> ReadPermissionRequest(std::string_view json) {
  constexpr char kWhat[] = "session/request_permission";
  absl::StatusOr<JsonObject> object = ReadObject(json, kWhat);
  if (!object.ok()) return object.status();
  std::optional<std::string> session_id = object->Get("sessionId").String();
  if (!session_id) return Bad(kWhat, "sessionId", "a string");
  const JsonValue tool_call = object->Get("toolCall");
  if (!tool_call.IsObject()) return Bad(kWhat, "toolCall", "an object");
  const JsonObject call = tool_call.Members();
  std::optional<std::string> call_id = call.Get("toolCallId").String();
  if (!call_id) return Bad(kWhat, "toolCall.toolCallId", "a string");
  const JsonValue options = object->Get("options");
  if (!options.IsArray()) return Bad(kWhat, "options", "an array");

  PermissionRequest request;
  request.session_id = std::move(*session_id);
  request.tool_call_json = tool_call.raw();
  request.tool_call_id = std::move(*call_id);
  request.title = call.StringOr("title");
  request.tool_kind = call.StringOr("kind");
  for (const JsonValue& item : options.Items()) {
    const JsonObject option = item.Members();
    std::optional<std::string> id = option.Get("optionId").String();
    if (!id) return Bad(kWhat, "options[].optionId", "a string");
    request.options.push_back({std::move(*id), option.StringOr("name"), option.StringOr("kind")});
  }
  return request;
}

RpcError ReadError(std::string_view json) {
  RpcError error;
  const std::optional<JsonValue> value = JsonValue::Parse(json);
  if (!value || !value->IsObject()) {
    const std::optional<std::string> text = value ? value->String() : std::nullopt;
    error.message = text ? *text : std::string(json);
    return error;
  }
  const JsonObject object = value->Members();
  error.code = object.Get("code").Int().value_or(0);
  error.message = object.Get("message").String().value_or(std::string(value->raw()));
  error.data = object.Get("data").raw();
  return error;
}

ContextUsage ReadContextUsage(std::string_view update_json) {
  const JsonObject update = AnyObject(update_json);
  const JsonObject cost = update.Get("cost").Members();
  ContextUsage usage;
  usage.used = update.Get("used").Uint();
  usage.size = update.Get("size").Uint();
  usage.cost = cost.Get("amount").Double();
  usage.currency = cost.StringOr("currency");
  return usage;
}

std::string ReadCurrentMode(std::string_view update_json) {
  const JsonObject update = AnyObject(update_json);
  return update.StringOr("currentModeId", update.StringOr("modeId"));
}

std::optional<std::string> ReadSessionTitle(std::string_view update_json) {
  const JsonValue title = AnyObject(update_json).Get("title");
  return title.IsNull() ? std::optional<std::string>("") : title.String();
}

std::string ReadCancelledRequestId(std::string_view params_json) {
  const JsonObject params = AnyObject(params_json);
  const std::string_view id = params.Get("requestId").raw();
  return IsRpcId(id) ? std::string(id) : std::string();
}

std::string ReadSessionId(std::string_view params_json) {
  return AnyObject(params_json).StringOr("sessionId");
}

}  // namespace acpd::acp
