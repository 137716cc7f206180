// Calls that end because an agent wants a login, or dies or is silent over one, or over what it is
// asked without a session.

#include "tests/e2e/option_fixture.h"

namespace acpd::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Code = grpc::StatusCode;

// ---- ListAgentSessions.

class ListFailuresTest : public TurnsTest {
 protected:
  void StartListing(json script) {
    script["capabilities"] = {{"sessionCapabilities", {{"list", json::object()}}}};
    script["session_pages"] = {{"", {{"sessions", {{{"sessionId", "a"}, {"cwd", "/srv"}}}}}}};
    script["auth_methods"] = {{{"id", "key"}, {"name", "By key"}}};
    UseScript(script);
    StartDaemon();
  }
  Called<api::ListAgentSessionsResponse> List() {
    api::ListAgentSessionsRequest request;
    request.set_agent("fake");
    return client().Call(&Client::Stub::ListAgentSessions, request);
  }
};

TEST_F(ListFailuresTest, AWantedLoginIsSaid) {
  StartListing({{"require_auth", true}});
  const auto listed = List();
  EXPECT_EQ(listed.code(), Code::FAILED_PRECONDITION);
  EXPECT_EQ(listed.reason(), "AGENT_AUTH_REQUIRED");
  EXPECT_THAT(listed.status.error_message(), HasSubstr("session/list"));
  EXPECT_THAT(listed.status.error_message(), HasSubstr("acpctl login"));
  EXPECT_TRUE(log().Received("authenticate").empty());
}

TEST_F(ListFailuresTest, ARefusedLoginIsSaidAndNothingIsAsked) {
  SetFake("auth_method", "key");
  StartListing({{"authenticate", Steps(Error(-32603, "the key is bad"))}});
  const auto listed = List();
  EXPECT_EQ(listed.reason(), "AGENT_AUTH_REQUIRED");
  EXPECT_THAT(listed.status.error_message(), HasSubstr("the key is bad"));
  EXPECT_TRUE(log().Received("session/list").empty());
}

TEST_F(ListFailuresTest, AnAgentThatDiesOverIt) {
  StartListing({{"session/list", Steps(Step("exit", 3))}});
  const auto listed = List();
  EXPECT_EQ(listed.code(), Code::UNAVAILABLE);
  EXPECT_EQ(listed.reason(), "AGENT_EXITED");
  EXPECT_THAT(listed.status.error_message(), HasSubstr("session/list"));
}

TEST_F(ListFailuresTest, ASilentAgentHasSessionSetupTimeout) {
  SetFake("session_setup_timeout", "3s");
  StartListing({{"session/list", Steps("silent")}});
  const auto listed = List();
  EXPECT_EQ(listed.code(), Code::UNAVAILABLE);
  EXPECT_EQ(listed.reason(), "START_TIMEOUT");
  EXPECT_THAT(listed.status.error_message(), HasSubstr("session/list"));
  EXPECT_EQ(log().Received("session/list").size(), 1u);
}

TEST_F(ListFailuresTest, AMethodThatIsNotOfferedIsLeftOut) {
  SetFake("auth_method", "nothing");
  StartListing(json::object());
  const auto listed = List();
  ASSERT_TRUE(listed.ok()) << listed.ToString();
  ASSERT_EQ(listed.response.sessions_size(), 1);
  EXPECT_EQ(listed.response.sessions(0).agent_session_id(), "a");
  EXPECT_TRUE(log().Received("authenticate").empty());
}

// ---- LoginAgent and LogoutAgent.

class LoginFailuresTest : public TurnsTest {
 protected:
  void StartWithKey(json script) {
    script["capabilities"] = {{"auth", {{"logout", json::object()}}}};
    script["auth_methods"] = {{{"id", "key"}, {"name", "By key"}}};
    UseScript(script);
    StartDaemon();
  }
  Called<api::LoginAgentResponse> Login(milliseconds patience = kPatience) {
    api::LoginAgentRequest request;
    request.set_agent("fake");
    request.set_method_id("key");
    return client().Call(&Client::AdminStub::LoginAgent, request, patience);
  }
  Called<api::LogoutAgentResponse> Logout() {
    api::LogoutAgentRequest request;
    request.set_agent("fake");
    return client().Call(&Client::AdminStub::LogoutAgent, request);
  }
};

TEST_F(LoginFailuresTest, AnAgentThatDiesOverItsLogin) {
  StartWithKey({{"authenticate", Steps(Step("exit", 3))}});
  const auto login = Login();
  EXPECT_EQ(login.code(), Code::UNAVAILABLE);
  EXPECT_EQ(login.reason(), "AGENT_EXITED");
  EXPECT_THAT(login.status.error_message(), HasSubstr("authenticate"));
}

