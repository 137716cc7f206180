// What goes wrong between a session, its store and its worker: an end that cannot be stored, a
// kill between two commits, a store that is behind when acpd comes back.
#include <gmock/gmock.h>

#include <filesystem>

#include "session/errors.h"
#include "tests/session/manager_harness.h"

namespace acpd::session {
namespace {

using std::chrono::steady_clock;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ManagerTroubleTest : public ManagerTest {
 protected:
  TurnView WaitForEnd(const std::string& turn_id) {
    const auto turn = Run(manager().GetTurn(NewCall(), {turn_id, "", ""}, WaitFor::kFinished));
    EXPECT_TRUE(turn.ok()) << turn.status();
    return turn.ok() ? *turn : TurnView();
  }
  size_t CountEnds(const std::string& session_id) {
    const std::vector<std::string> events = Events(session_id);
    return static_cast<size_t>(
        std::count_if(events.begin(), events.end(),
                      [](const std::string& event) { return event.starts_with("turn_ended"); }));
  }
  void RunFor(milliseconds time) {
    const auto until = steady_clock::now() + time;
    RunUntil([until] { return steady_clock::now() >= until; });
  }
};

TEST_F(ManagerTroubleTest, AnEndThatTheStoreRefusesIsToldAllTheSame) {
  Begin();
  const auto running = Chat(Request(R"(![{"barrier":"hold"}])", "", WaitFor::kStarted));
  ASSERT_TRUE(running.ok()) << running.status();
  const std::string session = running->turn.session_id;
  SetCommits(Commits::kSpoilEnd);
  barriers().Release("hold");
  ASSERT_TRUE(RunUntil([&] { return CountEnds(session) == 1; }));
  Crash();
  Begin();
  const TurnView ended = WaitForEnd(running->turn.turn_id);
  EXPECT_EQ(ended.state, TurnState::kEnded);
  EXPECT_EQ(ended.result.outcome, Outcome::kFailed);
  EXPECT_EQ(ended.result.error.reason, "INTERNAL");
  EXPECT_EQ(CountEnds(session), 1u);
}

TEST_F(ManagerTroubleTest, AStoreThatTakesNothingIsNotAskedAgainAndAgain) {
  Begin();
  const auto running = Chat(Request(R"(![{"barrier":"hold"}])", "", WaitFor::kStarted));
  ASSERT_TRUE(running.ok()) << running.status();
  const std::string session = running->turn.session_id;
  SetCommits(Commits::kSpoilAll);
  barriers().Release("hold");
  RunFor(milliseconds(1000));
  EXPECT_LT(commits(), 100u);
  SetCommits(Commits::kCommit);
  EXPECT_EQ(Say("hello", session).turn.result.outcome, Outcome::kCompleted);
  EXPECT_EQ(CountEnds(session), 2u);
}

// The prompt's answer has been taken, and the record that draws the conclusion has not.
TEST_F(ManagerTroubleTest, AResumeThatOnlyLookedGoodIsFoundOutAgainAfterAKill) {
  agent().resume = {ResumeMethod::kSessionLoad};
  UseScript(R"({"session/load": [{"reply": null}], "session/prompt": [["reply"],
      [{"barrier": "hold"}, {"error": {"code": -32002, "message": "Resource not found"}}],
      ["reply"]]})");
  Begin();
  const std::string old_id = Say("hello").turn.session_id;
  ASSERT_TRUE(Run(manager().CloseSession(NewCall(), old_id, false)).ok());
  const auto running = Chat(Request("again", old_id, WaitFor::kStarted));
  ASSERT_TRUE(running.ok()) << running.status();
  SetCommits(Commits::kHoldTakenBack);
  barriers().Release("hold");
  ASSERT_TRUE(RunUntil([&] { return held_commits() > 0; }));
  RunFor(milliseconds(100));
  Crash();
  Begin();
  const TurnView ended = WaitForEnd(running->turn.turn_id);
  EXPECT_EQ(ended.result.outcome, Outcome::kCompleted) << ended.result.error.message;
  EXPECT_NE(ended.session_id, old_id);
}

TEST_F(ManagerTroubleTest, AWorkerIsAdoptedThoughTheStoreIsBehind) {
  Begin();
  const auto running =
      Chat(Request(R"(![{"barrier":"hold"},{"update":"said"}])", "", WaitFor::kStarted));
  ASSERT_TRUE(running.ok()) << running.status();
  Crash();
  Clog(64u << 20);
  Begin();
  barriers().Release("hold");
  Clog(0);
  const TurnView ended = WaitForEnd(running->turn.turn_id);
  EXPECT_EQ(ended.result.outcome, Outcome::kCompleted) << ended.result.error.message;
}

