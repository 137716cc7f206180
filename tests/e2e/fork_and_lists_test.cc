// Copies of sessions, the sessions that an agent itself knows, and logins.

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Code = grpc::StatusCode;

class ForkTest : public TurnsTest {
 protected:
  void StartForking(json script = json::object()) {
    script["capabilities"] = {{"sessionCapabilities", {{"fork", json::object()}}}};
    UseScript(script);
    StartDaemon();
  }
  Called<api::Session> Fork(const std::string& session_id, const std::string& request_id = "") {
    api::ForkSessionRequest request;
    request.set_session_id(session_id);
    request.set_request_id(request_id);
    (*request.mutable_labels())["copy"] = "yes";
    return client().Call(&Client::Stub::ForkSession, request);
  }
  std::string Remembering() {
    return client().Say(kProject, "", "remember the number 42").response.session_id();
  }
};

TEST_F(ForkTest, TheCopyHasTheContextAndTheOriginalIsLeftAlone) {
  StartForking();
  const std::string original = Remembering();
  const auto copy = Fork(original);
  ASSERT_TRUE(copy.ok()) << copy.ToString();
  EXPECT_NE(copy.response.session_id(), original);
  EXPECT_EQ(copy.response.origin().kind(), api::SessionOrigin::KIND_FORKED);
  EXPECT_EQ(copy.response.labels().at("copy"), "yes");
  EXPECT_EQ(client()
                .Say(kProject, copy.response.session_id(), "remember the number 7")
                .response.result()
                .outcome(),
            api::TurnResult::OUTCOME_COMPLETED);
  const auto recalled = client().Say(kProject, original, "what number did I say?");
  EXPECT_EQ(recalled.response.result().text(), "42");
}

TEST_F(ForkTest, ADormantOriginalNeedsNoWorkerAndTheCopyResumes) {
  StartForking();
  const std::string original = Remembering();
  ASSERT_TRUE(client().CloseSession(original).ok());
  const auto copy = Fork(original);
  ASSERT_TRUE(copy.ok()) << copy.ToString();
  EXPECT_EQ(client().GetSession(original).response.state(), api::Session::STATE_DORMANT);
  ASSERT_TRUE(client().CloseSession(copy.response.session_id()).ok());
  const auto recalled =
      client().Say(kProject, copy.response.session_id(), "what number did I say?");
  EXPECT_EQ(recalled.response.origin().kind(), api::SessionOrigin::KIND_RESUMED);
  EXPECT_EQ(recalled.response.result().text(), "42");
}

TEST_F(ForkTest, TheSameRequestIdIsTheSameCopy) {
  StartForking();
  const std::string original = Remembering();
  const auto first = Fork(original, "copy-1");
  ASSERT_TRUE(first.ok()) << first.ToString();
  EXPECT_EQ(Fork(original, "copy-1").response.session_id(), first.response.session_id());
  EXPECT_EQ(log().Received("session/fork").size(), 1u);
}

TEST_F(ForkTest, ARepeatedCallGetsItsCopyAlsoWhileTheOriginalIsBusy) {
  StartForking();
  const std::string original = Remembering();
  const auto first = Fork(original, "copy-1");
  ASSERT_TRUE(first.ok()) << first.ToString();
  Accept(original, Steps(Barrier("hold")));
  ASSERT_TRUE(barriers().WaitReached("hold"));
  EXPECT_EQ(Fork(original, "copy-1").response.session_id(), first.response.session_id());
  EXPECT_EQ(Fork(original, "copy-2").reason(), "SESSION_BUSY");
  barriers().Release("hold");
}

TEST_F(ForkTest, SecretsThatOnlyMemoryHasGoAlong) {
  options().extra["store_mcp_secrets"] = false;
  StartForking();
  api::ChatRequest request = ChatOf(kProject, "", "remember the number 42", api::WAIT_FOR_FINISHED);
  request.add_mcp_servers()->set_name("files");
  request.mutable_mcp_servers(0)->mutable_stdio()->set_command("/bin/mcp");
  (*request.mutable_mcp_servers(0)->mutable_stdio()->mutable_env())["TOKEN"] = "t-1";
  const auto original = client().Chat(request);
  ASSERT_TRUE(original.ok()) << original.ToString();
  const auto copy = Fork(original.response.session_id());
  ASSERT_TRUE(copy.ok()) << copy.ToString();
  const json server = log().Received("session/fork").back().at("params").at("mcpServers").at(0);
  EXPECT_EQ(server.at("env").at(0).at("value"), "t-1");
}

TEST_F(ForkTest, Errors) {
  StartForking();
  EXPECT_EQ(Fork("nobody").reason(), "SESSION_NOT_FOUND");
  const auto busy = BeginAt("hold");
  EXPECT_EQ(Fork(busy.session_id()).reason(), "SESSION_BUSY");
  barriers().Release("hold");
  api::CreateSessionRequest unprompted;
  unprompted.mutable_setup()->set_project_id(kProject);
  const auto fresh = client().Call(&Client::Stub::CreateSession, unprompted);
  ASSERT_TRUE(fresh.ok()) << fresh.ToString();
  EXPECT_EQ(Fork(fresh.response.session_id()).reason(), "NOT_SUPPORTED_BY_AGENT");
}

