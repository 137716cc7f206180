// What a session is set up with: MCP servers, system prompt, `_meta`, further folders; the content
// of prompts; and the trace context of the calls that cause it.

#include <filesystem>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using ::testing::HasSubstr;
using Code = grpc::StatusCode;

class SetupSettingsTest : public TurnsTest {
 protected:
  json LastParams(const std::string& method) {
    const std::vector<json> received = log().Received(method);
    return received.empty() ? json() : received.back().at("params");
  }
  api::ChatRequest Hello(const std::string& session_id = "") {
    return ChatOf(kProject, session_id, "hello", api::WAIT_FOR_FINISHED);
  }
  static void AddStdioServer(api::ChatRequest& request, const std::string& value) {
    api::McpServer* server = request.add_mcp_servers();
    server->set_name("files");
    server->mutable_stdio()->set_command("/bin/mcp");
    server->mutable_stdio()->add_args("--all");
    (*server->mutable_stdio()->mutable_env())["TOKEN"] = value;
  }
  void UseCapabilities(const json& capabilities) {
    json script = json::object();
    script["capabilities"] = capabilities;
    UseScript(script);
  }
};

json StdioServer(const std::string& value) {
  return {{"name", "files"},
          {"command", "/bin/mcp"},
          {"args", {"--all"}},
          {"env", {{{"name", "TOKEN"}, {"value", value}}}}};
}

TEST_F(SetupSettingsTest, GoToNewAndResume) {
  UseCapabilities({{"sessionCapabilities", {{"additionalDirectories", json::object()}}}});
  const std::string further = dir() / "further";
  std::filesystem::create_directories(further);
  options().extra["allowed_roots"] = {further};
  StartDaemon();
  api::ChatRequest request = Hello();
  AddStdioServer(request, "t-1");
  request.set_system_prompt("Be brief.");
  request.set_meta_json(R"({"team": {"name": "blue"}})");
  request.add_additional_directories(further);
  const auto chat = client().Chat(request);
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const auto expect_all = [&](const json& params) {
    EXPECT_EQ(params.at("mcpServers"), json::array({StdioServer("t-1")}));
    EXPECT_EQ(params.at("additionalDirectories"), json::array({further}));
    EXPECT_EQ(params.at("_meta").at("systemPrompt"), (json{{"append", "Be brief."}}));
    EXPECT_EQ(params.at("_meta").at("team"), (json{{"name", "blue"}}));
  };
  expect_all(LastParams("session/new"));
  const std::string id = chat.response.session_id();
  ASSERT_TRUE(client().CloseSession(id).ok());
  const auto again = client().Chat(Hello(id));
  ASSERT_TRUE(again.ok()) << again.ToString();
  expect_all(LastParams("session/resume"));
}

TEST_F(SetupSettingsTest, ThatChangeHaveTheSessionResumedOnANewWorker) {
  StartDaemon();
  const auto first = client().Chat(Hello());
  api::ChatRequest request = Hello(first.response.session_id());
  AddStdioServer(request, "t-1");
  const auto second = client().Chat(request);
  ASSERT_TRUE(second.ok()) << second.ToString();
  EXPECT_EQ(second.response.origin().kind(), api::SessionOrigin::KIND_RESUMED);
  const auto third = client().Chat(request);
  EXPECT_EQ(third.response.origin().kind(), api::SessionOrigin::KIND_LIVE);
  api::ChatRequest cleared = Hello(first.response.session_id());
  cleared.set_clear_mcp_servers(true);
  ASSERT_TRUE(client().Chat(cleared).ok());
  EXPECT_EQ(LastParams("session/resume").at("mcpServers"), json::array());
}

