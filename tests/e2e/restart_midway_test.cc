// acpd is killed in the middle of something that it does to an agent: what it had begun is ended by
// the next one, and no turn is left between two states.

#include <algorithm>
#include <future>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using Result = api::TurnResult;

class MidwayTest : public TurnsTest {
 protected:
  MidwayTest() { options().extra["shutdown"] = {{"workers", "keep"}}; }

  // A turn of an agent that cannot be persuaded to end anything.
  void BeginStubborn() {
    SetFake("cancel_grace", "60s");
    SetFake("stop_grace", "60s");
    StartDaemon();
    const auto chat =
        client().Begin(kProject, "",
                       Scripted(Steps(Step("on_cancel", "ignore"), Step("ignore", "EOF"),
                                      Step("ignore", "TERM"), Say("one"), Barrier("hold"))));
    ASSERT_TRUE(chat.ok()) << chat.ToString();
    session_ = chat.response.session_id();
    turn_ = chat.response.turn_id();
    ASSERT_TRUE(barriers().WaitReached("hold"));
    agent_ = log().Pids().back();
  }
  // Makes the call, which does not come to its end, and kills acpd once `begun` holds.
  void KillDuring(const std::function<void()>& call, const std::function<bool()>& begun) {
    auto calling = std::async(std::launch::async, call);
    EXPECT_TRUE(WaitUntil(begun));
    daemon().Kill();
    calling.get();
  }
  void ExpectEnded(const std::string& turn, Result::Outcome outcome) {
    EXPECT_EQ(WaitForTurn(turn).result().outcome(), outcome) << client().GetTurn(turn).ToString();
    EXPECT_EQ(CountEnds(turn), 1u);
    EXPECT_EQ(log().Received("session/cancel").size(), 1u);
  }
  void ExpectResumes() {
    const auto next = client().Say(kProject, session_, "COUNT");
    ASSERT_TRUE(next.ok()) << next.ToString();
    EXPECT_EQ(next.response.result().text(), "2");
    EXPECT_EQ(next.response.origin().kind(), api::SessionOrigin::KIND_RESUMED);
  }
  bool IsCancelling() {
    return client().GetTurn(turn_).response.state() == api::TURN_STATE_CANCELLING;
  }

  std::string session_, turn_;
  pid_t agent_ = 0;
};

TEST_F(MidwayTest, AKillByACancelIsCompleted) {
  BeginStubborn();
  const pid_t worker = ParentOf(agent_);
  ::kill(worker, SIGSTOP);  // it hears of its end only later
  api::CancelRequest request;
  request.set_turn_id(turn_);
  request.mutable_grace();  // 0: at once
  KillDuring([&] { client().Cancel(request, milliseconds(1000)); },
             [this] { return IsCancelling(); });
  ::kill(worker, SIGCONT);
  StartDaemon();
  request.set_reason("again");
  client().Cancel(request);
  EXPECT_EQ(WaitForTurn(turn_).result().outcome(), Result::OUTCOME_CANCELLED);
  EXPECT_EQ(CountEnds(turn_), 1u);
  EXPECT_FALSE(IsAlive(agent_));
  ASSERT_TRUE(WaitForState(session_, api::Session::STATE_DORMANT));
  ExpectResumes();
}

TEST_F(MidwayTest, AForcedCloseCanBeAskedForAgain) {
  BeginStubborn();
  api::CloseSessionRequest request;
  request.set_session_id(session_);
  request.set_force(true);
  const auto close = [&](milliseconds patience) {
    return client().Call(&Client::Stub::CloseSession, request, patience);
  };
  KillDuring([&] { close(milliseconds(1000)); }, [this] { return IsCancelling(); });
  // The agent has changed its mind meanwhile: the cancel that it has had counts.
  barriers().Release("hold");
  StartDaemon();
  ExpectEnded(turn_, Result::OUTCOME_CANCELLED);
  SetFake("stop_grace", "300ms");
  KillAndRestartDaemon();
  const auto closed = close(kPatience);
  EXPECT_TRUE(closed.ok()) << closed.ToString();
  EXPECT_EQ(closed.response.state(), api::Session::STATE_DORMANT);
  EXPECT_FALSE(IsAlive(agent_));
  ExpectResumes();
}

TEST_F(MidwayTest, AForcedDeleteCanBeAskedForAgain) {
  BeginStubborn();
  api::DeleteSessionRequest request;
  request.set_session_id(session_);
  request.set_force(true);
  const auto remove = [&](milliseconds patience) {
    return client().Call(&Client::Stub::DeleteSession, request, patience);
  };
  KillDuring([&] { remove(milliseconds(1000)); }, [this] { return IsCancelling(); });
  barriers().Release("hold");
  SetFake("stop_grace", "300ms");
  StartDaemon();
  ExpectEnded(turn_, Result::OUTCOME_CANCELLED);
  const auto removed = remove(kPatience);
  EXPECT_TRUE(removed.ok()) << removed.ToString();
  EXPECT_EQ(client().GetSession(session_).reason(), "SESSION_NOT_FOUND");
  EXPECT_FALSE(IsAlive(agent_));
}

