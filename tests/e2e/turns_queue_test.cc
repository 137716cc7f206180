// The turns of a session, one at a time: order, limits, and what BusyPolicy changes.

#include <algorithm>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using ::testing::ElementsAre;
using Code = grpc::StatusCode;
using Result = api::TurnResult;

class QueueTest : public TurnsTest {
 protected:
  // The order in which the prompts reached the agent, by their notes; "X done" is written before
  // the answer to X.
  std::vector<std::string> Notes() {
    std::vector<std::string> notes;
    for (const json& entry : log().Events("note")) notes.push_back(entry.at("text"));
    return notes;
  }
  static json Noted(const std::string& name) {
    return Steps(Step("log", name), Say(name), Step("log", name + " done"));
  }
  Called<api::ChatResponse> Interrupt(const std::string& session_id, const std::string& name) {
    api::ChatRequest request =
        ChatOf(kProject, session_id, Scripted(Noted(name)), api::WAIT_FOR_ACCEPTED);
    request.set_busy_policy(api::BUSY_POLICY_INTERRUPT);
    return client().Chat(request);
  }
};

TEST_F(QueueTest, OrderIsKeptABusyAgentFailsItsTurnAndTheQueueHasALimit) {
  options().extra = {{"limits", {{"max_queued_turns", 2}}}};
  StartDaemon();
  json first = Steps(Step("log", "R1"), Barrier("hold"), Step("log", "R1 done"));
  const std::string r1 = Accept("", first);
  ASSERT_TRUE(barriers().WaitReached("hold"));
  const std::string id = client().GetTurn(r1).response.session_id();
  const std::string r2 =
      Accept(id, Steps(Step("log", "R2"), Step("log", "R2 done"), Error(-32600, "busy")));
  const std::string r3 = Accept(id, Noted("R3"));
  const auto fourth = client().Chat(ChatOf(kProject, id, "R4", api::WAIT_FOR_FINISHED));
  EXPECT_EQ(fourth.code(), Code::RESOURCE_EXHAUSTED) << fourth.ToString();
  EXPECT_EQ(fourth.reason(), "QUEUE_FULL");
  const auto session = client().GetSession(id);
  EXPECT_EQ(session.response.running().turn_id(), r1);
  ASSERT_EQ(session.response.queued_size(), 2);
  EXPECT_EQ(session.response.queued(0).turn_id(), r2);
  EXPECT_EQ(log().Received("session/prompt").size(), 1u);
  barriers().Release("hold");

  EXPECT_EQ(WaitForTurn(r1).result().outcome(), Result::OUTCOME_COMPLETED);
  const api::Turn busy = WaitForTurn(r2);
  EXPECT_EQ(busy.result().outcome(), Result::OUTCOME_FAILED);
  EXPECT_EQ(busy.result().error().reason(), "AGENT_ERROR");
  EXPECT_EQ(busy.result().error().agent_code(), -32600);
  EXPECT_THAT(busy.result().error().message(), ::testing::HasSubstr("busy"));
  EXPECT_EQ(WaitForTurn(r3).result().text(), "R3");
  EXPECT_THAT(Notes(), ElementsAre("R1", "R1 done", "R2", "R2 done", "R3", "R3 done"));
  EXPECT_EQ(log().Received("session/prompt").size(), 3u);
}

TEST_F(QueueTest, ThePlacesAreTold) {
  StartDaemon();
  const api::ChatResponse running = BeginAt("hold");
  const std::string second = Accept(running.session_id(), Noted("2"));
  const std::string third = Accept(running.session_id(), Noted("3"));
  const std::vector<Event> events = EventsOf(running.session_id());
  for (const auto& [turn_id, ahead] :
       std::map<std::string, uint32_t>{{running.turn_id(), 0}, {second, 1}, {third, 2}}) {
    const auto queued = std::find_if(events.begin(), events.end(), [&](const Event& event) {
      return event.has_turn_queued() && event.turn_id() == turn_id;
    });
    ASSERT_NE(queued, events.end());
    EXPECT_EQ(queued->turn_queued().ahead(), ahead);
  }
  barriers().Release("hold");
  WaitForTurn(third);
}

TEST_F(QueueTest, TheLimitOverAllSessions) {
  options().extra = {{"limits", {{"max_queued_total", 1}}}};
  StartDaemon();
  const api::ChatResponse a = BeginAt("a"), b = BeginAt("b");
  const std::string queued = Accept(a.session_id(), Noted("1"));
  const auto refused = client().Say(kProject, b.session_id(), "hello");
  EXPECT_EQ(refused.code(), Code::RESOURCE_EXHAUSTED) << refused.ToString();
  EXPECT_EQ(refused.reason(), "QUEUE_FULL");
  barriers().Release("a");
  WaitForTurn(queued);
  const std::string later = Accept(b.session_id(), Noted("2"));
  barriers().Release("b");
  EXPECT_EQ(WaitForTurn(later).result().text(), "2");
}

