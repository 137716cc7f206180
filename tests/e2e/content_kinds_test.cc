// Content of every kind, both ways: blocks of a prompt and kinds of MCP servers with and without
// the agent's capability, and what agents say, as readers get it.

#include <functional>
#include <ostream>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using ::testing::HasSubstr;

class ContentKindsTest : public TurnsTest {
 protected:
  void StartWithCapabilities(const json& capabilities) {
    UseScript({{"capabilities", capabilities}});
    StartDaemon();
  }
  json LastParams(const std::string& method) {
    const std::vector<json> received = log().Received(method);
    return received.empty() ? json::object() : received.back().at("params");
  }
};

// ---- Blocks of a prompt.

struct BlockRow {
  const char* name;
  std::function<void(api::ContentBlock&)> fill;
  std::string kind;        // ACP's word
  std::string capability;  // of promptCapabilities
  json sent;               // what the agent gets
};

void PrintTo(const BlockRow& row, std::ostream* out) { *out << row.name; }

class BlockTest : public ContentKindsTest, public ::testing::WithParamInterface<BlockRow> {
 protected:
  // The text, a link that every agent takes, and the row's block.
  static api::ChatRequest Prompt() {
    api::ChatRequest request = ChatOf(kProject, "", "hello", api::WAIT_FOR_FINISHED);
    request.add_content()->mutable_resource_link()->set_uri("file:///srv/a.txt");
    request.mutable_content(0)->mutable_resource_link()->set_name("a.txt");
    GetParam().fill(*request.add_content());
    return request;
  }
};