TEST_F(MidwayTest, AnIdleAgentThatWasBeingStoppedIsEnded) {
  SetFake("stop_grace", "60s");
  StartDaemon();
  const auto chat = client().Say(
      kProject, "", Scripted(Steps(Step("ignore", "EOF"), Step("ignore", "TERM"), Say("one"))));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  session_ = chat.response.session_id();
  agent_ = log().Pids().back();
  api::CloseSessionRequest request;
  request.set_session_id(session_);
  const auto is_closing = [this] { return !log().Events("eof").empty(); };
  KillDuring([&] { client().Call(&Client::Stub::CloseSession, request, milliseconds(3000)); },
             is_closing);
  StartDaemon();
  EXPECT_TRUE(WaitUntil([this] { return !IsAlive(agent_); }));
  ASSERT_TRUE(WaitForState(session_, api::Session::STATE_DORMANT));
  ExpectResumes();
}

TEST_F(MidwayTest, AResumeBeginsAnewAndReplaysNothingAsNew) {
  json script = json::object();
  script["session/load"] =
      json::array({Steps(Step("replay", "history"), Barrier("load")), Steps()});
  UseScript(script);
  SetFake("resume", json::array({"session/load"}));
  StartDaemon();
  session_ = MakeDormant();
  turn_ = Accept(session_, Steps(Say("fresh")));
  ASSERT_TRUE(barriers().WaitReached("load"));
  agent_ = log().Pids().back();
  KillAndRestartDaemon();
  const api::Turn ended = WaitForTurn(turn_);
  EXPECT_EQ(ended.result().outcome(), Result::OUTCOME_COMPLETED);
  EXPECT_EQ(ended.result().text(), "fresh");
  EXPECT_EQ(ended.origin().kind(), api::SessionOrigin::KIND_RESUMED);
  EXPECT_EQ(ended.session_id(), session_);
  EXPECT_FALSE(IsAlive(agent_));
  std::vector<Event> updates = EventsOf(session_);
  std::erase_if(updates, [](const Event& event) { return !event.has_session_update(); });
  EXPECT_EQ(std::count_if(updates.begin(), updates.end(), SaysText("fresh")), 1);
  EXPECT_EQ(updates.size(), 2u);  // and the one of the turn before
}

TEST_F(MidwayTest, AWorkerThatDoesNotAnswerIsGivenUp) {
  BeginStubborn();
  const pid_t worker = ParentOf(agent_);
  ::kill(worker, SIGSTOP);
  const std::string queued = Accept(session_, Steps(Say("two")));
  KillAndRestartDaemon();
  const api::Turn lost = WaitForTurn(turn_);
  EXPECT_EQ(lost.result().outcome(), Result::OUTCOME_INTERRUPTED);
  EXPECT_EQ(lost.result().error().reason(), "WORKER_LOST");
  EXPECT_FALSE(IsAlive(agent_));
  EXPECT_FALSE(IsAlive(worker));
  const api::Turn next = WaitForTurn(queued);
  EXPECT_EQ(next.result().text(), "two");
  EXPECT_EQ(next.origin().kind(), api::SessionOrigin::KIND_RESUMED);
}

// The next acpd is killed while it takes the workers over, again and again.
TEST_F(MidwayTest, ATakeOverThatIsKilledIsTakenUpAgain) {
  StartDaemon();
  std::vector<std::string> turns;
  for (int i = 0; i < 8; ++i) {
    const auto chat =
        client().Begin(kProject, "", Scripted(Steps(Say("a"), Barrier("hold"), Say("b"))));
    ASSERT_TRUE(chat.ok()) << chat.ToString();
    turns.push_back(chat.response.turn_id());
  }
  ASSERT_TRUE(log().WaitFor([&](const json&) { return log().Events("reached").size() == 8; }));
  for (int round = 0; round < 10; ++round) KillAndRestartDaemon();  // at once when it is ready
  barriers().Release("hold");
  for (const std::string& turn : turns) {
    const Result result = WaitForTurn(turn).result();
    EXPECT_EQ(result.outcome(), Result::OUTCOME_COMPLETED) << result.ShortDebugString();
    EXPECT_EQ(result.text(), "ab");
    EXPECT_EQ(TextOf(AllEvents(), turn), "ab");
    EXPECT_EQ(CountEnds(turn), 1u);
  }
  EXPECT_EQ(log().Received("session/prompt").size(), 8u);
  EXPECT_EQ(log().Pids().size(), 8u);
}

}  // namespace
}  // namespace acpd::e2e
