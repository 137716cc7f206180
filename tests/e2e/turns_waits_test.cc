// How long a Chat waits, and what its caller has in hand when it stops waiting.

#include <future>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using Code = grpc::StatusCode;

class WaitsTest : public TurnsTest {
 protected:
  api::ChatRequest Request(api::WaitFor wait_for, const json& steps,
                           const std::string& session_id = "") {
    return ChatOf(kProject, session_id, Scripted(steps), wait_for);
  }
  void StartWithBarrierInNew() {
    json script = json::object();
    script["session/new"] = Steps(Barrier("new"), "reply");
    UseScript(script);
    StartDaemon();
  }
};

TEST_F(WaitsTest, AcceptedReturnsBeforeTheAgentIsThere) {
  StartWithBarrierInNew();
  const auto chat = client().Chat(Request(api::WAIT_FOR_ACCEPTED, Steps(Say("x"))));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_TRUE(chat.response.state() == api::TURN_STATE_QUEUED ||
              chat.response.state() == api::TURN_STATE_STARTING);
  // What is accepted is stored.
  KillAndRestartDaemon();
  barriers().Release("new");
  EXPECT_EQ(WaitForTurn(chat.response.turn_id()).result().text(), "x");
}

TEST_F(WaitsTest, StartedReturnsWhenTheAgentHasThePrompt) {
  StartDaemon();
  for (const api::WaitFor wait_for : {api::WAIT_FOR_STARTED, api::WAIT_FOR_UNSPECIFIED}) {
    const std::string barrier = "hold-" + std::to_string(wait_for);
    const auto chat = client().Chat(Request(wait_for, Steps(Barrier(barrier))));
    ASSERT_TRUE(chat.ok()) << chat.ToString();
    EXPECT_EQ(chat.response.state(), api::TURN_STATE_RUNNING);
    EXPECT_EQ(chat.response.origin().kind(), api::SessionOrigin::KIND_NEW);
    EXPECT_FALSE(chat.response.agent_session_id().empty());
    EXPECT_TRUE(barriers().WaitReached(barrier));
    barriers().Release(barrier);
    WaitForTurn(chat.response.turn_id());
  }
}

TEST_F(WaitsTest, FinishedReturnsTheResult) {
  StartDaemon();
  auto chat = std::async(std::launch::async, [&] {
    return client().Chat(
        Request(api::WAIT_FOR_FINISHED, Steps(Say("a"), Barrier("hold"), Say("b"))));
  });
  ASSERT_TRUE(barriers().WaitReached("hold"));
  EXPECT_EQ(chat.wait_for(milliseconds(0)), std::future_status::timeout);
  barriers().Release("hold");
  const auto answer = chat.get();
  ASSERT_TRUE(answer.ok()) << answer.ToString();
  EXPECT_EQ(answer.response.state(), api::TURN_STATE_ENDED);
  EXPECT_EQ(answer.response.result().text(), "ab");
  EXPECT_EQ(answer.response.after_seq(), EventsOfTurn(answer.response.turn_id())[0].seq() - 1);
  EXPECT_EQ(answer.trailers.at("acpd-turn-id"), answer.response.turn_id());
}

TEST_F(WaitsTest, UnspecifiedBehindAQueueReturnsQueuedAndStartedWaits) {
  StartDaemon();
  const api::ChatResponse running = BeginAt("hold");
  const std::string id = running.session_id();
  const auto plain = client().Chat(Request(api::WAIT_FOR_UNSPECIFIED, Steps(Say("1")), id));
  ASSERT_TRUE(plain.ok()) << plain.ToString();
  EXPECT_EQ(plain.response.state(), api::TURN_STATE_QUEUED);
  auto started = std::async(std::launch::async, [&] {
    return client().Chat(Request(api::WAIT_FOR_STARTED, Steps(Barrier("second")), id));
  });
  ASSERT_TRUE(WaitUntil([&] { return client().GetSession(id).response.queued_size() == 2; }));
  EXPECT_EQ(started.wait_for(milliseconds(0)), std::future_status::timeout);
  barriers().Release("hold");
  const auto answer = started.get();
  ASSERT_TRUE(answer.ok()) << answer.ToString();
  EXPECT_EQ(answer.response.state(), api::TURN_STATE_RUNNING);
  barriers().Release("second");
  WaitForTurn(answer.response.turn_id());
}

TEST_F(WaitsTest, ADeadlineAnswersWithTheStateReached) {
  StartDaemon();
  const auto chat = client().Chat(Request(api::WAIT_FOR_FINISHED, Steps(Barrier("hold"), Say("x"))),
                                  milliseconds(1500));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.state(), api::TURN_STATE_RUNNING);
  EXPECT_FALSE(chat.response.has_result());
  EXPECT_EQ(chat.initial.at("acpd-turn-id"), chat.response.turn_id());
  EXPECT_EQ(chat.initial.at("acpd-session-id"), chat.response.session_id());
  EXPECT_EQ(chat.initial.at("acpd-after-position"), std::to_string(chat.response.after_position()));
  EXPECT_EQ(chat.initial.at("acpd-epoch"), chat.response.epoch());
  barriers().Release("hold");
  EXPECT_EQ(WaitForTurn(chat.response.turn_id()).result().text(), "x");
}

