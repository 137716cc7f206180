// acpd or a worker is killed: nothing is left behind, nothing is run twice, nothing is lost.

#include <algorithm>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using ::testing::IsEmpty;

class LostTest : public TurnsTest {
 protected:
  // A running turn whose agent has a child that left its process group.
  api::ChatResponse BeginWithChild() {
    const auto chat =
        client().Begin(kProject, "",
                       Scripted(Steps(Step("fork", json{{"setsid", true}, {"ignore", "TERM"}}),
                                      Say("before"), Barrier("hold"))));
    EXPECT_TRUE(chat.ok()) << chat.ToString();
    EXPECT_TRUE(barriers().WaitReached("hold"));
    // What was not committed yet goes with its worker.
    const auto stream = client().SubscribeSession(chat.response.session_id());
    EXPECT_TRUE(stream->WaitFor(SaysText("before")));
    return chat.response;
  }
  pid_t Child() { return log().Events("fork").back().at("child"); }
};

TEST_F(LostTest, AfterTheLossOfBothTheTurnIsInterruptedAndTheQueueRuns) {
  StartDaemon();
  const api::ChatResponse running = BeginWithChild();
  const std::string id = running.session_id();
  const std::string queued = Accept(id, Steps(Say("after")));
  auto stream = client().SubscribeSession(id);
  ASSERT_TRUE(stream->WaitFor(
      [&](const Event& event) { return event.has_turn_queued() && event.turn_id() == queued; }));
  std::vector<Event> seen = stream->Stored();
  stream.reset();
  const pid_t agent = log().Pids().back(), worker = ParentOf(agent), child = Child();
  ASSERT_TRUE(IsAlive(worker) && IsAlive(child));

  LoseAllAndRestart();
  EXPECT_TRUE(WaitUntil([&] { return !IsAlive(worker) && !IsAlive(agent) && !IsAlive(child); }));
  const api::Turn lost = WaitForTurn(running.turn_id());
  EXPECT_EQ(lost.result().outcome(), api::TurnResult::OUTCOME_INTERRUPTED);
  EXPECT_EQ(lost.result().error().reason(), "WORKER_LOST");
  EXPECT_TRUE(lost.result().prompt_sent());
  const api::Turn next = WaitForTurn(queued);
  EXPECT_EQ(next.result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  EXPECT_EQ(next.result().text(), "after");
  EXPECT_EQ(next.origin().kind(), api::SessionOrigin::KIND_RESUMED);
  EXPECT_EQ(next.session_id(), id);

  // The cursor taken before goes on without a hole or a repeat.
  const auto resumed = client().SubscribeSession(id, seen.back().seq());
  ASSERT_TRUE(resumed->WaitFor(EndOf(queued)));
  const std::vector<Event> more = resumed->Stored();
  seen.insert(seen.end(), more.begin(), more.end());
  EXPECT_THAT(CheckNoHoleNoRepeat(seen), IsEmpty());
  EXPECT_EQ(seen.front().seq(), 1u);
  EXPECT_EQ(CountEnds(running.turn_id()), 1u);
  EXPECT_EQ(log().Received("session/prompt").size(), 2u);
}

TEST_F(LostTest, APositionIsGoodAcrossARestart) {
  StartDaemon();
  const auto first = client().Say(kProject, "", "one");
  ASSERT_TRUE(first.ok()) << first.ToString();
  const std::vector<Event> before = AllEvents();
  const auto position = before[before.size() - 2].position();  // the last is CaughtUp
  const std::string epoch = first.response.epoch();
  KillAndRestartDaemon();
  const auto second = client().Say(kProject, first.response.session_id(), "two");
  ASSERT_TRUE(second.ok()) << second.ToString();
  EXPECT_EQ(second.response.epoch(), epoch);
  api::SubscribeProgressRequest request;
  request.set_project_id(kProject);
  request.set_after_position(position);
  request.set_epoch(epoch);
  request.set_until_turn_id(second.response.turn_id());
  const auto stream = client().Subscribe(request);
  ASSERT_TRUE(stream->WaitForEnd() && stream->WaitForEnd()->ok());
  std::vector<Event> all = before;
  std::erase_if(all, [](const Event& event) { return event.seq() == 0; });
  const std::vector<Event> more = stream->Stored();
  EXPECT_EQ(all.back().position(), position);
  all.insert(all.end(), more.begin(), more.end());
  EXPECT_THAT(CheckNoHoleNoRepeat(all), IsEmpty());
  EXPECT_EQ(TextOf(all), "onetwo");
}

TEST_F(LostTest, AKilledWorkerInATurnInterruptsIt) {
  StartDaemon();
  const api::ChatResponse running = BeginWithChild();
  const pid_t agent = log().Pids().back(), worker = ParentOf(agent), child = Child();
  ASSERT_GT(worker, 1);
  ::kill(worker, SIGKILL);
  const api::Turn turn = WaitForTurn(running.turn_id());
  EXPECT_EQ(turn.result().outcome(), api::TurnResult::OUTCOME_INTERRUPTED);
  EXPECT_EQ(turn.result().error().reason(), "WORKER_LOST");
  EXPECT_EQ(turn.result().text(), "before");
  // The tree was gone before the turn ended.
  EXPECT_FALSE(IsAlive(agent));
  EXPECT_FALSE(IsAlive(child));
  EXPECT_EQ(client().GetSession(running.session_id()).response.state(),
            api::Session::STATE_DORMANT);
  const auto next = client().Say(kProject, running.session_id(), "COUNT");
  ASSERT_TRUE(next.ok()) << next.ToString();
  EXPECT_EQ(next.response.session_id(), running.session_id());
  EXPECT_EQ(next.response.origin().kind(), api::SessionOrigin::KIND_RESUMED);
  EXPECT_EQ(next.response.result().text(), "2");
}

TEST_F(LostTest, AKilledWorkerBetweenTurnsIsResumed) {
  StartDaemon();
  const auto first = client().Say(kProject, "", "remember the number 42");
  ASSERT_TRUE(first.ok()) << first.ToString();
  ::kill(ParentOf(log().Pids().back()), SIGKILL);
  ASSERT_TRUE(WaitForState(first.response.session_id(), api::Session::STATE_DORMANT));
  const auto second = client().Say(kProject, first.response.session_id(), "what number did I say?");
  ASSERT_TRUE(second.ok()) << second.ToString();
  EXPECT_EQ(second.response.origin().kind(), api::SessionOrigin::KIND_RESUMED);
  EXPECT_EQ(second.response.result().text(), "42");
}

TEST_F(LostTest, AKilledAgentInATurnInterruptsIt) {
  StartDaemon();
  const api::ChatResponse running = BeginWithChild();
  const pid_t child = Child();
  KillAgent();
  const api::Turn turn = WaitForTurn(running.turn_id());
  EXPECT_EQ(turn.result().outcome(), api::TurnResult::OUTCOME_INTERRUPTED);
  EXPECT_EQ(turn.result().error().reason(), "AGENT_EXITED");
  EXPECT_EQ(turn.result().text(), "before");
  EXPECT_FALSE(IsAlive(child));
  const std::vector<Event> events = EventsOf(running.session_id());
  const auto exited = std::find_if(events.begin(), events.end(), Is(Event::kWorkerExited));
  ASSERT_NE(exited, events.end());
  EXPECT_EQ(exited->worker_exited().signal(), SIGKILL);
  EXPECT_FALSE(exited->worker_exited().expected());
  const auto next = client().Say(kProject, running.session_id(), "COUNT");
  ASSERT_TRUE(next.ok()) << next.ToString();
  EXPECT_EQ(next.response.origin().kind(), api::SessionOrigin::KIND_RESUMED);
}

TEST_F(LostTest, ASetUpThatWasInterruptedBeginsAnew) {
  json script = json::object();
  script["session/new"] = Steps(Steps(Barrier("new")), Steps("reply"));
  UseScript(script);
  StartDaemon();
  const std::string turn_id = Accept("", Steps(Say("done")));
  ASSERT_TRUE(barriers().WaitReached("new"));
  KillAndRestartDaemon();
  const api::Turn turn = WaitForTurn(turn_id);
  EXPECT_EQ(turn.result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  EXPECT_EQ(turn.result().text(), "done");
  EXPECT_EQ(log().Received("session/prompt").size(), 1u);
  EXPECT_EQ(CountEnds(turn_id), 1u);
}

TEST_F(LostTest, ARestartedAcpdCancelsWhatItTakesOver) {
  StartDaemon();
  const api::ChatResponse running = BeginAt("hold");
  const std::string queued = Accept(running.session_id(), Steps(Say("never")));
  KillAndRestartDaemon();
  // At once: it may not be connected to the worker yet.
  api::CancelRequest request;
  request.set_everything(true);
  const auto cancelled = client().Cancel(request);
  ASSERT_TRUE(cancelled.ok()) << cancelled.ToString();
  const auto turn = client().GetTurn(running.turn_id());
  EXPECT_EQ(turn.response.state(), api::TURN_STATE_ENDED);
  EXPECT_EQ(turn.response.result().outcome(), api::TurnResult::OUTCOME_CANCELLED);
  EXPECT_EQ(client().GetTurn(queued).response.state(), api::TURN_STATE_ENDED);
  EXPECT_EQ(CountEnds(running.turn_id()), 1u);
}

TEST_F(LostTest, AStopRightAfterTheRestartLeavesNothing) {
  StartDaemon();
  const api::ChatResponse running = BeginWithChild();
  const pid_t agent = log().Pids().back(), worker = ParentOf(agent), child = Child();
  KillAndRestartDaemon();
  EXPECT_EQ(daemon().Stop(), (ExitStatus{0, 0}));
  for (const pid_t pid : {agent, worker, child}) EXPECT_FALSE(IsAlive(pid)) << pid;
  StartDaemon();
  const api::Turn turn = WaitForTurn(running.turn_id());
  EXPECT_EQ(turn.result().outcome(), api::TurnResult::OUTCOME_CANCELLED);
  EXPECT_EQ(turn.result().cancelled_by(), "shutdown");
  EXPECT_EQ(CountEnds(running.turn_id()), 1u);
}

TEST_F(LostTest, AnOpenQuestionOfALostTurnIsResolved) {
  StartDaemon();
  const auto chat = client().Begin(kProject, "", "ASK");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  ASSERT_TRUE(WaitForState(chat.response.session_id(), api::Session::STATE_WAITING));
  LoseAllAndRestart();
  EXPECT_EQ(WaitForTurn(chat.response.turn_id()).result().outcome(),
            api::TurnResult::OUTCOME_INTERRUPTED);
  const std::vector<Event> events = EventsOf(chat.response.session_id());
  const auto resolved = std::find_if(events.begin(), events.end(), Is(Event::kQuestionResolved));
  ASSERT_NE(resolved, events.end());
  EXPECT_EQ(resolved->question_resolved().by(), api::QuestionResolved::BY_EXIT);
  EXPECT_EQ(client().GetSession(chat.response.session_id()).response.open_questions_size(), 0);
}

}  // namespace
}  // namespace acpd::e2e