TEST_F(ForkTest, AnAgentThatCannotIsNotAsked) {
  StartDaemon();
  const auto copy = Fork(Remembering());
  EXPECT_EQ(copy.code(), Code::FAILED_PRECONDITION);
  EXPECT_EQ(copy.reason(), "NOT_SUPPORTED_BY_AGENT");
  EXPECT_TRUE(log().Received("session/fork").empty());
}

TEST_F(ForkTest, ARefusalLeavesNoSession) {
  StartForking({{"session/fork", Steps(Error(-32603, "disk on fire"))}});
  const std::string original = Remembering();
  const auto copy = Fork(original);
  EXPECT_EQ(copy.reason(), "NOT_SUPPORTED_BY_AGENT");
  EXPECT_THAT(copy.status.error_message(), HasSubstr("disk on fire"));
  EXPECT_EQ(AllSessions().size(), 1u);
}

class AgentSessionsTest : public TurnsTest {
 protected:
  Called<api::ListAgentSessionsResponse> List(const std::string& token = "") {
    api::ListAgentSessionsRequest request;
    request.set_agent("fake");
    request.set_page_token(token);
    return client().Call(&Client::Stub::ListAgentSessions, request);
  }
  void StartListing(const json& pages) {
    UseScript({{"capabilities", {{"sessionCapabilities", {{"list", json::object()}}}}},
               {"session_pages", pages}});
    StartDaemon();
  }
};

TEST_F(AgentSessionsTest, ComeInTheAgentsPages) {
  StartListing({{"",
                 {{"sessions",
                   {{{"sessionId", "a"},
                     {"cwd", "/srv"},
                     {"title", "First"},
                     {"updatedAt", "2026-11-30T10:00:00Z"}}}},
                  {"nextCursor", "more"}}},
                {"more", {{"sessions", {{{"sessionId", "b"}, {"cwd", "/srv"}}}}}}});
  const auto first = List();
  ASSERT_TRUE(first.ok()) << first.ToString();
  ASSERT_EQ(first.response.sessions_size(), 1);
  EXPECT_EQ(first.response.sessions(0).agent_session_id(), "a");
  EXPECT_EQ(first.response.sessions(0).title(), "First");
  EXPECT_EQ(first.response.sessions(0).update_time().seconds(), 1796032800);
  const auto second = List(first.response.next_page_token());
  ASSERT_TRUE(second.ok()) << second.ToString();
  EXPECT_EQ(second.response.sessions(0).agent_session_id(), "b");
  EXPECT_EQ(second.response.next_page_token(), "");
  EXPECT_EQ(List("nonsense").reason(), "INVALID_PAGE_TOKEN");
}

TEST_F(AgentSessionsTest, SayWhichAreOurs) {
  StartListing({{"", {{"sessions", json::array()}}}});
  const auto ours = client().Say(kProject, "", "remember the number 42");
  const std::string agent_id = ours.response.agent_session_id();
  daemon().Stop();
  StartListing({{"", {{"sessions", {{{"sessionId", agent_id}, {"cwd", "/srv"}}}}}}});
  const auto listed = List();
  ASSERT_TRUE(listed.ok()) << listed.ToString();
  EXPECT_EQ(listed.response.sessions(0).session_id(), ours.response.session_id());
}

TEST_F(AgentSessionsTest, Errors) {
  StartDaemon();
  const auto without = List();
  EXPECT_EQ(without.reason(), "NOT_SUPPORTED_BY_AGENT");
  api::ListAgentSessionsRequest request;
  request.set_agent("nobody");
  EXPECT_EQ(client().Call(&Client::Stub::ListAgentSessions, request).reason(), "AGENT_NOT_FOUND");
}

class LoginTest : public TurnsTest {
 protected:
  void StartWithLogins(json script = json::object()) {
    script["auth_methods"] = {
        {{"id", "key"}, {"name", "By key"}},
        {{"id", "shell"}, {"name", "By hand"}, {"type", "terminal"}, {"args", {"--login"}}}};
    UseScript(script);
    StartDaemon();
  }
  Called<api::LoginAgentResponse> Login(const std::string& method) {
    api::LoginAgentRequest request;
    request.set_agent("fake");
    request.set_method_id(method);
    return client().Call(&Client::AdminStub::LoginAgent, request);
  }
};

TEST_F(LoginTest, SaysWhatThereIs) {
  StartWithLogins();
  const auto methods = Login("");
  ASSERT_TRUE(methods.ok()) << methods.ToString();
  ASSERT_EQ(methods.response.methods_size(), 2);
  EXPECT_EQ(methods.response.methods(0).type(), "agent");
  EXPECT_EQ(methods.response.methods(1).type(), "terminal");
  EXPECT_FALSE(methods.response.logged_in());
}

