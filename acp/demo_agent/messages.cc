#include "acp/demo_agent/messages.h"

#include <utility>

namespace acpd::demo {

json Result(const json& id, json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

json Error(const json& id, int64_t code, const std::string& message, json data) {
  json error = {{"code", code}, {"message", message}};
  if (!data.is_null()) error["data"] = std::move(data);
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(error)}};
}

json Notification(const std::string& method, json params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

json Request(const json& id, const std::string& method, json params) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}};
}

json Update(const std::string& session_id, json update) {
  return Notification("session/update", {{"sessionId", session_id}, {"update", std::move(update)}});
}

json TextChunk(const std::string& kind, const std::string& text) {
  return {{"sessionUpdate", kind}, {"content", {{"type", "text"}, {"text", text}}}};
}

std::string Line(const json& message) {
  return message.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string PromptText(const json& params) {
  std::string text;
  if (!params.is_object() || !params.contains("prompt")) return text;
  for (const json& block : params["prompt"]) {
    if (StringOf(block, "type") == "text") text += StringOf(block, "text");
  }
  return text;
}

std::string StringOf(const json& params, const char* key) {
  if (!params.is_object()) return "";
  const auto member = params.find(key);
  return member != params.end() && member->is_string() ? member->get<std::string>() : "";
}

}  // namespace acpd::demo