TEST_F(SetupSettingsTest, ThatTheAgentCannotHaveFailTheTurn) {
  StartDaemon();
  api::ChatRequest request = Hello();
  request.add_mcp_servers()->set_name("web");
  request.mutable_mcp_servers(0)->mutable_http()->set_url("https://example.test/mcp");
  const auto http = client().Chat(request);
  EXPECT_EQ(http.code(), Code::FAILED_PRECONDITION);
  EXPECT_EQ(http.reason(), "NOT_SUPPORTED_BY_AGENT");
  EXPECT_THAT(http.status.error_message(), HasSubstr("mcpCapabilities.http"));
  api::ChatRequest folders = Hello();
  folders.add_additional_directories(daemon().ProjectFolder(kProject));
  const auto further = client().Chat(folders);
  EXPECT_EQ(further.reason(), "NOT_SUPPORTED_BY_AGENT");
  EXPECT_THAT(further.status.error_message(), HasSubstr("additionalDirectories"));
  EXPECT_TRUE(log().Received("session/prompt").empty());
}

TEST_F(SetupSettingsTest, ThatWereRefusedAreNotKept) {
  StartDaemon();
  const auto made = client().Chat(Hello());
  api::ChatRequest request = Hello(made.response.session_id());
  request.add_mcp_servers()->set_name("web");
  request.mutable_mcp_servers(0)->mutable_http()->set_url("https://example.test/mcp");
  EXPECT_EQ(client().Chat(request).reason(), "NOT_SUPPORTED_BY_AGENT");
  const auto plain = client().Chat(Hello(made.response.session_id()));
  EXPECT_TRUE(plain.ok()) << plain.ToString();
}

TEST_F(SetupSettingsTest, OutsideOfTheRootsAreRefused) {
  StartDaemon();
  api::ChatRequest request = Hello();
  request.add_additional_directories("/etc");
  EXPECT_EQ(client().Chat(request).reason(), "CWD_NOT_ALLOWED");
  request.set_additional_directories(0, daemon().ProjectFolder(kProject) + "/missing");
  EXPECT_EQ(client().Chat(request).reason(), "CWD_NOT_FOUND");
  EXPECT_TRUE(log().Pids().empty());
}

TEST_F(SetupSettingsTest, SecretsAreLookedUpAtEachStart) {
  options().extra["secrets"] = {{"files-token", "s3cret-value"}};
  StartDaemon();
  api::ChatRequest request = Hello();
  AddStdioServer(request, "${secret:files-token}");
  const auto chat = client().Chat(request);
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(LastParams("session/new").at("mcpServers"), json::array({StdioServer("s3cret-value")}));
  api::ChatRequest missing = Hello();
  AddStdioServer(missing, "${secret:nobody}");
  EXPECT_EQ(client().Chat(missing).reason(), "CREDENTIALS_NEEDED");
}

TEST_F(SetupSettingsTest, SecretsThatAreNotStoredAreAskedForAgain) {
  options().extra["store_mcp_secrets"] = false;
  StartDaemon();
  api::ChatRequest request = Hello();
  AddStdioServer(request, "only-in-memory");
  const auto chat = client().Chat(request);
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const std::string id = chat.response.session_id();
  ASSERT_TRUE(client().CloseSession(id).ok());
  const auto live = client().Chat(Hello(id));
  EXPECT_TRUE(live.ok()) << live.ToString();
  RestartDaemon();
  EXPECT_EQ(client().Chat(Hello(id)).reason(), "CREDENTIALS_NEEDED");
  api::ChatRequest again = Hello(id);
  AddStdioServer(again, "only-in-memory");
  const auto sent_again = client().Chat(again);
  EXPECT_TRUE(sent_again.ok()) << sent_again.ToString();
  RestartDaemon();
  api::ChatRequest without = Hello(id);
  without.set_clear_mcp_servers(true);
  EXPECT_TRUE(client().Chat(without).ok());
  RestartDaemon();
  EXPECT_TRUE(client().Chat(Hello(id)).ok()) << "nothing is missing any more";
}

