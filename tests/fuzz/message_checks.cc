#include "tests/fuzz/message_checks.h"

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>

#include "acp/json_value.h"
#include "acp/text.h"
#include "acp/top_level_scan.h"
#include "acp/types.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/reader_checks.h"

namespace acpd::fuzz {
namespace {

using acp::Message;
using Kind = Message::Kind;
using Json = nlohmann::json;

// The scan gives up tokens over 1 KiB; a character has at most 12 bytes of escapes.
constexpr size_t kScannedText = 80;

std::string All(const Message& m) {
  std::string all = std::to_string(static_cast<int>(m.kind)) + (m.too_deep ? "deep" : "");
  for (const std::string_view part :
       {m.id, m.method, m.params, m.result, m.error, m.update.session_id, m.update.json,
        m.update.kind, m.update.text, m.update.message_id, m.update.tool_call_id,
        m.update.tool_status, m.update.title}) {
    all.append("\n").append(part);
  }
  return all;
}

std::string_view WithoutMark(std::string_view line) {
  return line.substr(line.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
}

// NUL is the end of the text to nlohmann. It knows no depth either.
bool IsJson(std::string_view text) {
  return text.find('\0') == text.npos && !text.starts_with(kByteOrderMark) && Json::accept(text);
}

void CheckText(const Message& m) {
  for (const std::string_view text :
       {m.method, m.update.session_id, m.update.kind, m.update.text, m.update.message_id,
        m.update.tool_call_id, m.update.tool_status, m.update.title}) {
    Require(IsCleanText(text), "text that is given out is UTF-8");
  }
}

// `line` is where the slices have to lie when nothing in it had to be repaired.
void CheckSlices(const Message& m, std::string_view line) {
  const bool clean = IsCleanJsonText(line) && !m.too_deep;
  for (const std::string_view slice : {m.id, m.params, m.result, m.error, m.update.json}) {
    if (slice.empty()) continue;
    Require(IsCleanJsonText(slice) && IsJson(slice), "a slice is JSON");
    Require(acp::JsonValue::Parse(slice)->raw() == slice, "a slice has no white space around it");
    const bool inside =
        slice.data() >= line.data() && slice.data() + slice.size() <= line.data() + line.size();
    Require(inside || !clean, "a slice lies within its line");
  }
}

void CheckKind(const Message& m) {
  const bool method = !m.method.empty();
  switch (m.kind) {
    case Kind::kNotJson:
      Require(!method && m.id.empty() && m.result.empty() && m.error.empty(), "noise has no parts");
      break;
    case Kind::kUpdate:
      Require(m.method == "session/update" && m.id.empty() && m.update.json.starts_with('{'),
              "an update is a notification with an object");
      break;
    case Kind::kRequest:
      Require(acp::IsRpcId(m.id), "a request has an id");
      break;
    case Kind::kResult:
      Require(acp::IsRpcId(m.id) && !m.result.empty() && !method, "a result answers a request");
      break;
    case Kind::kError:
      Require(!m.error.empty() && !method, "an error has its object");
      break;
    case Kind::kNotification:
      Require(m.id.empty(), "a notification has no id");
      break;
    case Kind::kInvalid:
      break;
  }
}

std::string StringAt(const Json& json, const char* name) {
  if (!json.is_object()) return "";
  const auto at = json.find(name);
  return at != json.end() && at->is_string() ? at->get<std::string>() : "";
}

Json ObjectAt(const Json& json, const char* name) {
  if (!json.is_object()) return nullptr;
  const auto at = json.find(name);
  return at != json.end() && at->is_object() ? *at : Json();
}

void CheckUpdate(const acp::UpdateView& update, const Json& params) {
  const Json expected = ObjectAt(params, "update");
  const Json content = ObjectAt(expected, "content");
  const bool text = StringAt(content, "type") == "text";
  const bool tool_call = update.kind.starts_with("tool_call");  // other kinds have a status, too
  Require(
      Json::parse(update.json) == expected && update.session_id == StringAt(params, "sessionId"),
      "an update is what the line has");
  Require(update.kind == StringAt(expected, "sessionUpdate") &&
              update.message_id == StringAt(expected, "messageId") &&
              update.tool_call_id == StringAt(expected, "toolCallId") &&
              update.tool_status == (tool_call ? StringAt(expected, "status") : "") &&
              update.title == StringAt(expected, "title") &&
              update.text == (text ? StringAt(content, "text") : ""),
          "an update's parts are what the line has");
}

// The same line through the second library. Lines with escapes are left out: the two differ over
// half a surrogate pair.
void CompareWithSecondReader(const Message& m, std::string_view line) {
  if (line.find('\\') != line.npos || !IsCleanJsonText(line)) return;
  const bool json = IsJson(line);
  if (m.kind == Kind::kNotJson) {
    Require(!json || line.find_first_of("{[") > line.find_first_not_of(" \t\r\n"),
            "what is a JSON object or array is not taken for noise");
    return;
  }
  Require(json || m.too_deep, "what is taken for JSON is JSON");
  if (m.kind == Kind::kInvalid) return;
  const Json whole = Json::parse(line);
  Require(m.method == StringAt(whole, "method"), "the method is the line's");
  const auto same = [&whole](std::string_view slice, const char* name) {
    return slice.empty() ? !whole.contains(name) : Json::parse(slice) == whole[name];
  };
  Require(same(m.id, "id") && same(m.params, "params") && same(m.result, "result") &&
              same(m.error, "error"),
          "the parts are the line's");
  if (m.kind == Kind::kUpdate) CheckUpdate(m.update, whole["params"]);
}

// A line over the cap is known only by the scan: it must not say anything else than the parser.
void CompareWithScan(const Message& m, std::string_view line, uint8_t seed) {
  if (m.kind == Kind::kNotJson || !WithoutMark(line).starts_with('{')) return;
  acp::TopLevelScan scan;
  for (Pieces pieces(line, seed); !pieces.done();) scan.Feed(pieces.Next());
  if (m.id.size() < kScannedText && acp::IsRpcId(m.id)) {
    Require(scan.Id() == m.id, "the scan finds the parser's id");
  }
  if (m.method.size() < kScannedText) {
    Require(scan.Method() == m.method, "the scan finds the parser's method");
  }
}

}  // namespace

void MessageChecks::Line(std::string_view line, uint8_t seed) {
  const Block padded(line, 64);
  const Message m = parser_.Parse(padded.view(), /*padded=*/true);
  CheckKind(m);
  CheckText(m);
  CheckSlices(m, padded.view());
  {
    acp::MessageParser fresh(max_depth_);
    Require(All(fresh.Parse(Block(line).view())) == All(m), "padding does not matter");
  }
  CompareWithSecondReader(m, WithoutMark(line));
  CompareWithScan(m, line, seed);
  CheckReaders(m);
}

}  // namespace acpd::fuzz
