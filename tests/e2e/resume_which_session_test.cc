// Which session a Chat's session_id means.

#include <filesystem>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using Code = grpc::StatusCode;

class WhichSessionTest : public TurnsTest {
 protected:
  // The agent's id of a session that acpd has forgotten.
  std::string MakeForgotten() {
    const std::string id = MakeDormant();
    const std::string agent_id = client().GetSession(id).response.agent_session_id();
    api::DeleteSessionRequest request;
    request.set_session_id(id);
    const auto deleted = client().Call(&Client::Stub::DeleteSession, request);
    EXPECT_TRUE(deleted.ok()) << deleted.ToString();
    return agent_id;
  }
};

TEST_F(WhichSessionTest, AnIdThatOnlyTheAgentKnowsIsAdopted) {
  StartDaemon();
  const std::string agent_id = MakeForgotten();
  const auto chat = client().Say(kProject, agent_id, "what number did I say?");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.session_id(), agent_id);
  EXPECT_EQ(chat.response.agent_session_id(), agent_id);
  EXPECT_EQ(chat.response.origin().kind(), api::SessionOrigin::KIND_RESUMED);
  EXPECT_EQ(chat.response.result().text(), "42");
  EXPECT_EQ(client().GetSession(agent_id).response.state(), api::Session::STATE_IDLE);
}

TEST_F(WhichSessionTest, AnIdThatNobodyKnowsFallsBackOnceAndLeadsToTheSuccessor) {
  StartDaemon();
  const auto first = client().Say(kProject, "no-such-session", "remember the number 9");
  ASSERT_TRUE(first.ok()) << first.ToString();
  EXPECT_NE(first.response.session_id(), "no-such-session");
  EXPECT_EQ(first.response.origin().kind(), api::SessionOrigin::KIND_FALLBACK);
  EXPECT_EQ(first.response.origin().reason(), "SESSION_NOT_FOUND");
  EXPECT_EQ(first.response.origin().requested_session_id(), "no-such-session");
  const auto second = client().Say(kProject, "no-such-session", "what number did I say?");
  ASSERT_TRUE(second.ok()) << second.ToString();
  EXPECT_EQ(second.response.session_id(), first.response.session_id());
  EXPECT_EQ(second.response.origin().requested_session_id(), "no-such-session");
  EXPECT_EQ(second.response.result().text(), "9");
  KillAndRestartDaemon();
  const auto third = client().Say(kProject, "no-such-session", "what number did I say?");
  ASSERT_TRUE(third.ok()) << third.ToString();
  EXPECT_EQ(third.response.session_id(), first.response.session_id());
  EXPECT_EQ(third.response.origin().requested_session_id(), "no-such-session");
  EXPECT_EQ(third.response.result().text(), "9");
}

TEST_F(WhichSessionTest, AnUnknownIdWithRequireMakesNoSession) {
  StartDaemon();
  api::ChatRequest request = ChatOf(kProject, "no-such-session", "hello", api::WAIT_FOR_FINISHED);
  request.mutable_resume_policy()->set_mode(api::ResumePolicy::MODE_REQUIRE);
  const auto chat = client().Chat(request);
  EXPECT_EQ(chat.code(), Code::NOT_FOUND) << chat.ToString();
  EXPECT_EQ(chat.reason(), "SESSION_NOT_RESUMABLE");
  EXPECT_TRUE(AllSessions().empty());
  EXPECT_EQ(client().GetSession("no-such-session").code(), Code::NOT_FOUND);
  EXPECT_TRUE(log().Received("session/new").empty());
  EXPECT_TRUE(log().Received("session/prompt").empty());
}

TEST_F(WhichSessionTest, AnUnknownIdIsNotKnownUntilItWasReady) {
  json script = json::object();
  script["session/resume"] = Steps(Barrier("resume"), Step("reply", json::object()));
  UseScript(script);
  StartDaemon();
  const auto chat =
      client().Chat(ChatOf(kProject, "from-elsewhere", "hello", api::WAIT_FOR_ACCEPTED));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  ASSERT_TRUE(barriers().WaitReached("resume"));
  EXPECT_EQ(client().GetSession("from-elsewhere").code(), Code::NOT_FOUND);
  EXPECT_TRUE(AllSessions().empty());
  EXPECT_EQ(client().GetTurn(chat.response.turn_id()).response.state(), api::TURN_STATE_STARTING);
  barriers().Release("resume");
  EXPECT_EQ(WaitForTurn(chat.response.turn_id()).result().text(), "hello");
  EXPECT_TRUE(client().GetSession("from-elsewhere").ok());
  EXPECT_EQ(AllSessions().size(), 1u);
}

TEST_F(WhichSessionTest, AdoptionCanBeTurnedOff) {
  options().extra = {{"adopt_unknown_sessions", false}};
  StartDaemon();
  const auto chat = client().Say(kProject, "no-such-session", "hello");
  EXPECT_EQ(chat.code(), Code::NOT_FOUND);
  EXPECT_EQ(chat.reason(), "SESSION_NOT_FOUND");
  EXPECT_TRUE(log().Pids().empty());
}

TEST_F(WhichSessionTest, TheAgentsIdOfAKnownSessionMeansThatSession) {
  StartDaemon();
  const auto first = client().Say(kProject, "", "remember the number 5");
  ASSERT_TRUE(first.ok()) << first.ToString();
  const auto second =
      client().Say(kProject, first.response.agent_session_id(), "what number did I say?");
  ASSERT_TRUE(second.ok()) << second.ToString();
  EXPECT_EQ(second.response.session_id(), first.response.session_id());
  EXPECT_EQ(second.response.origin().kind(), api::SessionOrigin::KIND_LIVE);
  EXPECT_EQ(second.response.result().text(), "5");
  EXPECT_EQ(AllSessions().size(), 1u);
}