TEST_F(LoginFailuresTest, ALoginHasUntilTheCallsDeadline) {
  StartWithKey({{"authenticate", Steps("silent")}});
  const auto login = Login(milliseconds(6000));
  EXPECT_EQ(login.code(), Code::UNAVAILABLE);
  EXPECT_EQ(login.reason(), "START_TIMEOUT");
  EXPECT_EQ(log().Received("authenticate").size(), 1u);
  const pid_t agent = log().Pids().back();
  EXPECT_TRUE(WaitUntil([&] { return ParentOf(agent) == 0; })) << "nobody waits for it any more";
}

TEST_F(LoginFailuresTest, ALogoutOfWhoIsNotLoggedIn) {
  StartWithKey({{"logout", Steps(Error(-32000, "Not logged in"))}});
  const auto logout = Logout();
  EXPECT_EQ(logout.code(), Code::FAILED_PRECONDITION);
  EXPECT_EQ(logout.reason(), "AGENT_AUTH_REQUIRED");
  EXPECT_THAT(logout.status.error_message(), HasSubstr("Not logged in"));
}

TEST_F(LoginFailuresTest, AnAgentThatDiesOverItsLogout) {
  StartWithKey({{"logout", Steps(Step("exit", 3))}});
  const auto logout = Logout();
  EXPECT_EQ(logout.code(), Code::UNAVAILABLE);
  EXPECT_EQ(logout.reason(), "AGENT_EXITED");
  EXPECT_THAT(logout.status.error_message(), HasSubstr("logout"));
}

// ---- Calls of sessions.

class LoginInSessionTest : public OptionFixture {
 protected:
  void ExpectLoginWanted() {
    const auto agents = client().Call(&Client::Stub::ListAgents, api::ListAgentsRequest());
    ASSERT_TRUE(agents.ok()) << agents.ToString();
    for (const api::Agent& agent : agents.response.agents())
      EXPECT_EQ(agent.auth_required(), agent.name() == "fake") << agent.name();
  }
};

TEST_F(LoginInSessionTest, IsWantedForAnOption) {
  const json refusal = Steps(Error(-32000, "Authentication required"));
  StartWith({{"modes", TwoModes()}, {"configOptions", {SelectOption("model", "model")}}},
            {{"auth_methods", {{{"id", "key"}, {"name", "By key"}}}},
             {"session/set_mode", refusal},
             {"session/set_config_option", refusal}});
  const std::string id = NewSession();
  for (const Called<api::Session>& set : {SetMode(id, "plan"), SetValue(id, "model", "large")}) {
    EXPECT_EQ(set.code(), Code::FAILED_PRECONDITION);
    EXPECT_EQ(set.reason(), "AGENT_AUTH_REQUIRED");
    EXPECT_THAT(set.status.error_message(), HasSubstr("methods: key"));
    EXPECT_THAT(set.status.error_message(), HasSubstr("acpctl login fake"));
  }
  EXPECT_EQ(Get(id).mode_id(), "code") << "it was never taken";
  EXPECT_EQ(Get(id).model(), "small");
  EXPECT_EQ(Get(id).state(), api::Session::STATE_IDLE);
  ExpectLoginWanted();
}

TEST_F(LoginInSessionTest, ByTheKeyInItsEnvironmentIsRefused) {
  UseScript({{"require_auth", true},
             {"auth_methods", {{{"id", "key"}, {"name", "By key"}}}},
             {"authenticate", Steps(Error(-32603, "the key is bad"))}});
  SetFake("auth_by_variable", {{{"variable", "FAKE_KEY"}, {"method", "key"}}});
  options().agents["fake"].env["FAKE_KEY"] = "dummy-not-a-key";
  StartDaemon();
  const auto chat = client().Say(kProject, "", "hello");
  EXPECT_EQ(chat.code(), Code::FAILED_PRECONDITION);
  EXPECT_EQ(chat.reason(), "AGENT_AUTH_REQUIRED");
  EXPECT_THAT(chat.status.error_message(), HasSubstr("methods: key"));
  EXPECT_THAT(chat.status.error_message(), Not(HasSubstr("dummy-not-a-key")));
  EXPECT_EQ(log().Received("authenticate").size(), 1u) << "once for each worker";
  EXPECT_EQ(log().Received("session/new").size(), 1u) << "it would be refused again";
  EXPECT_TRUE(log().Received("session/prompt").empty());
  ExpectLoginWanted();
}

}  // namespace
}  // namespace acpd::e2e
