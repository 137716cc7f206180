// A cancel of a turn and what acpd is doing for its agent then: nothing of it keeps the agent from
// confirming the cancel, and nothing of another turn is touched.
#include "tests/session/services_harness.h"

namespace acpd::session {
namespace {

using ::testing::Each;
using ::testing::Not;
using ::testing::StartsWith;

class ServicesCancelTest : public ServicesTest {
 protected:
  // An agent that confirms a cancel only when what it asked for has been answered.
  static json Patient() { return json::array({{{"on_cancel", "ignore"}}}); }
  static std::string Confirming(json steps) {
    steps.push_back({{"reply", {{"stopReason", "cancelled"}}}});
    return "!" + steps.dump();
  }
  void StartConfirming(json steps, const std::string& session_id = "") {
    const auto begun = Chat(Request(Confirming(std::move(steps)), session_id, WaitFor::kStarted));
    ASSERT_TRUE(begun.ok()) << begun.status();
    turn_id_ = begun->turn.turn_id;
    session_id_ = begun->turn.session_id;
  }
  // The agent did as its steps say, and confirmed by itself.
  void ExpectConfirmed() {
    const auto ended = Run(manager().GetTurn(NewCall(), {turn_id_, "", ""}, WaitFor::kFinished));
    ASSERT_TRUE(ended.ok()) << ended.status();
    EXPECT_EQ(ended->result.outcome, Outcome::kCancelled);
    EXPECT_EQ(ended->result.stop_reason, "cancelled")
        << ended->result.error.message << " " << ended->result.error.agent_data;
    EXPECT_THAT(Events(session_id_), Each(Not(StartsWith("worker_exited"))));
    EXPECT_EQ(agent_log().Pids().size(), 1u);
  }
  void Cancel() { CancelWith(NewCall(), CancelOutcome::kCancelled); }
  // The agent cannot confirm yet.
  void CancelUnconfirmed() {
    const CallPtr call = NewCall();
    call->deadline = std::chrono::steady_clock::now() + milliseconds(200);
    CancelWith(call, CancelOutcome::kPending);
  }
  void CancelWith(const CallPtr& call, CancelOutcome outcome) {
    CancelQuery query;
    query.turn_id = turn_id_;
    const auto cancelled = Run(manager().Cancel(call, query));
    ASSERT_TRUE(cancelled.ok()) << cancelled.status();
    EXPECT_EQ(cancelled->outcome, outcome);
  }