TEST_F(LoginTest, ByTheAgentItself) {
  StartWithLogins();
  const auto login = Login("key");
  ASSERT_TRUE(login.ok()) << login.ToString();
  EXPECT_TRUE(login.response.logged_in());
  EXPECT_EQ(log().Received("authenticate").back().at("params").at("methodId"), "key");
}

TEST_F(LoginTest, InATerminalIsNeverPassedToTheAgent) {
  StartWithLogins();
  const auto login = Login("shell");
  ASSERT_TRUE(login.ok()) << login.ToString();
  ASSERT_GE(login.response.terminal().command_size(), 2);
  EXPECT_EQ(*login.response.terminal().command().rbegin(), "--login");
  EXPECT_TRUE(log().Received("authenticate").empty());
}

TEST_F(LoginTest, Errors) {
  StartWithLogins({{"authenticate", Steps(Error(-32603, "the key is bad"))}});
  const auto unknown = Login("nothing");
  EXPECT_EQ(unknown.reason(), "INVALID_REQUEST");
  EXPECT_THAT(unknown.status.error_message(), HasSubstr("key, shell"));
  const auto refused = Login("key");
  EXPECT_EQ(refused.reason(), "AGENT_AUTH_REQUIRED");
  EXPECT_THAT(refused.status.error_message(), HasSubstr("the key is bad"));
  api::LogoutAgentRequest request;
  request.set_agent("fake");
  EXPECT_EQ(client().Call(&Client::AdminStub::LogoutAgent, request).reason(),
            "NOT_SUPPORTED_BY_AGENT");
}

TEST_F(LoginTest, Out) {
  StartWithLogins({{"capabilities", {{"auth", {{"logout", json::object()}}}}}});
  api::LogoutAgentRequest request;
  request.set_agent("fake");
  EXPECT_TRUE(client().Call(&Client::AdminStub::LogoutAgent, request).ok());
  EXPECT_EQ(log().Received("logout").size(), 1u);
}

TEST_F(LoginTest, WantedAtTheSetUpIsSaidWithTheMethods) {
  StartWithLogins({{"require_auth", true}});
  const auto chat = client().Say(kProject, "", "hello");
  EXPECT_EQ(chat.code(), Code::FAILED_PRECONDITION);
  EXPECT_EQ(chat.reason(), "AGENT_AUTH_REQUIRED");
  EXPECT_THAT(chat.status.error_message(), HasSubstr("key, shell (terminal)"));
  EXPECT_THAT(chat.status.error_message(), HasSubstr("acpctl login fake"));
}

TEST_F(LoginTest, WantedAtTheFirstPromptEndsTheTurnWithIt) {
  StartWithLogins({{"session/prompt", Steps(Error(-32000, "Authentication required"))}});
  const auto chat = client().Say(kProject, "", "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.result().outcome(), api::TurnResult::OUTCOME_FAILED);
  EXPECT_EQ(chat.response.result().error().reason(), "AGENT_AUTH_REQUIRED");
  EXPECT_EQ(chat.response.result().error().agent_code(), -32000);
  EXPECT_THAT(chat.response.result().error().message(), HasSubstr("acpctl login fake"));
  const auto agents = client().Call(&Client::Stub::ListAgents, api::ListAgentsRequest());
  for (const api::Agent& agent : agents.response.agents())
    EXPECT_EQ(agent.auth_required(), agent.name() == "fake") << agent.name();
}

TEST_F(LoginTest, AMethodThatIsNotOfferedIsNotTried) {
  for (const char* method : {"nothing", "shell"}) {
    SCOPED_TRACE(method);
    SetFake("auth_method", method);
    StartWithLogins();
    const auto chat = client().Say(kProject, "", "hello");
    EXPECT_EQ(chat.reason(), "AGENT_AUTH_REQUIRED");
    daemon().Stop();
  }
  EXPECT_TRUE(log().Received("authenticate").empty());
  StartDaemon();
}

TEST_F(LoginTest, OnceForEachWorkerByTheConfig) {
  SetFake("auth_method", "key");
  StartWithLogins({{"require_auth", true}});
  const auto chat = client().Say(kProject, "", "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  ASSERT_TRUE(client().Say(kProject, chat.response.session_id(), "hello").ok());
  EXPECT_EQ(log().Received("authenticate").size(), 1u);
}

TEST_F(LoginTest, ByTheKeyInItsEnvironmentWhereTheBuiltInKnowsThat) {
  SetFake("extends", "codex-acp");
  UseScript({{"require_auth", true}, {"auth_methods", {{{"id", "openai-api-key"}}}}});
  options().agents["fake"].env["OPENAI_API_KEY"] = "dummy-not-a-key";
  StartDaemon();
  const auto chat = client().Say(kProject, "", "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(log().Received("authenticate").back().at("params").at("methodId"), "openai-api-key");
  EXPECT_EQ(log().Received("session/new").size(), 2u);
}

}  // namespace
}  // namespace acpd::e2e