TEST_F(QueueTest, ARefusedChatLeavesNoTrace) {
  options().extra = {{"limits", {{"max_queued_total", 1}}}};
  StartDaemon();
  const api::ChatResponse a = BeginAt("a");
  const std::string queued = Accept(a.session_id(), Noted("1"));
  const size_t events = AllEvents().size();
  api::ChatRequest request = ChatOf(kProject, "", "hello", api::WAIT_FOR_FINISHED);
  request.set_request_id("again");
  EXPECT_EQ(client().Chat(request).reason(), "QUEUE_FULL");
  EXPECT_EQ(AllEvents().size(), events);
  EXPECT_EQ(AllSessions().size(), 1u);
  barriers().Release("a");
  WaitForTurn(queued);
  const auto chat = client().Chat(request);
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_FALSE(chat.response.deduplicated());
}

TEST_F(QueueTest, RejectRefusesWhileATurnIsUnderWay) {
  StartDaemon();
  const api::ChatResponse running = BeginAt("hold");
  api::ChatRequest request =
      ChatOf(kProject, running.session_id(), "hello", api::WAIT_FOR_FINISHED);
  request.set_busy_policy(api::BUSY_POLICY_REJECT);
  const auto refused = client().Chat(request);
  EXPECT_EQ(refused.code(), Code::FAILED_PRECONDITION);
  EXPECT_EQ(refused.reason(), "SESSION_BUSY");
  barriers().Release("hold");
  WaitForTurn(running.turn_id());
  const auto accepted = client().Chat(request);
  ASSERT_TRUE(accepted.ok()) << accepted.ToString();
  EXPECT_EQ(accepted.response.result().text(), "hello");
  EXPECT_EQ(log().Received("session/prompt").size(), 2u);
}

TEST_F(QueueTest, InterruptsGoBeforeTheQueueAndBehindEarlierOnes) {
  json script = json::object();
  script["on_cancel"] = Steps(Barrier("stop"), Reply("cancelled"));
  UseScript(script);
  StartDaemon();
  const api::ChatResponse running = BeginAt("hold");
  const std::string id = running.session_id();
  const std::string queued = Accept(id, Noted("queued"));
  const auto first = Interrupt(id, "first");
  ASSERT_TRUE(first.ok()) << first.ToString();
  ASSERT_TRUE(barriers().WaitReached("stop"));
  const auto second = Interrupt(id, "second");
  ASSERT_TRUE(second.ok()) << second.ToString();
  barriers().Release("stop");

  const api::Turn interrupted = WaitForTurn(running.turn_id());
  EXPECT_EQ(interrupted.result().outcome(), Result::OUTCOME_CANCELLED);
  EXPECT_EQ(interrupted.result().cancelled_by(), "interrupt");
  WaitForTurn(queued);
  EXPECT_THAT(Notes(),
              ElementsAre("first", "first done", "second", "second done", "queued", "queued done"));
  EXPECT_EQ(log().Received("session/cancel").size(), 1u);
}

TEST_F(QueueTest, AnInterruptOfAnIdleSessionJustRuns) {
  StartDaemon();
  const auto first = client().Say(kProject, "", "hello");
  ASSERT_TRUE(first.ok()) << first.ToString();
  const auto second = Interrupt(first.response.session_id(), "i");
  ASSERT_TRUE(second.ok()) << second.ToString();
  EXPECT_EQ(WaitForTurn(second.response.turn_id()).result().text(), "i");
  EXPECT_TRUE(log().Received("session/cancel").empty());
}

TEST_F(QueueTest, ATimeoutOfATurnEndsItAndTheQueueGoesOn) {
  StartDaemon();
  const api::ChatResponse running = [&] {
    api::ChatRequest request =
        ChatOf(kProject, "", Scripted(Steps(Say("x"), "silent")), api::WAIT_FOR_STARTED);
    request.mutable_turn_timeout()->set_nanos(300'000'000);
    return client().Chat(request).response;
  }();
  const std::string next = Accept(running.session_id(), Noted("next"));
  const api::Turn turn = WaitForTurn(running.turn_id());
  EXPECT_EQ(turn.result().outcome(), Result::OUTCOME_FAILED);
  EXPECT_EQ(turn.result().error().reason(), "TURN_TIMEOUT");
  EXPECT_EQ(turn.result().text(), "x");
  EXPECT_EQ(log().Received("session/cancel").size(), 1u);
  EXPECT_EQ(WaitForTurn(next).result().text(), "next");
}

TEST_F(QueueTest, SessionsDoNotWaitForEachOther) {
  StartDaemon();
  const api::ChatResponse running = BeginAt("hold");
  const auto other = client().Say(kProject, "", "hello");
  ASSERT_TRUE(other.ok()) << other.ToString();
  EXPECT_EQ(other.response.result().text(), "hello");
  EXPECT_EQ(client().GetTurn(running.turn_id()).response.state(), api::TURN_STATE_RUNNING);
}

}  // namespace
}  // namespace acpd::e2e
