#include "acp/elicitation.h"

#include "acp/field_reader.h"
#include "acp/json_value.h"
#include "acp/lines.h"
#include "acp/text_formats.h"

namespace acpd::acp {
namespace {

// A session, or a request of ours that the agent is answering.
void ReadScope(FieldReader& reader, Elicitation& elicitation) {
  elicitation.session_id = reader.object().StringOr("sessionId");
  elicitation.tool_call_id = reader.object().StringOr("toolCallId");
  const std::string_view request_id = reader.Get("requestId").raw();
  if (IsRpcId(request_id)) elicitation.request_id = request_id;
  if (elicitation.session_id.empty() && elicitation.request_id.empty()) {
    reader.Refuse("sessionId", "a string, or a `requestId`,");
  }
}

void ReadMode(FieldReader& reader, Elicitation& elicitation) {
  const std::string mode = reader.String("mode");
  elicitation.url_mode = mode == "url";
  if (elicitation.url_mode) {
    elicitation.elicitation_id = reader.String("elicitationId");
    elicitation.url = reader.String("url");
    if (!FitsFormat(elicitation.url, "uri")) reader.Refuse("url", "a URI with its scheme");
  } else if (mode == "form") {
    elicitation.schema_json = reader.Object("requestedSchema").raw();
  } else {
    reader.Refuse("mode", "`form` or `url`");
  }
}

std::string ActionLine(std::string_view request_id, const char* action) {
  return ResultLine(request_id, {{"action", action}});
}

}  // namespace

absl::StatusOr<Elicitation> ReadElicitation(std::string_view params_json) {
  FieldReader reader(params_json, "elicitation/create");
  Elicitation elicitation;
  elicitation.message = reader.String("message");
  ReadScope(reader, elicitation);
  ReadMode(reader, elicitation);
  if (!reader.ok()) return reader.status();
  return elicitation;
}

std::string ReadElicitationId(std::string_view params_json) {
  return AnyObject(params_json).StringOr("elicitationId");
}

// The content is sent as it was given: numbers keep their digits. Newlines in JSON are white space.
std::string ElicitationAcceptLine(std::string_view request_id, std::string_view content_json) {
  const std::optional<JsonValue> content = JsonValue::Parse(content_json);
  std::string line = ActionLine(request_id, "accept");
  if (!content || !content->IsObject()) return line;
  std::string text = ",\"content\":" + std::string(content->raw());
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return line.insert(line.size() - 2, text);  // in front of the braces of result and message
}

std::string ElicitationDeclineLine(std::string_view request_id) {
  return ActionLine(request_id, "decline");
}

std::string ElicitationCancelLine(std::string_view request_id) {
  return ActionLine(request_id, "cancel");
}

}  // namespace acpd::acp