INSTANTIATE_TEST_SUITE_P(
    Kinds, BlockTest,
    ::testing::Values(
        BlockRow{"Image",
                 [](api::ContentBlock& block) {
                   block.mutable_image()->set_data("\x89PNG");
                   block.mutable_image()->set_mime_type("image/png");
                   block.mutable_image()->set_uri("file:///srv/a.png");
                 },
                 "image",
                 "image",
                 {{"type", "image"},
                  {"data", "iVBORw=="},
                  {"mimeType", "image/png"},
                  {"uri", "file:///srv/a.png"}}},
        BlockRow{"Audio",
                 [](api::ContentBlock& block) {
                   block.mutable_audio()->set_data(std::string("RIFF\0\xff", 6));
                   block.mutable_audio()->set_mime_type("audio/wav");
                 },
                 "audio",
                 "audio",
                 {{"type", "audio"}, {"data", "UklGRgD/"}, {"mimeType", "audio/wav"}}},
        BlockRow{"TextResource",
                 [](api::ContentBlock& block) {
                   block.mutable_resource()->set_uri("file:///srv/b.txt");
                   block.mutable_resource()->set_mime_type("text/plain");
                   block.mutable_resource()->set_text("line\n\"quoted\"");
                 },
                 "resource",
                 "embeddedContext",
                 {{"type", "resource"},
                  {"resource",
                   {{"uri", "file:///srv/b.txt"},
                    {"mimeType", "text/plain"},
                    {"text", "line\n\"quoted\""}}}}},
        BlockRow{"BlobResource",
                 [](api::ContentBlock& block) {
                   block.mutable_resource()->set_uri("file:///srv/b.bin");
                   block.mutable_resource()->set_blob("\x89PNG");
                 },
                 "resource",
                 "embeddedContext",
                 {{"type", "resource"},
                  {"resource", {{"uri", "file:///srv/b.bin"}, {"blob", "iVBORw=="}}}}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_P(BlockTest, ReachesAnAgentThatTakesIt) {
  StartWithCapabilities({{"promptCapabilities", {{GetParam().capability, true}}}});
  const auto chat = client().Chat(Prompt());
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const json prompt = LastParams("session/prompt").at("prompt");
  ASSERT_EQ(prompt.size(), 3u);
  EXPECT_EQ(prompt[2], GetParam().sent);
}

TEST_P(BlockTest, IsNotSentToAnAgentThatTakesAllButThis) {
  json others = {{"image", true}, {"audio", true}, {"embeddedContext", true}};
  others[GetParam().capability] = false;
  StartWithCapabilities({{"promptCapabilities", others}});
  for (const char* when : {"before anything is known of the agent", "afterwards"}) {
    SCOPED_TRACE(when);
    const auto chat = client().Chat(Prompt());
    EXPECT_EQ(chat.code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ(chat.reason(), "UNSUPPORTED_CONTENT");
    EXPECT_THAT(chat.status.error_message(), HasSubstr("content[1] (" + GetParam().kind + ")"));
    EXPECT_THAT(chat.status.error_message(),
                HasSubstr("promptCapabilities." + GetParam().capability));
  }
  EXPECT_TRUE(log().Received("session/prompt").empty());
  const auto plain = client().Say(kProject, "", "hello");
  EXPECT_TRUE(plain.ok()) << plain.ToString();
}

// ---- MCP servers behind a URL.

class McpKindTest : public ContentKindsTest, public ::testing::WithParamInterface<std::string> {
 protected:
  static api::ChatRequest WithServer() {
    api::ChatRequest request = ChatOf(kProject, "", "hello", api::WAIT_FOR_FINISHED);
    api::McpServer* server = request.add_mcp_servers();
    server->set_name("web");
    api::McpHttp* http = GetParam() == "sse" ? server->mutable_sse() : server->mutable_http();
    http->set_url("https://example.test/mcp");
    (*http->mutable_headers())["Authorization"] = "Bearer t-1";
    return request;
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, McpKindTest, ::testing::Values("http", "sse"),
                         [](const auto& info) { return info.param; });

TEST_P(McpKindTest, ReachesAnAgentThatTakesIt) {
  StartWithCapabilities({{"mcpCapabilities", {{GetParam(), true}}}});
  const auto chat = client().Chat(WithServer());
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const json server = {{"type", GetParam()},
                       {"name", "web"},
                       {"url", "https://example.test/mcp"},
                       {"headers", {{{"name", "Authorization"}, {"value", "Bearer t-1"}}}}};
  EXPECT_EQ(LastParams("session/new").at("mcpServers"), json::array({server}));
  ASSERT_TRUE(client().CloseSession(chat.response.session_id()).ok());
  ASSERT_TRUE(client().Say(kProject, chat.response.session_id(), "hello").ok());
  EXPECT_EQ(LastParams("session/resume").at("mcpServers"), json::array({server}));
}

TEST_P(McpKindTest, FailsTheTurnWhereTheAgentTakesOnlyTheOther) {
  const std::string other = GetParam() == "sse" ? "http" : "sse";
  StartWithCapabilities({{"mcpCapabilities", {{other, true}}}});
  const auto chat = client().Chat(WithServer());
  EXPECT_EQ(chat.code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(chat.reason(), "NOT_SUPPORTED_BY_AGENT");
  EXPECT_THAT(chat.status.error_message(), HasSubstr("\"web\""));
  EXPECT_THAT(chat.status.error_message(), HasSubstr("mcpCapabilities." + GetParam()));
  EXPECT_TRUE(log().Received("session/new").empty());
  EXPECT_TRUE(log().Received("session/prompt").empty());
}

// ---- What agents say.

TEST_F(ContentKindsTest, OfTheAgentReachesReadersWhole) {
  StartDaemon();
  const json annotations = {{"audience", {"user"}}, {"priority", 0.5}};
  const std::vector<json> blocks = {
      {{"type", "text"}, {"text", "words"}, {"annotations", annotations}},
      {{"type", "image"}, {"data", "iVBORw=="}, {"mimeType", "image/png"}, {"uri", "file:///a"}},
      {{"type", "audio"}, {"data", "UklGRgD/"}, {"mimeType", "audio/wav"}},
      {{"type", "resource"},
       {"resource", {{"uri", "file:///b"}, {"mimeType", "text/plain"}, {"text", "b"}}}},
      {{"type", "resource"}, {"resource", {{"uri", "file:///c"}, {"blob", "iVBORw=="}}}},
      {{"type", "resource_link"},
       {"uri", "file:///d"},
       {"name", "d"},
       {"title", "D"},
       {"description", "a file"},
       {"size", 7},
       {"_meta", {{"kept", true}}}},
      {{"type", "hologram"}, {"depth", 3}},  // of a later version
  };
  json contents = json::array({{{"type", "diff"}, {"path", "/e"}, {"newText", "new"}},
                               {{"type", "terminal"}, {"terminalId", "term-9"}}});
  std::vector<json> updates;
  for (const json& block : blocks) {
    updates.push_back({{"sessionUpdate", "agent_message_chunk"}, {"content", block}});
    contents.push_back({{"type", "content"}, {"content", block}});
  }
  updates.push_back({{"sessionUpdate", "tool_call"},
                     {"toolCallId", "call-1"},
                     {"title", "Look"},
                     {"kind", "read"},
                     {"content", contents}});
  updates.push_back({{"sessionUpdate", "tool_call_update"},
                     {"toolCallId", "call-1"},
                     {"status", "completed"},
                     {"content", contents}});
  json steps = json::array();
  for (const json& update : updates) steps.push_back(Step("update", update));
  const auto chat = client().Say(kProject, "", Scripted(steps));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  std::vector<json> shown;
  for (const Event& event : EventsOfTurn(chat.response.turn_id())) {
    if (event.has_session_update()) shown.push_back(json::parse(event.session_update().json()));
  }
  EXPECT_EQ(shown, updates);
  EXPECT_EQ(chat.response.result().text(), "words") << "only text is the turn's text";
  EXPECT_EQ(chat.response.result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
}

}  // namespace
}  // namespace acpd::e2e
