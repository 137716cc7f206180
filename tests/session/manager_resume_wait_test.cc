// Agents that lose a session which they load in the minute of the wall clock in which they made it:
// the resume waits for the next minute. The test's own clock says what minute it is.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>

#include "tests/session/manager_harness.h"

namespace acpd::session {
namespace {

using std::chrono::milliseconds;
using ::testing::Contains;
using ::testing::Not;

constexpr char kNotice[] = "notice RESUME_WAITS";

class ResumeWaitTest : public ManagerTest {
 protected:
  ResumeWaitTest() {
    agent().loads_in_later_minute = true;
    agent().resume = {ResumeMethod::kSessionLoad};
  }
  // The clock stands at this second of a minute.
  void GoToSecond(int second) {
    using namespace std::chrono;
    const auto now = duration_cast<milliseconds>(system_clock::now().time_since_epoch());
    const milliseconds in_minute = (now + skipped_) % minutes(1);
    milliseconds left = seconds(second) - in_minute;
    if (left < milliseconds(0)) left += minutes(1);
    Pass(left);
  }
  void Pass(milliseconds time) {
    skipped_ += time;
    PassTime(time);
  }
  // A session that was made in the same minute, and has no worker any more.
  std::string MakeDormant() {
    GoToSecond(30);
    const std::string id = Say("remember the number 42").turn.session_id;
    const auto closed = Run(manager().CloseSession(NewCall(), id, false));
    EXPECT_TRUE(closed.ok()) << closed.status();
    return id;
  }
  std::string Accept(const std::string& prompt, const std::string& session_id) {
    const auto reply = Chat(Request(prompt, session_id, WaitFor::kAccepted));
    EXPECT_TRUE(reply.ok()) << reply.status();
    return reply.ok() ? reply->turn.turn_id : "";
  }
  bool WaitForNotice(const std::string& session_id) {
    return RunUntil([&] {
      const std::vector<std::string> events = Events(session_id);
      return std::find(events.begin(), events.end(), kNotice) != events.end();
    });
  }
  SessionView Get(const std::string& session_id) {
    const auto session = Run(manager().GetSession(NewCall(), session_id));
    EXPECT_TRUE(session.ok()) << session.status();
    return session.ok() ? *session : SessionView();
  }
  TurnView WaitForEnd(const std::string& turn_id) {
    TurnQuery query;
    query.turn_id = turn_id;
    const auto turn = Run(manager().GetTurn(NewCall(), query, WaitFor::kFinished));
    EXPECT_TRUE(turn.ok()) << turn.status();
    return turn.ok() ? *turn : TurnView();
  }

 private:
  milliseconds skipped_{0};
};

TEST_F(ResumeWaitTest, TheSessionIsLoadedInTheNextMinute) {
  Begin();
  const std::string id = MakeDormant();
  const std::string turn_id = Accept("what number did I say?", id);
  ASSERT_TRUE(WaitForNotice(id));
  EXPECT_TRUE(agent_log().Received("session/load").empty());
  GoToSecond(1);  // of the next one, though no minute has passed
  const TurnView turn = WaitForEnd(turn_id);
  EXPECT_EQ(turn.origin.kind, OriginKind::kResumed);
  EXPECT_EQ(turn.origin.method, ResumeMethod::kSessionLoad);
  EXPECT_EQ(turn.result.final_text, "42");
  EXPECT_EQ(agent_log().Received("session/load").size(), 1u);
}

TEST_F(ResumeWaitTest, AnOlderSessionIsLoadedAtOnce) {
  Begin();
  const std::string id = MakeDormant();
  Pass(std::chrono::minutes(1));
  EXPECT_EQ(Say("what number did I say?", id).turn.result.final_text, "42");
  EXPECT_THAT(Events(id), Not(Contains(kNotice)));
}

TEST_F(ResumeWaitTest, OtherAgentsLoadAtOnce) {
  agent().loads_in_later_minute = false;
  Begin();
  const std::string id = MakeDormant();
  EXPECT_EQ(Say("what number did I say?", id).turn.result.final_text, "42");
  EXPECT_THAT(Events(id), Not(Contains(kNotice)));
}

TEST_F(ResumeWaitTest, ACancelEndsTheWait) {
  Begin();
  const std::string id = MakeDormant();
  const std::string turn_id = Accept("never sent", id);
  ASSERT_TRUE(WaitForNotice(id));
  CancelQuery query;
  query.turn_id = turn_id;
  const auto cancelled = Run(manager().Cancel(NewCall(), query));
  ASSERT_TRUE(cancelled.ok()) << cancelled.status();
  EXPECT_EQ(cancelled->outcome, CancelOutcome::kNotStarted);
  EXPECT_EQ(WaitForEnd(turn_id).result.outcome, Outcome::kCancelled);
  ASSERT_TRUE(RunUntil([&] { return Get(id).state == SessionState::kDormant; }));
  EXPECT_TRUE(agent_log().Received("session/load").empty());
  EXPECT_EQ(Get(id).last_error.reason, "") << "nothing failed: " << Get(id).last_error.message;
  Pass(std::chrono::minutes(1));
  EXPECT_EQ(Say("what number did I say?", id).turn.result.final_text, "42");
}

TEST_F(ResumeWaitTest, AStopEndsTheWaitAndTheTurnRunsAfterTheRestart) {
  Begin();
  const std::string id = MakeDormant();
  const std::string turn_id = Accept("what number did I say?", id);
  ASSERT_TRUE(WaitForNotice(id));
  Stop();
  EXPECT_TRUE(agent_log().Received("session/load").empty());
  Pass(std::chrono::minutes(1));
  Begin();
  EXPECT_EQ(WaitForEnd(turn_id).result.final_text, "42");
}

}  // namespace
}  // namespace acpd::session
