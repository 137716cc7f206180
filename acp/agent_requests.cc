#include "acp/agent_requests.h"

#include "acp/field_reader.h"
#include "acp/json_value.h"
#include "acp/lines.h"
#include "acp/text.h"

namespace acpd::acp {
namespace {

bool HasNul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

// What the kernel takes as a C string: it would be cut at a NUL, behind which something else than
// what was checked may stand.
std::string SystemString(FieldReader& reader, std::string_view name) {
  std::string text = reader.String(name);
  if (HasNul(text)) reader.Refuse(name, "a string without NUL characters");
  return text;
}

std::vector<std::string> ReadArgs(FieldReader& reader) {
  std::vector<std::string> args;
  if (reader.Get("args").IsNull() || !reader.object().Has("args")) return args;
  for (const JsonValue& item : reader.Array("args").Items()) {
    std::optional<std::string> arg = item.String();
    if (!arg || HasNul(*arg)) {
      reader.Refuse("args", "an array of strings without NUL characters");
      break;
    }
    args.push_back(std::move(*arg));
  }
  return args;
}

bool IsEnvironmentName(std::string_view name) {
  return !name.empty() && !HasNul(name) && name.find('=') == std::string_view::npos;
}

std::vector<std::pair<std::string, std::string>> ReadEnv(FieldReader& reader) {
  std::vector<std::pair<std::string, std::string>> env;
  if (reader.Get("env").IsNull() || !reader.object().Has("env")) return env;
  for (const JsonValue& item : reader.Array("env").Items()) {
    const JsonObject pair = item.Members();
    std::optional<std::string> name = pair.Get("name").String();
    std::optional<std::string> value = pair.Get("value").String();
    if (!name || !value || !IsEnvironmentName(*name) || HasNul(*value)) {
      reader.Refuse("env", "an array of {name, value}, names without `=` and both without NUL,");
      break;
    }
    env.emplace_back(std::move(*name), std::move(*value));
  }
  return env;
}

// The rest of a character whose front was cut away.
std::string_view WithoutCutCharacter(std::string_view text) {
  size_t at = 0;
  while (at < text.size() && at < 3 && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80) ++at;
  return text.substr(at);
}

LineJson ExitJson(const TerminalExit& exit) {
  LineJson json = {{"exitCode", nullptr}, {"signal", nullptr}};
  if (exit.exit_code && *exit.exit_code >= 0) json["exitCode"] = *exit.exit_code;
  if (!exit.signal.empty()) json["signal"] = exit.signal;
  return json;
}

}  // namespace

absl::StatusOr<ReadFileRequest> ReadReadFileRequest(std::string_view params_json) {
  FieldReader reader(params_json, "fs/read_text_file");
  ReadFileRequest request;
  request.session_id = reader.String("sessionId");
  request.path = SystemString(reader, "path");
  request.line = reader.CountOrNull("line");
  request.limit = reader.CountOrNull("limit");
  if (!reader.ok()) return reader.status();
  return request;
}

std::string FileContentLine(std::string_view request_id, std::string_view content) {
  return ResultLine(request_id, {{"content", content}});
}

absl::StatusOr<WriteFileRequest> ReadWriteFileRequest(std::string_view params_json) {
  FieldReader reader(params_json, "fs/write_text_file");
  WriteFileRequest request;
  request.session_id = reader.String("sessionId");
  request.path = SystemString(reader, "path");
  request.content = reader.String("content");
  if (!reader.ok()) return reader.status();
  return request;
}

absl::StatusOr<CreateTerminalRequest> ReadCreateTerminalRequest(std::string_view params_json) {
  FieldReader reader(params_json, "terminal/create");
  CreateTerminalRequest request;
  request.session_id = reader.String("sessionId");
  request.command = SystemString(reader, "command");
  request.args = ReadArgs(reader);
  request.env = ReadEnv(reader);
  request.cwd = reader.StringOrNull("cwd");
  if (HasNul(request.cwd)) reader.Refuse("cwd", "a string without NUL characters");
  request.output_byte_limit = reader.CountOrNull("outputByteLimit");
  if (!reader.ok()) return reader.status();
  return request;
}

std::string TerminalCreatedLine(std::string_view request_id, std::string_view terminal_id) {
  return ResultLine(request_id, {{"terminalId", terminal_id}});
}

absl::StatusOr<TerminalRequest> ReadTerminalRequest(std::string_view params_json) {
  FieldReader reader(params_json, "terminal request");
  TerminalRequest request;
  request.session_id = reader.String("sessionId");
  request.terminal_id = reader.String("terminalId");
  if (!reader.ok()) return reader.status();
  return request;
}

std::string TerminalOutputLine(std::string_view request_id, std::string_view output, bool truncated,
                               const std::optional<TerminalExit>& exit) {
  if (truncated) output = WithoutCutCharacter(output);
  LineJson result = {{"output", RepairText(output)}, {"truncated", truncated}};
  if (exit) result["exitStatus"] = ExitJson(*exit);
  return ResultLine(request_id, result);
}

std::string TerminalExitLine(std::string_view request_id, const TerminalExit& exit) {
  return ResultLine(request_id, ExitJson(exit));
}

std::string EmptyResultLine(std::string_view request_id) {
  return ResultLine(request_id, LineJson::object());
}

}  // namespace acpd::acp
