// A worker whose agent has a command running (a dev server) and nothing else to do: how long it is
// kept, and when it goes to make room.
#include "tests/session/services_harness.h"

namespace acpd::session {
namespace {

using std::chrono::steady_clock;
using ::testing::Contains;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kClosedIdle[] = "session_closed reason=2";
constexpr char kClosedForRoom[] = "session_closed reason=3";

class ServicesIdleTest : public ServicesTest {
 protected:
  bool Has(const std::string& session_id, const std::string& event) {
    const std::vector<std::string> events = Events(session_id);
    return std::find(events.begin(), events.end(), event) != events.end();
  }
  std::string PlayTerminal(const std::string& script) {
    json steps = json::array();
    Add(steps, "terminal/create", Shell(script), Result(Of("term-1")));
    return Play(steps);
  }
};

TEST_F(ServicesIdleTest, ACommandThatSaysNothingRunsToItsEnd) {
  agent().idle_timeout = milliseconds(200);
  Begin();
  const std::string session_id = PlayTerminal("sleep 2; exit 4");
  ASSERT_TRUE(RunUntil([&] { return Has(session_id, kClosedIdle); }))
      << "it is idle once it has exited";
  EXPECT_THAT(Seen(session_id).back(), "terminal_output term-1 exited 4");
}

TEST_F(ServicesIdleTest, ACommandThatWasReleasedKeepsNobody) {
  agent().idle_timeout = milliseconds(200);
  Begin();
  json steps = json::array();
  Add(steps, "terminal/create", Shell("exec sleep 1000"), Result(Of("term-1")));
  Add(steps, "terminal/kill", Of("term-1"), Result(json::object()));
  Add(steps, "terminal/create", Shell("exec sleep 1000"), Result(Of("term-3")));
  Add(steps, "terminal/release", Of("term-3"), Result(json::object()));
  const std::string session_id = Play(steps);
  EXPECT_TRUE(RunUntil([&] { return Has(session_id, kClosedIdle); }));
}

TEST_F(ServicesIdleTest, ACommandThatWasForgottenDoesNotKeepItsWorkerForEver) {
  agent().idle_timeout = milliseconds(30);
  Begin();
  const SteadyTime began = steady_clock::now();
  const std::string session_id = PlayTerminal("exec sleep 1000");
  ASSERT_TRUE(RunUntil([&] { return Has(session_id, kClosedIdle); }));
  EXPECT_GE(steady_clock::now() - began, 96 * milliseconds(30));
  EXPECT_THAT(Seen(session_id).back(), StartsWith("terminal_output term-1 exited SIG"));
}

TEST_F(ServicesIdleTest, NorDoesOneThatWrites) {
  agent().idle_timeout = milliseconds(30);
  Begin();
  const std::string session_id = PlayTerminal("while :; do echo on; sleep 0.02; done");
  EXPECT_TRUE(RunUntil([&] { return Has(session_id, kClosedIdle); }));
}

// After a restart, too.
TEST_F(ServicesIdleTest, ACommandOfAnEarlierAcpdCounts) {
  agent().idle_timeout = milliseconds(200);
  Begin();
  const std::string session_id = PlayTerminal("while [ ! -e go ]; do sleep 0.02; done; exit 4");
  ASSERT_EQ(Stored("terminals"), 1);
  Crash();
  Begin();
  const SteadyTime later = steady_clock::now() + milliseconds(1500);
  ASSERT_TRUE(RunUntil([&] { return steady_clock::now() > later; }));
  WriteFile(Path("go"), "");
  ASSERT_TRUE(RunUntil([&] { return Has(session_id, kClosedIdle); }));
  EXPECT_THAT(Seen(session_id).back(), "terminal_output term-1 exited 4");
}

TEST_F(ServicesIdleTest, WorkersWithARunningCommandMakeRoomLast) {
  config().limits.max_workers = 2;
  config().limits.max_workers_per_project = 2;
  Begin();
  const std::string serving = PlayTerminal("exec sleep 1000");
  const std::string talking = Say("hello").turn.session_id;  // used later than the other
  const std::string third = Say("hello").turn.session_id;
  EXPECT_TRUE(Has(talking, kClosedForRoom));
  EXPECT_THAT(Events(serving), Not(Contains(StartsWith("session_closed"))));
  // Where there is no other, it is closed: room is for those who have something to do.
  const auto running = Chat(Request(R"(![{"barrier":"hold"}])", third, WaitFor::kStarted));
  ASSERT_TRUE(running.ok()) << running.status();
  Say("hello");
  EXPECT_TRUE(Has(serving, kClosedForRoom));
  barriers().Release("hold");
}

}  // namespace
}  // namespace acpd::session
