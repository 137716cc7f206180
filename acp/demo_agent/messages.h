#ifndef ACPD_ACP_DEMO_AGENT_MESSAGES_H_
#define ACPD_ACP_DEMO_AGENT_MESSAGES_H_

#include <nlohmann/json.hpp>
#include <string>

// The JSON-RPC messages of an ACP agent, as values. Pure functions.
namespace acpd::demo {

using nlohmann::json;

json Result(const json& id, json result);
json Error(const json& id, int64_t code, const std::string& message, json data = nullptr);
json Notification(const std::string& method, json params);
json Request(const json& id, const std::string& method, json params);

// session/update with this `update` object.
json Update(const std::string& session_id, json update);
// The `update` object of a text chunk; `kind` is agent_message_chunk, user_message_chunk or
// agent_thought_chunk.
json TextChunk(const std::string& kind, const std::string& text);

// One line, its newline included. Bytes that are not UTF-8 become U+FFFD.
std::string Line(const json& message);

// The text blocks of session/prompt's params, joined.
std::string PromptText(const json& params);
// A string member of params; empty when it is absent or no string.
std::string StringOf(const json& params, const char* key);

}  // namespace acpd::demo

#endif  // ACPD_ACP_DEMO_AGENT_MESSAGES_H_
