// The shortest walk through everything: a Chat, its events, a resume, a cancel, with the demo agent
// and the fake agent.

#include "tests/e2e/harness/e2e_test.h"

namespace acpd::e2e {
namespace {

using ::testing::HasSubstr;

// With each agent that has a memory.
class SmokeTest : public E2eTest, public ::testing::WithParamInterface<const char*> {
 protected:
  SmokeTest() { options().default_agent = GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(Agents, SmokeTest, ::testing::Values("demo", "fake"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(SmokeTest, AChatRunsAndItsEventsCanBeReadFromTheStart) {
  StartDaemon();
  const auto chat = client().Say("shop", "", "hello there");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.origin().kind(), api::SessionOrigin::KIND_NEW);
  EXPECT_EQ(chat.response.state(), api::TURN_STATE_ENDED);
  EXPECT_EQ(chat.response.result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  EXPECT_EQ(chat.response.result().stop_reason(), "end_turn");
  EXPECT_EQ(chat.response.result().text(), "hello there");

  const auto stream = client().SubscribeSession(chat.response.session_id());
  ASSERT_TRUE(stream->WaitFor(HasCaughtUp()));
  EXPECT_TRUE(stream->Events().front().has_subscription_started());
  const std::vector<Event> events = stream->Stored();
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.front().seq(), 1u);
  EXPECT_EQ(TextOf(events, chat.response.turn_id()), "hello there");
  EXPECT_TRUE(stream->WaitFor(EndOf(chat.response.turn_id())));
}

TEST_P(SmokeTest, ALiveSessionRemembers) {
  StartDaemon();
  const auto first = client().Say("shop", "", "remember the number 42");
  ASSERT_TRUE(first.ok()) << first.ToString();
  const auto second = client().Say("shop", first.response.session_id(), "what number did I say?");
  ASSERT_TRUE(second.ok()) << second.ToString();
  EXPECT_EQ(second.response.origin().kind(), api::SessionOrigin::KIND_LIVE);
  EXPECT_EQ(second.response.session_id(), first.response.session_id());
  EXPECT_EQ(second.response.result().text(), "42");
}

TEST_P(SmokeTest, AClosedSessionIsResumed) {
  StartDaemon();
  const auto first = client().Say("shop", "", "remember the number 42");
  ASSERT_TRUE(first.ok()) << first.ToString();
  const std::string session_id = first.response.session_id();
  const auto closed = client().CloseSession(session_id);
  ASSERT_TRUE(closed.ok()) << closed.ToString();
  EXPECT_EQ(closed.response.state(), api::Session::STATE_DORMANT);
  const auto second = client().Say("shop", session_id, "what number did I say?");
  ASSERT_TRUE(second.ok()) << second.ToString();
  EXPECT_EQ(second.response.session_id(), session_id);
  EXPECT_EQ(second.response.origin().kind(), api::SessionOrigin::KIND_RESUMED);
  EXPECT_EQ(second.response.origin().method(), api::SessionOrigin::METHOD_SESSION_RESUME);
  EXPECT_EQ(second.response.result().text(), "42");
}

TEST_P(SmokeTest, ASlowTurnIsCancelledAndTheSessionGoesOn) {
  StartDaemon();
  const auto chat = client().Begin("shop", "", "SLOW 100000 20");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const std::string session_id = chat.response.session_id();
  const auto stream = client().SubscribeSession(session_id);
  ASSERT_TRUE(stream->WaitFor(SaysText("chunk 2 ")));
  const auto cancelled = client().CancelSession(session_id);
  ASSERT_TRUE(cancelled.ok()) << cancelled.ToString();
  EXPECT_EQ(cancelled.response.outcome(), api::CancelResponse::OUTCOME_CANCELLED);
  const auto end = stream->WaitFor(EndOf(chat.response.turn_id()));
  ASSERT_TRUE(end);
  EXPECT_EQ(end->turn_ended().result().outcome(), api::TurnResult::OUTCOME_CANCELLED);
  EXPECT_THAT(end->turn_ended().result().stop_reason(), "cancelled");
  const auto next = client().Say("shop", session_id, "COUNT");
  ASSERT_TRUE(next.ok()) << next.ToString();
  EXPECT_EQ(next.response.origin().kind(), api::SessionOrigin::KIND_LIVE);
  EXPECT_EQ(next.response.result().text(), "2");
}

TEST_P(SmokeTest, APermissionIsAskedAndAnswered) {
  StartDaemon();
  const auto chat = client().Begin("shop", "", "ASK");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const auto stream = client().SubscribeSession(chat.response.session_id());
  const auto question = stream->WaitFor(Is(Event::kPermissionRequested));
  ASSERT_TRUE(question);
  const auto answered = client().Respond(chat.response.session_id(),
                                         question->permission_requested().question_id(), "allow");
  EXPECT_TRUE(answered.ok()) << answered.ToString();
  const auto turn = client().GetTurn(chat.response.turn_id(), api::WAIT_FOR_FINISHED);
  ASSERT_TRUE(turn.ok()) << turn.ToString();
  EXPECT_EQ(turn.response.result().text(), "Chosen: allow_once");
}

TEST_F(E2eTest, AScriptedTurnStandsAtItsBarrierUntilItIsReleased) {
  StartDaemon();
  const json steps = {{{"update", "before"}}, {{"barrier", "b"}}, {{"update", "after"}}};
  const auto chat = client().Begin("shop", "", Scripted(steps));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  ASSERT_TRUE(barriers().WaitReached("b"));
  EXPECT_EQ(client().GetTurn(chat.response.turn_id()).response.state(), api::TURN_STATE_RUNNING);
  barriers().Release("b");
  const auto turn = client().GetTurn(chat.response.turn_id(), api::WAIT_FOR_FINISHED);
  EXPECT_EQ(turn.response.result().text(), "beforeafter");
  EXPECT_EQ(log().Received("session/prompt").size(), 1u);
}

TEST_F(E2eTest, AnErrorCarriesItsReason) {
  StartDaemon();
  const auto chat = client().Say("shop", "", "");
  EXPECT_EQ(chat.code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(chat.reason(), "EMPTY_PROMPT");
}

TEST_F(E2eTest, AConfigWithAnUnknownKeyIsRefused) {
  options().extra = {{"no_such_key", 1}};
  EXPECT_FALSE(daemon().Start());
  EXPECT_THAT(daemon().Log(), HasSubstr("no_such_key"));
}

}  // namespace
}  // namespace acpd::e2e
