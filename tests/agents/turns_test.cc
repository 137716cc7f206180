// A live session: it is made, it remembers, its turns can be cancelled and wait for each other.

#include <future>

#include "tests/agents/agent_test.h"

namespace acpd::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class LiveSessionTest : public AgentTest {
 protected:
  void CancelAndWait(const std::string& session_id);
  // The turns of all TurnStarted and TurnEnded events, in their order.
  std::vector<std::string> TurnsOfStartsAndEnds();
};

void LiveSessionTest::CancelAndWait(const std::string& session_id) {
  api::CancelRequest request;
  request.set_session_id(session_id);
  request.set_reason("enough");
  const auto cancelled = client().Cancel(request, kAgentPatience);
  ASSERT_TRUE(cancelled.ok()) << cancelled.ToString();
  EXPECT_EQ(cancelled.response.outcome(), api::CancelResponse::OUTCOME_CANCELLED)
      << cancelled.ToString();
}

std::vector<std::string> LiveSessionTest::TurnsOfStartsAndEnds() {
  std::vector<std::string> turns;
  for (const Event& event : AllEvents()) {
    if (event.has_turn_started() || event.has_turn_ended()) turns.push_back(event.turn_id());
  }
  return turns;
}

INSTANTIATE_TEST_SUITE_P(Agents, LiveSessionTest, ::testing::ValuesIn(AgentNames()), AgentTestName);

TEST_P(LiveSessionTest, IsMadeByItsFirstTurn) {
  const auto chat = Say("", kRemember);
  ExpectAnswer(chat, api::SessionOrigin::KIND_NEW, kRemembered);
  EXPECT_FALSE(chat.response.agent_session_id().empty());
  EXPECT_TRUE(chat.response.result().prompt_sent());
  EXPECT_EQ(chat.response.result().stop_reason(), "end_turn");
  EXPECT_EQ(EndsOf(chat.response.turn_id()), 1);
}

TEST_P(LiveSessionTest, RemembersWhatWasSaid) {
  const std::string session_id = Remember();
  const auto chat = Say(session_id, kRecall);
  ExpectAnswer(chat, api::SessionOrigin::KIND_LIVE, "42");
  EXPECT_EQ(chat.response.session_id(), session_id);
  const auto session = client().GetSession(session_id);
  ASSERT_TRUE(session.ok()) << session.ToString();
  EXPECT_EQ(session.response.state(), api::Session::STATE_IDLE);
  EXPECT_EQ(session.response.agent(), GetParam());
  Cannot(Ability::kRemember);
}

TEST_P(LiveSessionTest, GoesOnAfterACancel) {
  const std::string session_id = Remember();
  const std::string turn_id = BeginLongAnswer(session_id);
  ASSERT_FALSE(turn_id.empty());
  CancelAndWait(session_id);

  const api::TurnResult result = WaitForEnd(turn_id);
  EXPECT_EQ(result.outcome(), api::TurnResult::OUTCOME_CANCELLED) << result.ShortDebugString();
  EXPECT_EQ(result.stop_reason(), "cancelled");
  EXPECT_EQ(result.cancel_reason(), "enough");
  EXPECT_THAT(result.text(), HasSubstr(agent().long_answer_begins));
  EXPECT_THAT(result.text(), Not(HasSubstr("chunk 600 ")));

  const auto next = Say(session_id, kRecall);
  ExpectAnswer(next, api::SessionOrigin::KIND_LIVE, "42");
  EXPECT_EQ(next.response.session_id(), session_id);
  EXPECT_EQ(EndsOf(turn_id), 1);
}

// The cancel is right behind the prompt: some agents answer the prompt with an error, and one runs
// the turn to its end.
TEST_P(LiveSessionTest, GoesOnAfterACancelAtOnce) {
  const std::string session_id = Remember();
  const auto chat = Begin(session_id, "SLOW 30 100");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  CancelAndWait(session_id);

  const std::string turn_id = chat.response.turn_id();
  const api::TurnResult result = WaitForEnd(turn_id);
  EXPECT_EQ(result.outcome(), api::TurnResult::OUTCOME_CANCELLED) << result.ShortDebugString();
  EXPECT_EQ(result.cancel_reason(), "enough");
  EXPECT_EQ(EndsOf(turn_id), 1);
  ExpectAnswer(Say(session_id, "ECHO still here"), api::SessionOrigin::KIND_LIVE, "still here");
}

// Agents differ in what they make of a second prompt while they work on the first: acpd does not
// let it come to that.
TEST_P(LiveSessionTest, RunsTwoChatsOneAfterTheOther) {
  const std::string session_id = Remember();
  const auto say = [this, &session_id](const char* prompt) { return Say(session_id, prompt); };
  auto other = std::async(std::launch::async, say, "ECHO one");
  const auto two = Say(session_id, "ECHO two");
  const auto one = other.get();
  ExpectAnswer(one, api::SessionOrigin::KIND_LIVE, "one");
  ExpectAnswer(two, api::SessionOrigin::KIND_LIVE, "two");

  const std::vector<std::string> turns = TurnsOfStartsAndEnds();
  ASSERT_EQ(turns.size(), 6u);
  EXPECT_EQ(turns[2], turns[3]) << "two turns at once";
  EXPECT_EQ(turns[4], turns[5]) << "two turns at once";
  EXPECT_NE(turns[2], turns[4]);
}

}  // namespace
}  // namespace acpd::e2e
