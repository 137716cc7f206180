// What a Cancel says, and that it is what happened.

#include <future>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using Cancelled = api::CancelResponse;
using Result = api::TurnResult;

class CancelTest : public TurnsTest {
 protected:
  static api::CancelRequest OfTurn(const std::string& turn_id) {
    api::CancelRequest request;
    request.set_turn_id(turn_id);
    return request;
  }
};

TEST_F(CancelTest, AConfirmedCancel) {
  StartDaemon();
  const api::ChatResponse running = BeginAt("hold");
  api::CancelRequest request;
  request.set_session_id(running.session_id());
  request.set_reason("changed my mind");
  const auto cancelled = client().Cancel(request);
  ASSERT_TRUE(cancelled.ok()) << cancelled.ToString();
  EXPECT_EQ(cancelled.response.outcome(), Cancelled::OUTCOME_CANCELLED);
  ASSERT_EQ(cancelled.response.turns_size(), 1);
  EXPECT_EQ(cancelled.response.turns(0).turn_id(), running.turn_id());
  EXPECT_EQ(cancelled.response.turns(0).session_id(), running.session_id());
  // The answer comes after the end.
  const auto turn = client().GetTurn(running.turn_id());
  EXPECT_EQ(turn.response.state(), api::TURN_STATE_ENDED);
  EXPECT_EQ(turn.response.result().outcome(), Result::OUTCOME_CANCELLED);
  EXPECT_EQ(turn.response.result().cancel_reason(), "changed my mind");
  EXPECT_TRUE(turn.response.result().prompt_sent());
  EXPECT_EQ(log().Received("session/cancel").size(), 1u);
}

// Agents that answer a cancelled prompt otherwise than with "cancelled".
class CancelAnswerTest : public CancelTest, public ::testing::WithParamInterface<json> {};

INSTANTIATE_TEST_SUITE_P(Answers, CancelAnswerTest,
                         ::testing::Values(json("end_turn"), json("refusal"),
                                           Steps(Error(-32800, "Request cancelled")),
                                           Steps(Error(-32603, "Internal error")),
                                           Steps(Step("exit", 1))));

TEST_P(CancelAnswerTest, TheTurnIsCancelledOnce) {
  json script = json::object();
  script["on_cancel"] = GetParam();
  UseScript(script);
  StartDaemon();
  const api::ChatResponse running = BeginAt("hold");
  const auto cancelled = client().CancelSession(running.session_id());
  ASSERT_TRUE(cancelled.ok()) << cancelled.ToString();
  EXPECT_EQ(cancelled.response.outcome(), Cancelled::OUTCOME_CANCELLED);
  const api::Turn turn = WaitForTurn(running.turn_id());
  EXPECT_EQ(turn.result().outcome(), Result::OUTCOME_CANCELLED);
  if (GetParam().is_string()) {
    EXPECT_EQ(turn.result().stop_reason(), GetParam());
  }
  EXPECT_EQ(CountEnds(running.turn_id()), 1u);
  const auto next = client().Say(kProject, running.session_id(), "hello");
  ASSERT_TRUE(next.ok()) << next.ToString();
  EXPECT_EQ(next.response.session_id(), running.session_id());
}

TEST_F(CancelTest, ARaceWithTheEndHasOneWinner) {
  StartDaemon();
  const auto first = client().Say(kProject, "", "hello");
  ASSERT_TRUE(first.ok()) << first.ToString();
  const std::string id = first.response.session_id();
  for (int round = 0; round < 20; ++round) {
    const std::string barrier = "race-" + std::to_string(round);
    const std::string turn_id = Accept(id, Steps(Barrier(barrier)));
    ASSERT_TRUE(barriers().WaitReached(barrier));
    auto cancelling =
        std::async(std::launch::async, [&] { return client().Cancel(OfTurn(turn_id)); });
    barriers().Release(barrier);
    const auto cancelled = cancelling.get();
    ASSERT_TRUE(cancelled.ok()) << cancelled.ToString();
    const Result result = WaitForTurn(turn_id).result();
    if (cancelled.response.outcome() == Cancelled::OUTCOME_CANCELLED) {
      EXPECT_EQ(result.outcome(), Result::OUTCOME_CANCELLED);
    } else {
      EXPECT_EQ(cancelled.response.outcome(), Cancelled::OUTCOME_ALREADY_ENDED);
      EXPECT_EQ(result.outcome(), Result::OUTCOME_COMPLETED);
    }
  }
}