TEST_F(SetupSettingsTest, AFallbackKeepsTheServersUnlessDeclined) {
  json script = json::object();
  script["session/resume"] = Steps(Error(-32002, "Resource not found"));
  script["session/load"] = Steps(Error(-32002, "Resource not found"));
  UseScript(script);
  StartDaemon();
  for (const bool keep : {true, false}) {
    SCOPED_TRACE(keep);
    api::ChatRequest request = Hello();
    AddStdioServer(request, "t-1");
    const auto first = client().Chat(request);
    ASSERT_TRUE(client().CloseSession(first.response.session_id()).ok());
    api::ChatRequest next = Hello(first.response.session_id());
    if (!keep) next.mutable_resume_policy()->set_preserve_mcp_servers(false);
    const auto second = client().Chat(next);
    ASSERT_TRUE(second.ok()) << second.ToString();
    EXPECT_EQ(second.response.origin().kind(), api::SessionOrigin::KIND_FALLBACK);
    EXPECT_EQ(LastParams("session/new").at("mcpServers").size(), keep ? 1u : 0u);
  }
}

TEST_F(SetupSettingsTest, ContentReachesTheAgent) {
  UseCapabilities({{"promptCapabilities", {{"image", true}, {"embeddedContext", true}}}});
  StartDaemon();
  api::ChatRequest request = Hello();
  request.add_content()->mutable_image()->set_data("\x89PNG");
  request.mutable_content(0)->mutable_image()->set_mime_type("image/png");
  auto* link = request.add_content()->mutable_resource_link();
  link->set_uri("file:///srv/a.txt");
  link->set_name("a.txt");
  auto* resource = request.add_content()->mutable_resource();
  resource->set_uri("file:///srv/b.txt");
  resource->set_text("b");
  const auto chat = client().Chat(request);
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(
      LastParams("session/prompt").at("prompt"),
      json::array(
          {{{"type", "text"}, {"text", "hello"}},
           {{"type", "image"}, {"data", "iVBORw=="}, {"mimeType", "image/png"}},
           {{"type", "resource_link"}, {"uri", "file:///srv/a.txt"}, {"name", "a.txt"}},
           {{"type", "resource"}, {"resource", {{"uri", "file:///srv/b.txt"}, {"text", "b"}}}}}));
}

TEST_F(SetupSettingsTest, ContentThatTheAgentDoesNotTakeIsNotSent) {
  StartDaemon();
  api::ChatRequest request = Hello();
  request.clear_prompt();
  request.add_content()->mutable_image()->set_data("x");
  request.mutable_content(0)->mutable_image()->set_mime_type("image/png");
  for (const char* when : {"before anything is known of the agent", "afterwards"}) {
    SCOPED_TRACE(when);
    const auto chat = client().Chat(request);
    EXPECT_EQ(chat.code(), Code::INVALID_ARGUMENT);
    EXPECT_EQ(chat.reason(), "UNSUPPORTED_CONTENT");
    EXPECT_THAT(chat.status.error_message(), HasSubstr("promptCapabilities.image"));
    EXPECT_THAT(chat.status.error_message(), HasSubstr("content[0]"));
  }
  EXPECT_EQ(log().Pids().size(), 1u);
  EXPECT_TRUE(log().Received("session/prompt").empty());
}

TEST_F(SetupSettingsTest, TraceContextGoesIntoWhatACallCauses) {
  StartDaemon();
  const std::string parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  grpc::ClientContext context;
  context.AddMetadata("traceparent", parent);
  context.AddMetadata("tracestate", "shop=1");
  context.AddMetadata("baggage", "user=7");
  context.set_deadline(std::chrono::system_clock::now() + kPatience);
  api::ChatResponse response;
  const grpc::Status status = client().stub()->Chat(&context, Hello(), &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  for (const char* method : {"session/new", "session/prompt"}) {
    SCOPED_TRACE(method);
    const json meta = LastParams(method).value("_meta", json::object());
    EXPECT_EQ(meta.value("traceparent", ""), parent);
    EXPECT_EQ(meta.value("tracestate", ""), "shop=1");
    EXPECT_EQ(meta.value("baggage", ""), "user=7");
  }
  ASSERT_TRUE(client().Chat(Hello(response.session_id())).ok());
  EXPECT_FALSE(LastParams("session/prompt").contains("_meta"));
}

}  // namespace
}  // namespace acpd::e2e