  std::string session_id_;
};

TEST_F(ServicesCancelTest, TheWaitsOfItsTurnEnd) {
  Begin();
  json steps = Patient();
  Add(steps, "terminal/create", Shell("echo on; exec sleep 1000"), Result(Of("term-1")));
  steps.push_back(Ask("terminal/wait_for_exit", Of("term-1")));
  const json first = Expect(Code(kCancelledCode, "prompt turn"));
  Add(steps, "terminal/wait_for_exit", Of("term-1"), Code(kCancelledCode, "prompt turn"));
  steps.push_back(first);
  // The command is the agent's to end, and what it asks from now on is served.
  Add(steps, "terminal/kill", Of("term-1"), Result(json::object()));
  Add(steps, "terminal/wait_for_exit", Of("term-1"), Result({{"signal", "SIGTERM"}}));
  Add(steps, "terminal/output", Of("term-1"), Result({{"output", "on\n"}}));
  Add(steps, "fs/write_text_file", {{"path", Path("note")}, {"content", "x"}},
      Result(json::object()));
  StartConfirming(steps);
  ASSERT_TRUE(
      RunUntil([&] { return HasSeen(session_id_, "on\n") && Stored("agent_requests") == 2; }));
  Cancel();
  ExpectConfirmed();
  EXPECT_EQ(ReadFile(Path("note")), "x");
  EXPECT_EQ(Stored("agent_requests"), 0);
}

// A kill and a release are on their way to the end of the command.
TEST_F(ServicesCancelTest, AReleaseUnderWayIsDone) {
  Begin();
  json steps = Patient();
  Add(steps, "terminal/create", Shell("trap '' TERM; echo on; while :; do sleep 1; done"),
      Result(Of("term-1")));
  steps.push_back({{"barrier", "resists"}});
  Add(steps, "terminal/release", Of("term-1"), Result(json::object()));
  StartConfirming(steps);
  ASSERT_TRUE(RunUntil([&] { return HasSeen(session_id_, "on\n"); }));
  barriers().Release("resists");
  ASSERT_TRUE(RunUntil([&] { return Stored("agent_requests") == 1; }));
  Cancel();
  ExpectConfirmed();
  EXPECT_EQ(Stored("terminals"), 0);
}

// The agent may ask before it has heard of the cancel.
TEST_F(ServicesCancelTest, AWaitThatComesAfterItEndsToo) {
  Begin();
  json steps = Patient();
  Add(steps, "terminal/create", Shell("exec sleep 1000"), Result(Of("term-1")));
  steps.push_back({{"barrier", "asks"}});
  Add(steps, "terminal/wait_for_exit", Of("term-1"), Code(kCancelledCode, "prompt turn"));
  // Not for a command that it ends.
  steps.push_back(Ask("terminal/kill", Of("term-1")));
  const json killed = Expect(Result(json::object()));
  Add(steps, "terminal/wait_for_exit", Of("term-1"), Result({{"signal", "SIGTERM"}}));
  steps.push_back(killed);
  StartConfirming(steps);
  ASSERT_TRUE(RunUntil([&] { return barriers().Reached("asks"); }));
  CancelUnconfirmed();
  barriers().Release("asks");
  ExpectConfirmed();
}

TEST_F(ServicesCancelTest, TheWaitOfAnEarlierTurnGoesOn) {
  Begin();
  json steps = json::array();
  Add(steps, "terminal/create", Shell("while [ ! -e go ]; do sleep 0.02; done; exit 5"),
      Result(Of("term-1")));
  steps.push_back(Ask("terminal/wait_for_exit", Of("term-1")));
  const json earlier = Expect(Result({{"exitCode", 5}}));
  const std::string session_id = Play(steps);

  json later = Patient();
  Add(later, "terminal/wait_for_exit", Of("term-1"), Code(kCancelledCode));
  Add(later, "fs/write_text_file", {{"path", Path("go")}, {"content", ""}}, Result(json::object()));
  later.push_back(earlier);
  StartConfirming(later, session_id);
  ASSERT_TRUE(RunUntil([&] { return Stored("agent_requests") == 2; }));
  Cancel();
  ExpectConfirmed();
}

TEST_F(ServicesCancelTest, FilesThatWaitDoNotBeginAndOneThatHasBegunIsAnswered) {
  constexpr int kReads = 20;  // one after the other, since a write stands behind each
  Begin();
  std::filesystem::create_directories(Folder());
  MakeSlowFile(Path("slow"));
  json steps = Patient();
  json answers = json::array();
  for (int i = 0; i < kReads; ++i) {
    steps.push_back(
        Ask("fs/read_text_file", {{"path", Path("slow")}, {"line", 999}, {"limit", 1}}));
    if (i == 0) answers.push_back(Expect(Result({{"content", ""}})));
    steps.push_back(Ask("fs/write_text_file", {{"path", Path("a")}, {"content", "x"}}));
  }
  answers.push_back(Expect(Code(kCancelledCode, "prompt turn")));
  for (const json& answer : answers) steps.push_back(answer);
  StartConfirming(steps);
  ASSERT_TRUE(RunUntil([&] { return Stored("agent_requests") >= 2 * kReads - 1; }));
  Cancel();
  ExpectConfirmed();
  size_t reads = 0;
  for (const std::string& event : Seen(session_id_)) reads += event.starts_with("file_read");
  EXPECT_LT(reads, kReads);
  EXPECT_EQ(Stored("agent_requests"), 0);
}

TEST_F(ServicesCancelTest, ACommandThatHasNotBegunDoesNotBegin) {
  Begin();
  json steps = Patient();
  steps.push_back({{"barrier", "asks"}});
  Add(steps, "terminal/create", Shell("touch begun"), Code(kCancelledCode, "prompt turn"));
  StartConfirming(steps);
  ASSERT_TRUE(RunUntil([&] { return barriers().Reached("asks"); }));
  SetCommits(Commits::kHold);
  barriers().Release("asks");
  ASSERT_TRUE(RunUntil([&] { return held_commits() > 0; }));
  CancelUnconfirmed();
  SetCommits(Commits::kCommit);
  ExpectConfirmed();
  EXPECT_FALSE(std::filesystem::exists(Path("begun")));
}

TEST_F(ServicesCancelTest, ALimitEndsTheWaitsToo) {
  agent().turn_timeout = milliseconds(4000);
  Begin();
  json steps = Patient();
  Add(steps, "terminal/create", Shell("exec sleep 1000"), Result(Of("term-1")));
  Add(steps, "terminal/wait_for_exit", Of("term-1"), Code(kCancelledCode));
  const ChatReply reply = Say(Confirming(steps));
  EXPECT_EQ(reply.turn.result.error.reason, "TURN_TIMEOUT");
  EXPECT_THAT(Events(reply.turn.session_id), Each(Not(StartsWith("worker_exited"))));
}

// What is answered stands in the record that says that the turn is being cancelled: the next acpd
// does not serve it again.
TEST_F(ServicesCancelTest, AnAcpdThatIsStartedMeanwhileKnowsOfIt) {
  Begin();
  json before = json::array();
  Add(before, "terminal/create", Shell("while [ ! -e go ]; do sleep 0.02; done; exit 5"),
      Result(Of("term-1")));
  before.push_back(Ask("terminal/wait_for_exit", Of("term-1")));
  const json earlier = Expect(Result({{"exitCode", 5}}));
  const std::string session_id = Play(before);

  json steps = Patient();
  Add(steps, "terminal/create", Shell("echo on; exec sleep 1000"), Result(Of("term-3")));
  steps.push_back(Ask("terminal/wait_for_exit", Of("term-3")));
  const json waited = Expect(Code(kCancelledCode));
  steps.push_back(Ask("terminal/wait_for_exit", Of("term-3")));
  const json waited_too = Expect(Code(kCancelledCode));
  steps.push_back({{"barrier", {{"name", "deaf"}, {"deaf", true}}}});
  steps.push_back(waited);
  steps.push_back(waited_too);
  Add(steps, "fs/write_text_file", {{"path", Path("go")}, {"content", ""}}, Result(json::object()));
  steps.push_back(earlier);
  StartConfirming(steps, session_id);
  ASSERT_TRUE(RunUntil([&] { return barriers().Reached("deaf"); }));
  ASSERT_TRUE(
      RunUntil([&] { return HasSeen(session_id_, "on\n") && Stored("agent_requests") == 3; }));
  SetCommits(Commits::kHold);
  CancelUnconfirmed();
  EXPECT_EQ(held_commits(), 1u);
  SetCommits(Commits::kCommit);
  ASSERT_TRUE(RunUntil([&] { return Stored("agent_requests") == 1; }));
  Crash();
  barriers().Release("deaf");
  Begin();
  ExpectConfirmed();
}

}  // namespace
}  // namespace acpd::session
