#include "acp/update_reader.h"

#include "acp/simdjson_raw.h"

namespace acpd::acp {
namespace {

namespace ondemand = simdjson::ondemand;

// Unescaped; empty for what is no string.
std::string_view String(ondemand::value& value) {
  std::string_view text;
  if (value.get_string().get(text)) return {};
  return text;
}

bool IsObject(ondemand::value& value) { return value.raw_json_token().starts_with('{'); }

// The object that starts at `start` and was read to its end: simdjson now stands at the token
// behind it.
bool EndAtBrace(ondemand::document& document, const char* start, std::string_view* json) {
  const char* end = nullptr;
  if (document.current_location().get(end)) return false;
  while (end > start && end[-1] != '}') --end;
  *json = std::string_view(start, static_cast<size_t>(end - start));
  return true;
}

// Calls `member(key, value)` for each member of `value`, an object.
template <typename Member>
bool ForEach(ondemand::value& value, Member member) {
  ondemand::object object;
  if (value.get_object().get(object)) return false;
  for (auto each : object) {
    ondemand::field field;
    if (std::move(each).get(field)) return false;
    if (!member(MemberName(field), field.value())) return false;
  }
  return true;
}

bool ReadContent(ondemand::value& content, UpdateView* update) {
  std::string_view type;
  std::string_view text;
  const bool ok = ForEach(content, [&](std::string_view key, ondemand::value& value) {
    if (key == "type") type = String(value);
    if (key == "text") text = String(value);
    return true;
  });
  update->text = type == "text" ? text : std::string_view();
  return ok;
}

bool ReadUpdateMember(std::string_view key, ondemand::value& value, UpdateView* update) {
  if (key == "sessionUpdate") {
    update->kind = String(value);
  } else if (key == "content") {
    update->text = {};
    return !IsObject(value) || ReadContent(value, update);
  } else if (key == "messageId") {
    update->message_id = String(value);
  } else if (key == "toolCallId") {
    update->tool_call_id = String(value);
  } else if (key == "status") {
    update->tool_status = String(value);
  } else if (key == "title") {
    update->title = String(value);
  }
  return true;
}

bool ReadUpdate(ondemand::document& document, ondemand::value& value, UpdateView* update) {
  // Of two updates the last one counts.
  const std::string_view session_id = update->session_id;
  *update = {};
  update->session_id = session_id;
  if (!IsObject(value)) return true;
  const char* start = value.raw_json_token().data();
  const bool read = ForEach(value, [update](std::string_view key, ondemand::value& inner) {
    return ReadUpdateMember(key, inner, update);
  });
  // Other kinds have a status, too.
  if (!update->kind.starts_with("tool_call")) update->tool_status = {};
  return read && EndAtBrace(document, start, &update->json);
}

}  // namespace

bool ReadParams(ondemand::document& document, ondemand::value& params, std::string_view* json,
                UpdateView* update) {
  *update = {};
  if (!IsObject(params)) return RawJson(params, json);
  const char* start = params.raw_json_token().data();
  return ForEach(params,
                 [&](std::string_view key, ondemand::value& value) {
                   if (key == "sessionId") update->session_id = String(value);
                   return key == "update" ? ReadUpdate(document, value, update) : true;
                 }) &&
         EndAtBrace(document, start, json);
}

}  // namespace acpd::acp
