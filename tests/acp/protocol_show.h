#ifndef ACPD_TESTS_ACP_PROTOCOL_SHOW_H_
#define ACPD_TESTS_ACP_PROTOCOL_SHOW_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "acp/message.h"

// Messages as text, to be compared as a whole.
namespace acpd::acp {

inline std::string Name(Message::Kind kind) {
  switch (kind) {
    case Message::Kind::kNotJson:
      return "noise";
    case Message::Kind::kInvalid:
      return "invalid";
    case Message::Kind::kUpdate:
      return "update";
    case Message::Kind::kNotification:
      return "notification";
    case Message::Kind::kRequest:
      return "request";
    case Message::Kind::kResult:
      return "result";
    case Message::Kind::kError:
      return "error";
  }
  return "?";
}

// A message in one string: its kind and all it has.
inline std::string Show(const Message& message) {
  std::string text = Name(message.kind);
  const auto add = [&text](const char* name, std::string_view value) {
    if (!value.empty()) text += std::string(" ") + name + "=" + std::string(value);
  };
  if (message.too_deep) text += " too_deep";
  add("id", message.id);
  add("method", message.method);
  if (message.kind != Message::Kind::kUpdate) add("params", message.params);
  add("result", message.result);
  add("error", message.error);
  if (message.kind != Message::Kind::kUpdate) return text;
  add("session", message.update.session_id);
  add("json", message.update.json);
  add("kind", message.update.kind);
  add("text", message.update.text);
  add("message", message.update.message_id);
  add("tool", message.update.tool_call_id);
  add("status", message.update.tool_status);
  add("title", message.update.title);
  return text;
}

// Parses a line that stands in memory of exactly its size, so that ASan sees any byte read behind
// it, and once more with padding that looks like JSON.
inline std::string Read(std::string_view line) {
  MessageParser parser;
  const auto exact = std::make_unique<char[]>(line.size());
  line.copy(exact.get(), line.size());
  const std::string first = Show(parser.Parse({exact.get(), line.size()}));
  const std::string padded = std::string(line) + std::string(64, ']');
  EXPECT_EQ(Show(parser.Parse(std::string_view(padded).substr(0, line.size()), true)), first);
  return first;
}

}  // namespace acpd::acp

#endif  // ACPD_TESTS_ACP_PROTOCOL_SHOW_H_
