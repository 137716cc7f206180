// A live session: it remembers, and a turn of it can be cancelled.

#include "tests/agents/agent_test.h"

namespace acpd::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using LiveSessionTest = AgentTest;

INSTANTIATE_TEST_SUITE_P(Agents, LiveSessionTest, ::testing::ValuesIn(AgentNames()), AgentTestName);

TEST_P(LiveSessionTest, RemembersWhatWasSaid) {
  const std::string session_id = Remember();
  const auto chat = Say(session_id, kRecall);
  ExpectAnswer(chat, api::SessionOrigin::KIND_LIVE, "42");
  EXPECT_EQ(chat.response.session_id(), session_id);
  const auto session = client().GetSession(session_id);
  ASSERT_TRUE(session.ok()) << session.ToString();
  EXPECT_EQ(session.response.state(), api::Session::STATE_IDLE);
  EXPECT_EQ(session.response.agent(), GetParam());
}

TEST_P(LiveSessionTest, GoesOnAfterACancel) {
  const std::string session_id = Remember();
  const std::string turn_id = BeginLongAnswer(session_id);
  ASSERT_FALSE(turn_id.empty());
  api::CancelRequest request;
  request.set_session_id(session_id);
  request.set_reason("enough");
  const auto cancelled = client().Cancel(request, kAgentPatience);
  ASSERT_TRUE(cancelled.ok()) << cancelled.ToString();
  EXPECT_EQ(cancelled.response.outcome(), api::CancelResponse::OUTCOME_CANCELLED)
      << cancelled.ToString();

  const api::TurnResult result = WaitForEnd(turn_id);
  EXPECT_EQ(result.outcome(), api::TurnResult::OUTCOME_CANCELLED) << result.ShortDebugString();
  EXPECT_EQ(result.stop_reason(), "cancelled");
  EXPECT_EQ(result.cancel_reason(), "enough");
  EXPECT_THAT(result.text(), HasSubstr("chunk 3 "));
  EXPECT_THAT(result.text(), Not(HasSubstr("chunk 600 ")));

  const auto next = Say(session_id, kRecall);
  ExpectAnswer(next, api::SessionOrigin::KIND_LIVE, "42");
  EXPECT_EQ(next.response.session_id(), session_id);
  EXPECT_EQ(EndsOf(turn_id), 1);
}

}  // namespace
}  // namespace acpd::e2e
