// The lines that we send.

#include <nlohmann/json.hpp>

#include "acp/types.h"

namespace acpd::acp {
namespace {

using Json = nlohmann::ordered_json;

// One line: dump() writes no newline and escapes those in strings. Bytes that are no UTF-8 become
// U+FFFD instead of an exception.
std::string Line(const Json& message) {
  return message.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string RequestLine(uint64_t id, const char* method, Json params) {
  return Line({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}});
}

// `request_id` goes back as it came: parsing it would turn a number beyond 2^53 into another one.
std::string AnswerLine(std::string_view request_id, const char* member, const Json& value) {
  std::string line = R"({"jsonrpc":"2.0","id":)";
  line += request_id.empty() ? "null" : request_id;
  line += ",\"";
  line += member;
  line += "\":";
  line += Line(value);
  line += '}';
  return line;
}

// All `_meta` that a session is set up with; null: none.
Json SetupMeta(const SessionSetup& setup) {
  if (setup.meta_resume_id.empty()) return nullptr;
  return {{"claudeCode", {{"options", {{"resume", setup.meta_resume_id}}}}}};
}

// What session/new, load and resume have in common. `mcpServers` is required, also when there are
// none.
Json SetupParams(const SessionSetup& setup) {
  return {{"cwd", setup.cwd}, {"mcpServers", Json::array()}};
}

std::string ReopenLine(uint64_t id, const char* method, std::string_view session_id,
                       const SessionSetup& setup) {
  Json params = {{"sessionId", session_id}};
  params.update(SetupParams(setup));
  return RequestLine(id, method, std::move(params));
}

}  // namespace

std::string InitializeLine(uint64_t id, std::string_view version) {
  // Exactly 1: some agents answer a higher version with the draft of the next protocol.
  return RequestLine(
      id, "initialize",
      {{"protocolVersion", 1},
       {"clientCapabilities",
        {{"fs", {{"readTextFile", false}, {"writeTextFile", false}}}, {"terminal", false}}},
       {"clientInfo", {{"name", "acpd"}, {"title", "acpd"}, {"version", version}}}});
}

std::string AuthenticateLine(uint64_t id, std::string_view method_id) {
  return RequestLine(id, "authenticate", {{"methodId", method_id}});
}

std::string NewSessionLine(uint64_t id, const SessionSetup& setup) {
  Json params = SetupParams(setup);
  if (Json meta = SetupMeta(setup); !meta.is_null()) params["_meta"] = std::move(meta);
  return RequestLine(id, "session/new", std::move(params));
}

std::string LoadSessionLine(uint64_t id, std::string_view session_id, const SessionSetup& setup) {
  return ReopenLine(id, "session/load", session_id, setup);
}

std::string ResumeSessionLine(uint64_t id, std::string_view session_id, const SessionSetup& setup) {
  return ReopenLine(id, "session/resume", session_id, setup);
}

std::string CloseSessionLine(uint64_t id, std::string_view session_id) {
  return RequestLine(id, "session/close", {{"sessionId", session_id}});
}

std::string DeleteSessionLine(uint64_t id, std::string_view session_id) {
  return RequestLine(id, "session/delete", {{"sessionId", session_id}});
}

std::string PromptLine(uint64_t id, std::string_view session_id, std::string_view text) {
  Json block = {{"type", "text"}, {"text", text}};
  return RequestLine(id, "session/prompt",
                     {{"sessionId", session_id}, {"prompt", Json::array({std::move(block)})}});
}

std::string CancelLine(std::string_view session_id) {
  return Line(
      {{"jsonrpc", "2.0"}, {"method", "session/cancel"}, {"params", {{"sessionId", session_id}}}});
}

std::string PermissionSelectedLine(std::string_view request_id, std::string_view option_id) {
  return AnswerLine(request_id, "result",
                    {{"outcome", {{"outcome", "selected"}, {"optionId", option_id}}}});
}

std::string PermissionCancelledLine(std::string_view request_id) {
  return AnswerLine(request_id, "result", {{"outcome", {{"outcome", "cancelled"}}}});
}

std::string ErrorLine(std::string_view request_id, int64_t code, std::string_view message) {
  return AnswerLine(request_id, "error", {{"code", code}, {"message", message}});
}

}  // namespace acpd::acp
