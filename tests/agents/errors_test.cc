// What goes wrong behind the agent: its model refuses, or it has no credentials.

#include "tests/agents/agent_test.h"

namespace acpd::e2e {
namespace {

using ::testing::HasSubstr;

// The longest seen takes 71 s: the agent tries again by itself.
constexpr milliseconds kRetryingPatience{240'000};

using ModelErrorTest = AgentTest;

INSTANTIATE_TEST_SUITE_P(Agents, ModelErrorTest, ::testing::ValuesIn(AgentNames()), AgentTestName);

TEST_P(ModelErrorTest, EndsTheTurnAndNotTheSession) {
  const std::string session_id = Remember();
  const auto chat = Begin(session_id, "ERROR 400 NORETRY");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const std::string turn_id = chat.response.turn_id();
  const api::TurnResult result = WaitForEnd(turn_id, kRetryingPatience);
  if (Cannot(Ability::kSayModelError)) {
    EXPECT_EQ(result.outcome(), api::TurnResult::OUTCOME_COMPLETED) << result.ShortDebugString();
  } else {
    EXPECT_EQ(result.outcome(), api::TurnResult::OUTCOME_FAILED) << result.ShortDebugString();
    EXPECT_EQ(result.error().reason(), "AGENT_ERROR");
    EXPECT_NE(result.error().agent_code(), 0);
    EXPECT_THAT(result.error().ShortDebugString(), HasSubstr("400"));
  }
  EXPECT_TRUE(result.prompt_sent());
  EXPECT_EQ(EndsOf(turn_id), 1);
  ExpectAnswer(Say(session_id, "ECHO still here"), api::SessionOrigin::KIND_LIVE, "still here");
}

class NoCredentialsTest : public AgentTest {
 protected:
  NoCredentialsTest() : AgentTest(json::object(), /*logged_in=*/false) {}
};

INSTANTIATE_TEST_SUITE_P(Agents, NoCredentialsTest, ::testing::ValuesIn(AgentNames()),
                         AgentTestName);

// Some agents say so when a session is made, and the Chat is refused; others at the first prompt,
// and its turn ends so.
TEST_P(NoCredentialsTest, SaysThatTheAgentWantsALogin) {
  if (Cannot(Ability::kNeedLogin)) {
    api::CreateSessionRequest request;
    request.mutable_setup()->set_project_id(kProject);
    const auto session = client().Call(&Client::Stub::CreateSession, request, kAgentPatience);
    EXPECT_TRUE(session.ok()) << session.ToString();
    return;
  }
  const auto chat = Say("", "ECHO hi");
  if (chat.ok()) {
    EXPECT_EQ(chat.response.result().outcome(), api::TurnResult::OUTCOME_FAILED);
    EXPECT_EQ(chat.response.result().error().reason(), "AGENT_AUTH_REQUIRED") << chat.ToString();
  } else {
    EXPECT_EQ(chat.code(), grpc::StatusCode::FAILED_PRECONDITION) << chat.ToString();
    EXPECT_EQ(chat.reason(), "AGENT_AUTH_REQUIRED") << chat.ToString();
  }
  const auto agents = client().Call(&Client::Stub::ListAgents, api::ListAgentsRequest());
  ASSERT_EQ(agents.response.agents_size(), 1) << agents.ToString();
  EXPECT_TRUE(agents.response.agents(0).auth_required()) << agents.ToString();
}

}  // namespace
}  // namespace acpd::e2e
