// Another folder than the session's, and a session that never had a prompt.

#include <filesystem>

#include "tests/agents/agent_test.h"

namespace acpd::e2e {
namespace {

constexpr char kOtherProject[] = "shop-2";
// The same program with the same home: acpd knows none of the sessions that it has as another
// agent.
constexpr char kSameAgain[] = "again";

class OtherFolderTest : public AgentTest {
 protected:
  void Configure() override { options().agents[kSameAgain] = options().agents[GetParam()]; }
};

INSTANTIATE_TEST_SUITE_P(Agents, OtherFolderTest, ::testing::ValuesIn(AgentNames()), AgentTestName);

TEST_P(OtherFolderTest, IsRefusedAndNothingReachesTheAgent) {
  const std::string session_id = Remember();
  const auto before = client().GetSession(session_id);
  const std::string asked = AskedOfModel();
  api::ChatRequest request = ChatOf(kProject, session_id, kRecall, api::WAIT_FOR_FINISHED);
  request.set_cwd(daemon().ProjectFolder(kProject) + "/inside");
  std::filesystem::create_directory(request.cwd());
  const auto chat = client().Chat(request, kAgentPatience);
  EXPECT_EQ(chat.code(), grpc::StatusCode::FAILED_PRECONDITION) << chat.ToString();
  EXPECT_EQ(chat.reason(), "CWD_MISMATCH") << chat.ToString();

  const auto after = client().GetSession(session_id);
  EXPECT_EQ(after.response.newest_seq(), before.response.newest_seq());
  EXPECT_EQ(after.response.worker().pid(), before.response.worker().pid());
  EXPECT_EQ(AskedOfModel(), asked);
  ExpectAnswer(Say(session_id, kRecall), api::SessionOrigin::KIND_LIVE, "42");
}

// acpd has nothing of the session but the agent's own id.
TEST_P(OtherFolderTest, TakesTheAgentsSessionUpWhereTheAgentCan) {
  const std::string session_id = RememberAndClose();
  api::ChatRequest request = ChatOf(kOtherProject, "", kRecall, api::WAIT_FOR_FINISHED);
  request.set_session_id(client().GetSession(session_id).response.agent_session_id());
  request.set_agent(kSameAgain);
  const auto chat = client().Chat(request, kAgentPatience);
  if (Cannot(Ability::kResumeElsewhere)) {
    ExpectAnswer(chat, api::SessionOrigin::KIND_FALLBACK, "UNKNOWN");
    EXPECT_EQ(chat.response.origin().reason(), agent().reason_elsewhere) << chat.ToString();
  } else {
    ExpectAnswer(chat, api::SessionOrigin::KIND_RESUMED, "42");
    EXPECT_EQ(chat.response.agent_session_id(), request.session_id());
  }
}

using NeverPromptedTest = AgentTest;

INSTANTIATE_TEST_SUITE_P(Agents, NeverPromptedTest, ::testing::ValuesIn(AgentNames()),
                         AgentTestName);

// Most agents keep no session that had no prompt. Nothing is lost: it is new, and no fallback.
TEST_P(NeverPromptedTest, IsANewSessionUnderTheSameId) {
  api::CreateSessionRequest request;
  request.mutable_setup()->set_project_id(kProject);
  const auto session = client().Call(&Client::Stub::CreateSession, request, kAgentPatience);
  ASSERT_TRUE(session.ok()) << session.ToString();
  const std::string session_id = session.response.session_id();
  api::CloseSessionRequest close;
  close.set_session_id(session_id);
  const auto closed = client().Call(&Client::Stub::CloseSession, close, kAgentPatience);
  EXPECT_EQ(closed.response.state(), api::Session::STATE_DORMANT) << closed.ToString();

  const auto chat = Say(session_id, kRemember);
  ExpectAnswer(chat, api::SessionOrigin::KIND_NEW, kRemembered);
  EXPECT_EQ(chat.response.session_id(), session_id);
  ExpectAnswer(Say(session_id, kRecall), api::SessionOrigin::KIND_LIVE, "42");
}

}  // namespace
}  // namespace acpd::e2e