TEST_F(WaitsTest, ADeadlineInTheSetUpToo) {
  StartWithBarrierInNew();
  const auto chat =
      client().Chat(Request(api::WAIT_FOR_STARTED, Steps(Say("x"))), milliseconds(1500));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.state(), api::TURN_STATE_STARTING);
  barriers().Release("new");
  EXPECT_EQ(WaitForTurn(chat.response.turn_id()).result().text(), "x");
}

TEST_F(WaitsTest, ACallerThatLeavesEndsTheWaitNotTheTurn) {
  StartDaemon();
  grpc::ClientContext context;
  const api::ChatRequest request =
      Request(api::WAIT_FOR_FINISHED, Steps(Barrier("hold"), Say("x")));
  auto calling = std::async(std::launch::async, [&] {
    api::ChatResponse response;
    return client().stub()->Chat(&context, request, &response);
  });
  ASSERT_TRUE(barriers().WaitReached("hold"));
  context.TryCancel();
  EXPECT_EQ(calling.get().error_code(), Code::CANCELLED);
  api::ListTurnsRequest list;
  list.set_project_id(kProject);
  const auto turns = client().Call(&Client::Stub::ListTurns, list);
  ASSERT_EQ(turns.response.turns_size(), 1) << turns.ToString();
  EXPECT_EQ(turns.response.turns(0).state(), api::TURN_STATE_RUNNING);
  barriers().Release("hold");
  EXPECT_EQ(WaitForTurn(turns.response.turns(0).turn_id()).result().text(), "x");
}

TEST_F(WaitsTest, AFailedStartIsTheCallsErrorUnlessItOnlyWantedAcceptance) {
  options().agents["fake"].command = dir() / "no-such-agent";
  StartDaemon();
  for (const api::WaitFor wait_for : {api::WAIT_FOR_STARTED, api::WAIT_FOR_FINISHED}) {
    const auto chat = client().Chat(Request(wait_for, Steps(Say("x"))));
    EXPECT_EQ(chat.code(), Code::FAILED_PRECONDITION) << chat.ToString();
    EXPECT_EQ(chat.reason(), "AGENT_START_FAILED");
    const api::Turn turn = WaitForTurn(chat.trailers.at("acpd-turn-id"));
    EXPECT_EQ(turn.result().error().reason(), "AGENT_START_FAILED");
    EXPECT_FALSE(turn.result().prompt_sent());
  }
  const auto accepted = client().Chat(Request(api::WAIT_FOR_ACCEPTED, Steps(Say("x"))));
  ASSERT_TRUE(accepted.ok()) << accepted.ToString();
  EXPECT_EQ(WaitForTurn(accepted.response.turn_id()).result().outcome(),
            api::TurnResult::OUTCOME_FAILED);
}

TEST_F(WaitsTest, GetTurnWaitsForAState) {
  StartDaemon();
  const api::ChatResponse running = BeginAt("hold");
  const std::string queued = Accept(running.session_id(), Steps(Barrier("second")));
  auto waiting = std::async(std::launch::async,
                            [&] { return client().GetTurn(queued, api::WAIT_FOR_STARTED); });
  EXPECT_EQ(client().GetTurn(queued).response.state(), api::TURN_STATE_QUEUED);
  barriers().Release("hold");
  EXPECT_EQ(waiting.get().response.state(), api::TURN_STATE_RUNNING);
  barriers().Release("second");
  const auto turn = client().GetTurn(queued, api::WAIT_FOR_FINISHED);
  EXPECT_EQ(turn.response.state(), api::TURN_STATE_ENDED);
  EXPECT_EQ(turn.response.request().prompt(), Scripted(Steps(Barrier("second"))));
  EXPECT_EQ(client().GetTurn("no-such-turn").code(), Code::NOT_FOUND);
  EXPECT_EQ(client().GetTurn("no-such-turn").reason(), "TURN_NOT_FOUND");
}

TEST_F(WaitsTest, AStopOfAcpdEndsTheWaitWithTheIds) {
  StartDaemon();
  const api::ChatResponse running = BeginAt("hold");
  auto waiting = std::async(std::launch::async, [&] {
    return client().Chat(Request(api::WAIT_FOR_FINISHED, Steps(Say("x")), running.session_id()));
  });
  ASSERT_TRUE(WaitUntil(
      [&] { return client().GetSession(running.session_id()).response.queued_size() == 1; }));
  EXPECT_EQ(daemon().Stop(), (ExitStatus{0, 0}));
  const auto chat = waiting.get();
  EXPECT_EQ(chat.code(), Code::UNAVAILABLE) << chat.ToString();
  EXPECT_EQ(chat.reason(), "SHUTTING_DOWN");
  ASSERT_TRUE(chat.trailers.contains("acpd-turn-id"));
  StartDaemon();
  const api::Turn first = WaitForTurn(running.turn_id());
  EXPECT_EQ(first.result().outcome(), api::TurnResult::OUTCOME_CANCELLED);
  EXPECT_EQ(first.result().cancelled_by(), "shutdown");
  EXPECT_EQ(WaitForTurn(chat.trailers.at("acpd-turn-id")).result().text(), "x");
}

}  // namespace
}  // namespace acpd::e2e
