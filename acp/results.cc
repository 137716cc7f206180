// The readers of what agents send.

#include <algorithm>
#include <utility>

#include "acp/field_reader.h"
#include "acp/json_value.h"
#include "acp/types.h"

namespace acpd::acp {
namespace {

void ReadSessionCapabilities(const JsonObject& capabilities, InitializeResult* result) {
  const JsonObject session = capabilities.Get("sessionCapabilities").Members();
  result->resume = session.Get("resume").IsObject();
  result->close = session.Get("close").IsObject();
  result->list = session.Get("list").IsObject();
  result->remove = session.Get("delete").IsObject();
  result->fork = session.Get("fork").IsObject();
  result->additional_directories = session.Get("additionalDirectories").IsObject();
}

bool IsOn(const JsonObject& capabilities, std::string_view name) {
  return capabilities.Get(name).Bool().value_or(false);
}

void ReadCapabilities(const JsonObject& capabilities, InitializeResult* result) {
  result->load_session = IsOn(capabilities, "loadSession");
  result->logout = capabilities.Get("auth").Members().Get("logout").IsObject();
  const JsonObject prompt = capabilities.Get("promptCapabilities").Members();
  result->prompt = {IsOn(prompt, "image"), IsOn(prompt, "audio"), IsOn(prompt, "embeddedContext")};
  const JsonObject mcp = capabilities.Get("mcpCapabilities").Members();
  result->mcp = {IsOn(mcp, "http"), IsOn(mcp, "sse")};
  ReadSessionCapabilities(capabilities, result);
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

// The first option of a category; nullptr: none.
const ConfigOption* OptionOf(const std::vector<ConfigOption>& options, std::string_view category) {
  for (const ConfigOption& option : options) {
    if (option.category == category && !option.is_boolean) return &option;
  }
  return nullptr;
}

bool HasOption(const std::vector<ConfigOption>& options, std::string_view id) {
  return std::any_of(options.begin(), options.end(),
                     [id](const ConfigOption& option) { return option.id == id; });
}

// Agents that still send `models` beside an option for the model mean the same by both.
void ReadOptions(std::string_view json, SetupResult* result) {
  const std::string_view list = ConfigOptionsIn(json);
  result->options = ReadConfigOptions(list);
  ConfigOption models = ReadLegacyModels(json);
  if (const ConfigOption* model = OptionOf(result->options, "model")) {
    result->current_model_id = model->select;
  } else if (!models.id.empty()) {
    result->current_model_id = models.select;
    if (!HasOption(result->options, models.id)) result->options.push_back(std::move(models));
  }
  result->tells_options = !list.empty() || !result->options.empty();
}

// Rules by path are about these. All of them: a rule that allows has to fit each one.
void ReadPaths(const JsonValue& locations, FieldReader& reader, std::vector<std::string>* paths) {
  constexpr size_t kMaxPaths = 1024;
  for (const JsonValue& item : locations.Items()) {
    std::optional<std::string> path = item.Members().Get("path").String();
    if (!path) continue;
    if (paths->size() == kMaxPaths) {
      reader.Refuse("toolCall.locations", "an array of at most 1024 paths");
      return;
    }
    paths->push_back(std::move(*path));
  }
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
  FieldReader reader(json, "answer to initialize");
  const std::optional<int64_t> version = reader.Get("protocolVersion").Int();
  if (!version) reader.Refuse("protocolVersion", "a number");
  if (!reader.ok()) return reader.status();

  InitializeResult result;
  result.protocol_version = *version;
  const JsonObject info = reader.Get("agentInfo").Members();
  result.agent_name = info.StringOr("name");
  result.agent_title = info.StringOr("title");
  result.agent_version = info.StringOr("version");
  if (const JsonValue capabilities = reader.Get("agentCapabilities"); capabilities.IsObject()) {
    result.capabilities_json = capabilities.raw();
    ReadCapabilities(capabilities.Members(), &result);
  }
  if (const JsonValue methods = reader.Get("authMethods"); methods.IsArray()) {
    result.auth_methods_json = methods.raw();
    result.auth_method_ids = ReadAuthMethodIds(methods);
  }
  return result;
}

absl::StatusOr<SetupResult> ReadSetupResult(std::string_view json) {
  const std::optional<JsonValue> value = JsonValue::Parse(json);
  if (value && value->IsNull()) return SetupResult();
  FieldReader reader(json, "answer to the session's set-up");
  if (!reader.ok()) return reader.status();

  SetupResult result;
  result.session_id = reader.object().StringOr("sessionId");
  ReadOptions(json, &result);
  const JsonObject modes = reader.Get("modes").Members();
  result.modes = ReadModes(modes.Get("availableModes"));
  result.tells_modes = modes.Get("availableModes").IsArray();
  // Who has both means the option.
  const ConfigOption* mode = OptionOf(result.options, "mode");
  result.current_mode_id = mode != nullptr ? mode->select : modes.StringOr("currentModeId");
  return result;
}

absl::StatusOr<PromptResult> ReadPromptResult(std::string_view json) {
  FieldReader reader(json, "answer to session/prompt");
  PromptResult result;
  result.stop_reason = reader.String("stopReason");
  if (!reader.ok()) return reader.status();
  result.usage = ReadUsage(reader.Get("usage").Members());
  return result;
}

absl::StatusOr<PermissionRequest> ReadPermissionRequest(std::string_view json) {
  FieldReader reader(json, "session/request_permission");
  PermissionRequest request;
  request.session_id = reader.String("sessionId");
  const JsonValue tool_call = reader.Object("toolCall");
  const JsonObject call = tool_call.Members();
  std::optional<std::string> call_id = call.Get("toolCallId").String();
  if (!call_id) reader.Refuse("toolCall.toolCallId", "a string");
  for (const JsonValue& item : reader.Array("options").Items()) {
    const JsonObject option = item.Members();
    std::optional<std::string> id = option.Get("optionId").String();
    if (!id) {
      reader.Refuse("options[].optionId", "a string");
      break;
    }
    request.options.push_back({std::move(*id), option.StringOr("name"), option.StringOr("kind")});
  }
  ReadPaths(call.Get("locations"), reader, &request.paths);
  if (!reader.ok()) return reader.status();
  request.tool_call_json = tool_call.raw();
  request.tool_call_id = std::move(*call_id);
  request.title = call.StringOr("title");
  request.tool_kind = call.StringOr("kind");
  request.raw_input = std::string(call.Get("rawInput").raw());
  return request;
}

ToolCallFacts ReadToolCallFacts(std::string_view update_json) {
  constexpr size_t kMaxPaths = 1024;
  const JsonObject update = AnyObject(update_json);
  ToolCallFacts facts;
  facts.kind = update.StringOr("kind");
  facts.title = update.StringOr("title");
  for (const char* list : {"locations", "content"}) {
    for (const JsonValue& item : update.Get(list).Items()) {
      std::optional<std::string> path = item.Members().Get("path").String();
      if (path && facts.paths.size() < kMaxPaths) facts.paths.push_back(std::move(*path));
    }
  }
  return facts;
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
