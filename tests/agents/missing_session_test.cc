// Chats that must resume, with a session id that neither acpd nor the agent knows.

#include <set>

#include "tests/agents/agent_test.h"

namespace acpd::e2e {
namespace {

class MissingSessionTest : public AgentTest {
 protected:
  using AgentTest::AgentTest;

  // The ids of all sessions, replaced ones too.
  std::set<std::string> Sessions();
  // A Chat with MODE_REQUIRE is refused, and nothing is made.
  void ExpectRefusal(grpc::StatusCode code, const std::string& reason);
};

std::set<std::string> MissingSessionTest::Sessions() {
  api::ListSessionsRequest request;
  for (int state = api::Session::STATE_STARTING; state <= api::Session::STATE_WAITING; ++state) {
    request.add_states(static_cast<api::Session::State>(state));
  }
  const auto listed = client().Call(&Client::Stub::ListSessions, request);
  EXPECT_TRUE(listed.ok()) << listed.ToString();
  std::set<std::string> ids;
  for (const api::Session& session : listed.response.sessions()) ids.insert(session.session_id());
  return ids;
}

void MissingSessionTest::ExpectRefusal(grpc::StatusCode code, const std::string& reason) {
  ASSERT_FALSE(Remember().empty());
  const std::set<std::string> before = Sessions();
  ASSERT_EQ(before.size(), 1u);
  api::ChatRequest request = ChatOf(kProject, kUnknownSession, kRecall, api::WAIT_FOR_FINISHED);
  request.mutable_resume_policy()->set_mode(api::ResumePolicy::MODE_REQUIRE);
  const auto chat = client().Chat(request, kAgentPatience);
  EXPECT_EQ(chat.code(), code) << chat.ToString();
  EXPECT_EQ(chat.reason(), reason) << chat.ToString();
  EXPECT_EQ(Sessions(), before);
  EXPECT_EQ(client().GetSession(kUnknownSession).code(), grpc::StatusCode::NOT_FOUND);

  ASSERT_TRUE(chat.initial.contains("acpd-turn-id"));
  const auto turn = client().GetTurn(chat.initial.at("acpd-turn-id"));
  ASSERT_TRUE(turn.ok()) << turn.ToString();
  EXPECT_EQ(turn.response.result().outcome(), api::TurnResult::OUTCOME_FAILED);
  EXPECT_EQ(turn.response.result().error().reason(), reason);
  EXPECT_FALSE(turn.response.result().prompt_sent());
}

using UnknownSessionTest = MissingSessionTest;

INSTANTIATE_TEST_SUITE_P(Agents, UnknownSessionTest, ::testing::ValuesIn(AgentNames()),
                         AgentTestName);

TEST_P(UnknownSessionTest, IsRefusedWhereAResumeIsRequired) {
  if (agent().resume_method == api::SessionOrigin::METHOD_UNSPECIFIED) {
    ExpectRefusal(grpc::StatusCode::FAILED_PRECONDITION, "RESUME_UNSUPPORTED");
  } else {
    ExpectRefusal(grpc::StatusCode::NOT_FOUND, "SESSION_NOT_RESUMABLE");
  }
}

// Agents that know no `_meta` resume give a new session and do not say so: acpd must.
class IgnoredResumeTest : public MissingSessionTest {
 protected:
  IgnoredResumeTest() : MissingSessionTest({{"resume", {"meta"}}}) {}
};

INSTANTIATE_TEST_SUITE_P(Agents, IgnoredResumeTest,
                         ::testing::ValuesIn(AgentNames([](const RealAgent& agent) {
                           return agent.resume_method != api::SessionOrigin::METHOD_META;
                         })),
                         AgentTestName);

TEST_P(IgnoredResumeTest, IsRefusedWhereAResumeIsRequired) {
  ExpectRefusal(grpc::StatusCode::FAILED_PRECONDITION, "RESUME_IGNORED");
}

}  // namespace
}  // namespace acpd::e2e