TEST_F(ManagerTroubleTest, AStalledTurnThatIsBeingCancelledKeepsTheLoopIdle) {
  UseScript(R"({"on_cancel": "ignore", "session/prompt": [["silent"]]})");
  agent().turn_stall = milliseconds(200);
  agent().cancel_grace = milliseconds(1500);
  Begin();
  const auto running = Chat(Request("hang", "", WaitFor::kStarted));
  ASSERT_TRUE(running.ok()) << running.status();
  const size_t before = handled();
  const TurnView ended = WaitForEnd(running->turn.turn_id);
  EXPECT_EQ(ended.result.error.reason, "TURN_STALLED");
  EXPECT_LT(handled() - before, 2000u);
}

TEST_F(ManagerTroubleTest, ATurnThatEndedInTimeWhileAcpdWasAwayDidNotTimeOut) {
  agent().turn_timeout = milliseconds(1500);
  Begin();
  const auto running =
      Chat(Request(R"(![{"barrier":"hold"},{"burst":[2000,2000]}])", "", WaitFor::kStarted));
  ASSERT_TRUE(running.ok()) << running.status();
  Crash();
  barriers().Release("hold");
  PassTime(milliseconds(60'000));
  Begin();
  const TurnView ended = WaitForEnd(running->turn.turn_id);
  EXPECT_EQ(ended.result.outcome, Outcome::kCompleted) << ended.result.error.message;
}

TEST_F(ManagerTroubleTest, NeitherACancelNorAListWaitsForAStoreThatDoesNotWrite) {
  UseScript(R"({"session/prompt": [["silent"]], "on_cancel": "ignore"})");
  Begin();
  const auto running = Chat(Request("hang", "", WaitFor::kStarted));
  ASSERT_TRUE(running.ok()) << running.status();
  SetCommits(Commits::kDown);
  const auto begun = steady_clock::now();
  CancelQuery query;
  query.turn_id = running->turn.turn_id;
  const auto cancelled = Run(manager().Cancel(NewCall(), query));
  ASSERT_TRUE(cancelled.ok()) << cancelled.status();
  EXPECT_EQ(cancelled->outcome, CancelOutcome::kForced);
  const auto listed = Run(manager().ListSessions(NewCall(), ListSessionsQuery()));
  EXPECT_EQ(ReasonOf(listed.status()), "STORE_UNAVAILABLE");
  EXPECT_THAT(std::string(listed.status().message()), HasSubstr("disk is full"));
  EXPECT_LT(steady_clock::now() - begun, std::chrono::seconds(15));
  // Its end is logged when the store is back.
  SetCommits(Commits::kCommit);
  EXPECT_EQ(WaitForEnd(running->turn.turn_id).result.outcome, Outcome::kCancelled);
  EXPECT_EQ(CountEnds(running->turn.session_id), 1u);
}

TEST_F(ManagerTroubleTest, ARestoredStoreDoesNotGoOnWithAnAgentThatIsAheadOfIt) {
  namespace fs = std::filesystem;
  const fs::path state = config().state_dir, copy = state.string() + ".copy";
  Begin();
  const auto running = Chat(Request(R"(![{"barrier":"hold"}])", "", WaitFor::kStarted));
  ASSERT_TRUE(running.ok()) << running.status();
  ASSERT_TRUE(RunUntil([&] { return barriers().Reached("hold"); }));
  Crash();
  fs::copy(state, copy, fs::copy_options::recursive);
  Begin();
  barriers().Release("hold");
  WaitForEnd(running->turn.turn_id);
  EXPECT_EQ(Say("more", running->turn.session_id).turn.result.outcome, Outcome::kCompleted);
  Crash();
  fs::remove_all(state);
  fs::rename(copy, state);
  Begin();
  const TurnView ended = WaitForEnd(running->turn.turn_id);
  EXPECT_EQ(ended.result.outcome, Outcome::kInterrupted);
  EXPECT_EQ(ended.result.error.reason, "WORKER_LOST");
  EXPECT_THAT(Events(running->turn.session_id), ::testing::Contains("notice WORKER_NOT_ADOPTED"));
}

}  // namespace
}  // namespace acpd::session
