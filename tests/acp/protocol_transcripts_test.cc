// What real agents wrote, as it was recorded, against a second reader (nlohmann).

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "acp/message.h"
#include "acp/types.h"
#include "tests/acp/protocol_splitter.h"

namespace acpd::acp {
namespace {

using Json = nlohmann::json;
using Kind = Message::Kind;

std::vector<std::filesystem::path> Files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(PROTOCOL_TEST_DATA)) {
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
  }
  return files;
}

std::string Contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Kind ExpectedKind(const Json& json) {
  if (json.contains("method") && json.contains("id")) return Kind::kRequest;
  if (json.contains("method")) {
    return json["method"] == "session/update" ? Kind::kUpdate : Kind::kNotification;
  }
  return json.contains("error") ? Kind::kError : Kind::kResult;
}

std::string StringAt(const Json& json, const char* name) {
  const auto at = json.find(name);
  return at != json.end() && at->is_string() ? at->get<std::string>() : "";
}

void CheckUpdate(const UpdateView& update, const Json& params) {
  const Json& expected = params["update"];
  EXPECT_EQ(Json::parse(update.json), expected);
  EXPECT_EQ(update.session_id, params["sessionId"]);
  EXPECT_EQ(update.kind, expected["sessionUpdate"]);
  EXPECT_EQ(update.message_id, StringAt(expected, "messageId"));
  EXPECT_EQ(update.tool_call_id, StringAt(expected, "toolCallId"));
  EXPECT_EQ(update.tool_status, StringAt(expected, "status"));
  EXPECT_EQ(update.title, StringAt(expected, "title"));
  const Json content = expected.value("content", Json());
  const bool text = content.is_object() && content["type"] == "text";
  EXPECT_EQ(update.text, text ? StringAt(content, "text") : "");
}

void CheckResult(const Json& result) {
  const std::string text = result.dump();
  if (result.is_object() && result.contains("protocolVersion")) {
    const auto read = ReadInitializeResult(text);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->protocol_version, 1);
    EXPECT_EQ(read->load_session, result["agentCapabilities"]["loadSession"]);
  } else if (result.is_object() && result.contains("stopReason")) {
    const auto read = ReadPromptResult(text);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->stop_reason, result["stopReason"]);
  } else {
    const auto read = ReadSetupResult(text);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->session_id, StringAt(result, "sessionId"));
  }
}

void CheckLine(MessageParser& parser, const std::string& line) {
  const Json json = Json::parse(line);
  const Message message = parser.Parse(line);
  ASSERT_EQ(message.kind, ExpectedKind(json));
  if (json.contains("id")) {
    EXPECT_EQ(Json::parse(message.id), json["id"]);
  }
  EXPECT_EQ(message.method, StringAt(json, "method"));
  if (json.contains("params")) {
    EXPECT_EQ(Json::parse(message.params), json["params"]);
  }
  if (message.kind == Kind::kUpdate) CheckUpdate(message.update, json["params"]);
  if (message.kind == Kind::kResult) {
    EXPECT_EQ(Json::parse(message.result), json["result"]);
    CheckResult(json["result"]);
  }
  if (message.kind == Kind::kError) {
    const RpcError error = ReadError(message.error);
    EXPECT_EQ(error.code, json["error"]["code"]);
    EXPECT_EQ(error.message, json["error"]["message"]);
  }
  if (message.method == "session/request_permission") {
    const auto request = ReadPermissionRequest(message.params);
    ASSERT_TRUE(request.ok()) << request.status();
    EXPECT_EQ(Json::parse(request->tool_call_json), json["params"]["toolCall"]);
    EXPECT_EQ(request->options.size(), json["params"]["options"].size());
  }
}

TEST(Transcripts, EveryLineIsReadAsItIs) {
  size_t lines = 0;
  for (const auto& path : Files()) {
    SplitterRun run(32 << 20);
    run.Feed(Contents(path));
    MessageParser parser;
    for (const std::string& line : run.seen) {
      SCOPED_TRACE(path.filename().string() + ": " + line.substr(0, 300));
      CheckLine(parser, line);
      ++lines;
    }
  }
  EXPECT_GE(Files().size(), 7u) << "a recording of each agent";
  EXPECT_GE(lines, 100u);
}

TEST(Transcripts, PiecesDoNotMatter) {
  for (const auto& path : Files()) {
    const std::string wire = Contents(path);
    SplitterRun whole(32 << 20);
    whole.Feed(wire);
    SplitterRun pieces(32 << 20);
    for (size_t at = 0; at < wire.size(); at += 61) pieces.Feed(wire.substr(at, 61));
    EXPECT_EQ(pieces.seen, whole.seen);
    EXPECT_EQ(pieces.splitter.consumed(), wire.size());
  }
}

TEST(Transcripts, ALineCutAnywhereIsNoise) {
  const std::string wire = Contents(Files().front());
  const std::string line = wire.substr(0, wire.find('\n'));
  MessageParser parser;
  for (size_t size = 0; size < line.size(); ++size) {
    EXPECT_EQ(parser.Parse(line.substr(0, size)).kind, Kind::kNotJson) << size;
  }
  EXPECT_NE(parser.Parse(line).kind, Kind::kNotJson);
}

}  // namespace
}  // namespace acpd::acp