TEST_F(WhichSessionTest, TheAgentsIdOfAKnownSessionHasThatSessionsFolder) {
  StartDaemon();
  const auto first = client().Say(kProject, "", "hello");
  ASSERT_TRUE(first.ok()) << first.ToString();
  std::filesystem::create_directories(daemon().ProjectFolder(kProject) + "/deeper");
  api::ChatRequest request =
      ChatOf(kProject, first.response.agent_session_id(), "hello", api::WAIT_FOR_FINISHED);
  request.set_cwd(daemon().ProjectFolder(kProject) + "/deeper");
  const auto elsewhere = client().Chat(request);
  EXPECT_EQ(elsewhere.reason(), "CWD_MISMATCH") << elsewhere.ToString();
  request.set_cwd(daemon().ProjectFolder(kProject));
  EXPECT_EQ(client().Chat(request).response.session_id(), first.response.session_id());
}

TEST_F(WhichSessionTest, AgentSessionIdSaysWhatToResumeWhereTheSessionIsNotKnown) {
  StartDaemon();
  const std::string agent_id = MakeForgotten();
  api::ChatRequest request =
      ChatOf(kProject, "lost-here", "what number did I say?", api::WAIT_FOR_FINISHED);
  request.set_agent_session_id(agent_id);
  const auto chat = client().Chat(request);
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.session_id(), "lost-here");
  EXPECT_EQ(chat.response.agent_session_id(), agent_id);
  EXPECT_EQ(chat.response.origin().kind(), api::SessionOrigin::KIND_RESUMED);
  EXPECT_EQ(chat.response.result().text(), "42");
}

TEST_F(WhichSessionTest, AnotherProjectsSessionIsNotThere) {
  StartDaemon();
  const auto first = client().Say(kProject, "", "hello");
  ASSERT_TRUE(first.ok()) << first.ToString();
  for (const std::string& id : {first.response.session_id(), first.response.agent_session_id()}) {
    const auto chat = client().Say("other", id, "hello");
    EXPECT_EQ(chat.code(), Code::NOT_FOUND) << chat.ToString();
    EXPECT_EQ(chat.reason(), "SESSION_NOT_FOUND");
  }
  EXPECT_EQ(AllSessions().size(), 1u);
  EXPECT_EQ(log().Received("session/prompt").size(), 1u);
}

TEST_F(WhichSessionTest, ASessionThatWasNeverPromptedGetsAFreshAgentSession) {
  StartDaemon();
  api::CreateSessionRequest create;
  create.mutable_setup()->set_project_id(kProject);
  const auto created = client().Call(&Client::Stub::CreateSession, create);
  ASSERT_TRUE(created.ok()) << created.ToString();
  const std::string id = created.response.session_id();
  KillAgent();
  ASSERT_TRUE(WaitForState(id, api::Session::STATE_DORMANT));
  const auto chat = client().Say(kProject, id, "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.session_id(), id);
  EXPECT_EQ(chat.response.origin().kind(), api::SessionOrigin::KIND_NEW);
  EXPECT_NE(chat.response.agent_session_id(), created.response.agent_session_id());
  EXPECT_EQ(log().Received("session/new").size(), 2u);
  EXPECT_TRUE(log().Received("session/resume").empty());
}

TEST_F(WhichSessionTest, AnotherAgentOrFolderIsAMismatch) {
  StartDaemon();
  const auto first = client().Say(kProject, "", "hello");
  ASSERT_TRUE(first.ok()) << first.ToString();
  api::ChatRequest request =
      ChatOf(kProject, first.response.session_id(), "hello", api::WAIT_FOR_FINISHED);
  request.set_agent("demo");
  EXPECT_EQ(client().Chat(request).reason(), "AGENT_MISMATCH");
  request.set_agent("");
  std::filesystem::create_directories(daemon().ProjectFolder(kProject) + "/deeper");
  request.set_cwd(daemon().ProjectFolder(kProject) + "/deeper");
  EXPECT_EQ(client().Chat(request).reason(), "CWD_MISMATCH");
  request.set_cwd(daemon().ProjectFolder(kProject));
  const auto chat = client().Chat(request);
  EXPECT_TRUE(chat.ok()) << chat.ToString();
}

TEST_F(WhichSessionTest, TwoChatsForADormantSessionShareOneStart) {
  json script = json::object();
  script["session/resume"] = Steps(Barrier("resume"), "reply");
  UseScript(script);
  StartDaemon();
  const std::string id = MakeDormant();
  const std::string first = Accept(id, Steps(Say("one")));
  ASSERT_TRUE(barriers().WaitReached("resume"));
  const std::string second = Accept(id, Steps(Say("two")));
  barriers().Release("resume");
  EXPECT_EQ(WaitForTurn(first).result().text(), "one");
  const api::Turn turn = WaitForTurn(second);
  EXPECT_EQ(turn.result().text(), "two");
  EXPECT_EQ(turn.origin().kind(), api::SessionOrigin::KIND_LIVE);
  EXPECT_EQ(log().Received("session/resume").size(), 1u);
  EXPECT_EQ(log().Pids().size(), 2u);
}

}  // namespace
}  // namespace acpd::e2e
