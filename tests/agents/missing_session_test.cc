// Chats with a session id that neither acpd nor the agent knows.

#include <set>

#include "tests/agents/agent_test.h"

namespace acpd::e2e {
namespace {

class MissingSessionTest : public AgentTest {
 protected:
  using AgentTest::AgentTest;

  // The ids of all sessions, replaced ones too.
  std::set<std::string> Sessions();
  // A fallback with this reason, whose successor gets what is said under the unknown id.
  void ExpectFallback(const std::string& reason);
  // The same with MODE_REQUIRE: refused, and nothing made.
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

void MissingSessionTest::ExpectFallback(const std::string& reason) {
  const auto first = Say(kUnknownSession, kRecall);
  ExpectAnswer(first, api::SessionOrigin::KIND_FALLBACK, "UNKNOWN");
  const std::string successor = first.response.session_id();
  EXPECT_FALSE(successor.empty());
  EXPECT_NE(successor, kUnknownSession);
  EXPECT_EQ(first.response.origin().reason(), reason);
  EXPECT_EQ(first.response.origin().requested_session_id(), kUnknownSession);
  EXPECT_NE(first.response.agent_session_id(), kUnknownSession);

  const auto second = Say(kUnknownSession, kRemember);
  ExpectAnswer(second, api::SessionOrigin::KIND_LIVE, "OK, I will remember 42.");
  EXPECT_EQ(second.response.session_id(), successor);
  EXPECT_EQ(second.response.origin().requested_session_id(), kUnknownSession);
  const auto third = Say(kUnknownSession, kRecall);
  ExpectAnswer(third, api::SessionOrigin::KIND_LIVE, "42");
  EXPECT_EQ(third.response.session_id(), successor);
  EXPECT_EQ(Sessions().count(successor), 1u);
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

TEST_P(UnknownSessionTest, FallsBackToANewSessionOnce) { ExpectFallback("SESSION_NOT_FOUND"); }

TEST_P(UnknownSessionTest, IsRefusedWhereAResumeIsRequired) {
  ExpectRefusal(grpc::StatusCode::NOT_FOUND, "SESSION_NOT_RESUMABLE");
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

TEST_P(IgnoredResumeTest, IsAFallback) { ExpectFallback("RESUME_IGNORED"); }

TEST_P(IgnoredResumeTest, IsRefusedWhereAResumeIsRequired) {
  ExpectRefusal(grpc::StatusCode::FAILED_PRECONDITION, "RESUME_IGNORED");
}

}  // namespace
}  // namespace acpd::e2e