TEST_F(CancelTest, AnEndedTurnHasAlreadyEnded) {
  StartDaemon();
  const auto chat = client().Say(kProject, "", "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const auto by_turn = client().Cancel(OfTurn(chat.response.turn_id()));
  ASSERT_TRUE(by_turn.ok()) << by_turn.ToString();
  EXPECT_EQ(by_turn.response.outcome(), Cancelled::OUTCOME_ALREADY_ENDED);
  const auto by_session = client().CancelSession(chat.response.session_id());
  ASSERT_TRUE(by_session.ok()) << by_session.ToString();
  EXPECT_EQ(by_session.response.outcome(), Cancelled::OUTCOME_NOTHING_RUNNING);
  EXPECT_EQ(client().GetTurn(chat.response.turn_id()).response.result().outcome(),
            Result::OUTCOME_COMPLETED);
  EXPECT_TRUE(log().Received("session/cancel").empty());
}

TEST_F(CancelTest, GraceZeroKillsAtOnce) {
  StartDaemon();
  const api::ChatResponse running = BeginAt("hold");
  api::CancelRequest request;
  request.set_session_id(running.session_id());
  request.mutable_grace();
  const auto cancelled = client().Cancel(request);
  ASSERT_TRUE(cancelled.ok()) << cancelled.ToString();
  EXPECT_EQ(cancelled.response.outcome(), Cancelled::OUTCOME_FORCED);
  EXPECT_FALSE(IsAlive(log().Pids().back()));
  EXPECT_TRUE(log().Received("session/cancel").empty());
  EXPECT_EQ(WaitForTurn(running.turn_id()).result().outcome(), Result::OUTCOME_CANCELLED);
  EXPECT_EQ(client().GetSession(running.session_id()).response.state(),
            api::Session::STATE_DORMANT);
  const auto next = client().Say(kProject, running.session_id(), "COUNT");
  ASSERT_TRUE(next.ok()) << next.ToString();
  EXPECT_EQ(next.response.origin().kind(), api::SessionOrigin::KIND_RESUMED);
  EXPECT_EQ(next.response.result().text(), "2");
}

TEST_F(CancelTest, AnAgentThatIgnoresTheCancelIsKilled) {
  UseScript({{"on_cancel", "ignore"}});
  SetFake("cancel_grace", "300ms");
  StartDaemon();
  const api::ChatResponse running = BeginAt("hold");
  const std::string next = Accept(running.session_id(), Steps(Say("next")));
  const auto cancelled = client().CancelSession(running.session_id());
  ASSERT_TRUE(cancelled.ok()) << cancelled.ToString();
  EXPECT_EQ(cancelled.response.outcome(), Cancelled::OUTCOME_FORCED);
  const auto duration = cancelled.response.turns(0).cancel_duration();
  EXPECT_GE(duration.seconds() * 1000 + duration.nanos() / 1'000'000, 300);
  EXPECT_FALSE(IsAlive(log().Pids().front()));
  EXPECT_EQ(log().Received("session/cancel").size(), 1u);
  const api::Turn turn = WaitForTurn(next);
  EXPECT_EQ(turn.result().text(), "next");
  EXPECT_EQ(turn.origin().kind(), api::SessionOrigin::KIND_RESUMED);
  EXPECT_EQ(turn.session_id(), running.session_id());
}

TEST_F(CancelTest, ADeadlineEndsTheWaitNotTheCancel) {
  json script = json::object();
  script["on_cancel"] = Steps(Barrier("stop"), Reply("cancelled"));
  UseScript(script);
  StartDaemon();
  const api::ChatResponse running = BeginAt("hold");
  api::CancelRequest request;
  request.set_session_id(running.session_id());
  const auto cancelled = client().Cancel(request, milliseconds(700));
  ASSERT_TRUE(cancelled.ok()) << cancelled.ToString();
  EXPECT_EQ(cancelled.response.outcome(), Cancelled::OUTCOME_PENDING);
  EXPECT_EQ(client().GetTurn(running.turn_id()).response.state(), api::TURN_STATE_CANCELLING);
  barriers().Release("stop");
  EXPECT_EQ(WaitForTurn(running.turn_id()).result().outcome(), Result::OUTCOME_CANCELLED);
}

TEST_F(CancelTest, ASecondCancelJoins) {
  json script = json::object();
  script["on_cancel"] = Steps(Barrier("stop"), Reply("cancelled"));
  UseScript(script);
  StartDaemon();
  const api::ChatResponse running = BeginAt("hold");
  auto first =
      std::async(std::launch::async, [&] { return client().CancelSession(running.session_id()); });
  ASSERT_TRUE(barriers().WaitReached("stop"));
  api::CancelRequest short_one;
  short_one.set_session_id(running.session_id());
  EXPECT_EQ(client().Cancel(short_one, milliseconds(500)).response.outcome(),
            Cancelled::OUTCOME_PENDING);
  barriers().Release("stop");
  EXPECT_EQ(first.get().response.outcome(), Cancelled::OUTCOME_CANCELLED);
  EXPECT_EQ(log().Received("session/cancel").size(), 1u);
  EXPECT_EQ(CountEnds(running.turn_id()), 1u);
}

TEST_F(CancelTest, ASecondCancelCanShortenTheGrace) {
  UseScript({{"on_cancel", "ignore"}});
  StartDaemon();
  const api::ChatResponse running = BeginAt("hold");
  auto first =
      std::async(std::launch::async, [&] { return client().CancelSession(running.session_id()); });
  ASSERT_TRUE(log().WaitForReceived("session/cancel"));
  api::CancelRequest at_once;
  at_once.set_session_id(running.session_id());
  at_once.mutable_grace();
  EXPECT_EQ(client().Cancel(at_once).response.outcome(), Cancelled::OUTCOME_FORCED);
  EXPECT_EQ(first.get().response.outcome(), Cancelled::OUTCOME_FORCED);
}

TEST_F(CancelTest, TheNextTurnWaitsForTheCancelledOne) {
  json script = json::object();
  script["on_cancel"] =
      Steps(Say("winding up"), Barrier("stop"), Step("log", "stopped"), Reply("cancelled"));
  UseScript(script);
  StartDaemon();
  const api::ChatResponse running = BeginAt("hold");
  const std::string next = Accept(running.session_id(), Steps(Say("next")));
  auto cancelling =
      std::async(std::launch::async, [&] { return client().CancelSession(running.session_id()); });
  ASSERT_TRUE(barriers().WaitReached("stop"));
  EXPECT_EQ(client().GetTurn(next).response.state(), api::TURN_STATE_QUEUED);
  EXPECT_EQ(log().Received("session/prompt").size(), 1u);
  barriers().Release("stop");
  EXPECT_EQ(cancelling.get().response.outcome(), Cancelled::OUTCOME_CANCELLED);
  EXPECT_EQ(WaitForTurn(next).result().text(), "next");
  EXPECT_EQ(WaitForTurn(running.turn_id()).result().text(), "winding up");
}

}  // namespace
}  // namespace acpd::e2e
