// Commands that acpd runs for an agent (terminal/*): the good case, each error, each limit, each
// end.
#include "tests/session/services_harness.h"

namespace acpd::session {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::StartsWith;

TEST_F(ServicesTest, ACommandRunsAndReadersSeeItsOutput) {
  Begin();
  json steps = json::array();
  Add(steps, "terminal/create", Shell("echo hello; exit 3"), Result(Of("term-1")));
  Add(steps, "terminal/wait_for_exit", Of("term-1"),
      Result({{"exitCode", 3}, {"signal", nullptr}}));
  Add(steps, "terminal/output", Of("term-1"),
      Result({{"output", "hello\n"}, {"truncated", false}, {"exitStatus", {{"exitCode", 3}}}}));
  Add(steps, "terminal/release", Of("term-1"), Result(json::object()));
  for (const char* method : {"output", "wait_for_exit", "kill", "release"}) {
    Add(steps, std::string("terminal/") + method, Of("term-1"), Code(kNotFoundCode, "term-1"));
  }
  const std::string session_id = Play(steps);
  EXPECT_THAT(Seen(session_id),
              ElementsAre("terminal_output term-1 $/bin/sh -c 'echo hello; exit 3'",
                          "terminal_output term-1 hello\n", "terminal_output term-1 exited 3"));
  EXPECT_EQ(Stored("agent_requests"), 0);
  EXPECT_EQ(Stored("terminals"), 0);
}

TEST_F(ServicesTest, AWholeLineAsCommandGoesToTheShell) {
  Begin();
  WriteFile(Path("with space"), "#!/bin/sh\necho a program\n");
  std::filesystem::permissions(Path("with space"), std::filesystem::perms::owner_all);
  json steps = json::array();
  Add(steps, "terminal/create", {{"command", "echo one two | tr a-z A-Z"}}, Result(Of("term-1")));
  Add(steps, "terminal/wait_for_exit", Of("term-1"), Result({{"exitCode", 0}}));
  Add(steps, "terminal/output", Of("term-1"), Result({{"output", "ONE TWO\n"}}));
  // A program of that name is what is meant.
  Add(steps, "terminal/create", {{"command", "./with space"}}, Result(Of("term-4")));
  Add(steps, "terminal/wait_for_exit", Of("term-4"), Result({{"exitCode", 0}}));
  Add(steps, "terminal/output", Of("term-4"), Result({{"output", "a program\n"}}));
  Play(steps);
}

TEST_F(ServicesTest, ACommandHasTheAgentsEnvironmentAndWhatItIsGiven) {
  agent().env.emplace_back("OF_THE_AGENT", "yes");
  agent().env.emplace_back("CHANGED", "no");
  Begin();
  json create = Shell("echo $OF_THE_AGENT $CHANGED $ADDED ${#ACPD_WORKER_ID}; pwd");
  create["env"] = {{{"name", "CHANGED"}, {"value", "yes"}},
                   {{"name", "ADDED"}, {"value", "yes"}},
                   {{"name", "ACPD_WORKER_ID"}, {"value", "none"}}};
  json steps = json::array();
  Add(steps, "terminal/create", create, Result(Of("term-1")));
  Add(steps, "terminal/wait_for_exit", Of("term-1"), Result({{"exitCode", 0}}));
  Add(steps, "terminal/output", Of("term-1"),
      Result({{"output", "yes yes yes 36\n" + Folder() + "\n"}}));
  Play(steps);
}

TEST_F(ServicesTest, TheFrontOfLongOutputIsCutOnACharacterBorder) {
  Begin();
  json steps = json::array();
  json create = Shell("printf '12345\\303\\244\\303\\244'");  // two characters of two bytes
  create["outputByteLimit"] = 3;
  Add(steps, "terminal/create", create, Result(Of("term-1")));
  Add(steps, "terminal/wait_for_exit", Of("term-1"), Result({{"exitCode", 0}}));
  Add(steps, "terminal/output", Of("term-1"), Result({{"output", "\u00e4"}, {"truncated", true}}));
  const std::string session_id = Play(steps);
  EXPECT_TRUE(HasSeen(session_id, "12345\u00e4\u00e4")) << "readers see all of it";
}

TEST_F(ServicesTest, TheConfigLimitsWhatIsKeptOfOutput) {
  config().limits.max_terminal_output = 4;
  Begin();
  json steps = json::array();
  json create = Shell("printf 123456");
  create["outputByteLimit"] = 1000;
  Add(steps, "terminal/create", create, Result(Of("term-1")));
  Add(steps, "terminal/wait_for_exit", Of("term-1"), Result({{"exitCode", 0}}));
  Add(steps, "terminal/output", Of("term-1"), Result({{"output", "3456"}, {"truncated", true}}));
  Play(steps);
}

TEST_F(ServicesTest, AKilledCommandKeepsItsIdAndItsOutput) {
  Begin();
  json steps = json::array();
  Add(steps, "terminal/create", Shell("echo begun; exec sleep 1000"), Result(Of("term-1")));
  steps.push_back(Ask("terminal/wait_for_exit", Of("term-1")));
  const json waited = Expect(Result({{"exitCode", nullptr}, {"signal", "SIGTERM"}}));
  Add(steps, "terminal/kill", Of("term-1"), Result(json::object()));
  steps.push_back(waited);
  Add(steps, "terminal/kill", Of("term-1"), Result(json::object()));
  Add(steps, "terminal/output", Of("term-1"), Result({{"exitStatus", {{"signal", "SIGTERM"}}}}));
  Add(steps, "terminal/release", Of("term-1"), Result(json::object()));
  EXPECT_THAT(Seen(Play(steps)), Contains("terminal_output term-1 exited SIGTERM"));
}

TEST_F(ServicesTest, AReleaseEndsACommandThatResists) {
  Begin();
  json steps = json::array();
  Add(steps, "terminal/create", Shell("trap '' TERM; echo on; while :; do sleep 1; done"),
      Result(Of("term-1")));
  Add(steps, "terminal/release", Of("term-1"), Result(json::object()));
  const std::string session_id = Play(steps);
  EXPECT_THAT(Seen(session_id).back(), StartsWith("terminal_output term-1 exited SIG"));
  EXPECT_EQ(Stored("terminals"), 0);
}

TEST_F(ServicesTest, ATerminalThatCannotBeStartedSaysWhy) {
  Begin();
  WriteFile(Path("plain"), "no program");
  const auto in = [](json create, const std::string& cwd) {
    create["cwd"] = cwd;
    return create;
  };
  const auto with_env = [](const std::string& name) {
    return json{{"command", "true"}, {"env", {{{"name", name}, {"value", "1"}}}}};
  };
  json steps = json::array();
  const char kCreate[] = "terminal/create";
  const json run = {{"command", "true"}};
  Add(steps, kCreate, {{"command", "no-such-program"}}, Code(kInvalidParamsCode, "No such file"));
  Add(steps, kCreate, {{"command", Path("plain")}}, Code(kInvalidParamsCode, "Permission denied"));
  Add(steps, kCreate, {{"command", ""}}, Code(kInvalidParamsCode, "empty"));
  Add(steps, kCreate, {{"command", std::string("a\0b", 3)}}, Code(kInvalidParamsCode, "NUL"));
  Add(steps, kCreate, with_env("A=B"), Code(kInvalidParamsCode, "env"));
  Add(steps, kCreate, with_env(""), Code(kInvalidParamsCode, "env"));
  Add(steps, kCreate, in(run, "/"), Code(kInvalidParamsCode, "outside"));
  Add(steps, kCreate, in(run, Path("..")), Code(kInvalidParamsCode, "outside"));
  Add(steps, kCreate, in(run, "sub"), Code(kInvalidParamsCode, "relative"));
  Add(steps, kCreate, in(run, Path("missing")), Code(kInvalidParamsCode, "No such file"));
  Add(steps, kCreate, in(run, Path("plain")), Code(kInvalidParamsCode, "Not a directory"));
  EXPECT_THAT(Seen(Play(steps)), ElementsAre());
}

TEST_F(ServicesTest, ASessionHasSoManyTerminals) {
  config().limits.max_terminals = 2;
  Begin();
  json steps = json::array();
  Add(steps, "terminal/create", Shell("sleep 1000"), Result(Of("term-1")));
  Add(steps, "terminal/create", Shell("true"), Result(Of("term-2")));
  Add(steps, "terminal/create", Shell("true"), Code(kInternalErrorCode, "max_terminals"));
  // One that has exited counts until it is released.
  Add(steps, "terminal/release", Of("term-2"), Result(json::object()));
  Add(steps, "terminal/create", Shell("true"), Result(Of("term-5")));
  Add(steps, "terminal/release", Of("term-1"), Result(json::object()));
  Play(steps);
}

TEST_F(ServicesTest, AWaitThatIsCancelledLeavesTheCommandAlone) {
  Begin();
  json steps = json::array();
  Add(steps, "terminal/create", Shell("while [ ! -e go ]; do sleep 0.02; done; exit 5"),
      Result(Of("term-1")));
  steps.push_back(Ask("terminal/wait_for_exit", Of("term-1")));
  steps.push_back(
      {{"notify", {{"method", "$/cancel_request"}, {"params", {{"requestId", last_id_}}}}}});
  steps.push_back(Expect(Code(kCancelledCode)));
  Add(steps, "fs/write_text_file", {{"path", Path("go")}, {"content", ""}}, Result(json::object()));
  Add(steps, "terminal/wait_for_exit", Of("term-1"), Result({{"exitCode", 5}}));
  Play(steps);
}

TEST_F(ServicesTest, ATerminalGoesWithItsSessionsWorker) {
  Begin();
  json steps = json::array();
  Add(steps, "terminal/create", Shell("echo on; exec sleep 1000"), Result(Of("term-1")));
  const std::string session_id = Play(steps);
  EXPECT_EQ(Stored("terminals"), 1);
  ASSERT_TRUE(RunUntil([&] { return HasSeen(session_id, "on\n"); }));
  const auto closed = Run(manager().CloseSession(NewCall(), session_id, false));
  ASSERT_TRUE(closed.ok()) << closed.status();
  EXPECT_THAT(Seen(session_id).back(), StartsWith("terminal_output term-1 exited SIG"));
  EXPECT_EQ(Stored("terminals"), 0);
  // The next worker counts anew.
  last_id_ = 1000;
  json again = json::array();
  Add(again, "terminal/create", Shell("true"), Result(Of("term-1")));
  Play(again, session_id);
}

TEST_F(ServicesTest, ATerminalGoesWithAnAgentThatDies) {
  Begin();
  json steps = json::array();
  Add(steps, "terminal/create", Shell("echo on; exec sleep 1000"), Result(Of("term-1")));
  steps.push_back(Ask("terminal/wait_for_exit", Of("term-1")));
  steps.push_back({{"crash", "KILL"}});
  const ChatReply reply = Say(Prompt(steps));
  EXPECT_EQ(reply.turn.result.error.reason, "AGENT_EXITED");
  EXPECT_THAT(Seen(reply.turn.session_id).back(), StartsWith("terminal_output term-1 exited SIG"));
  EXPECT_EQ(Stored("terminals"), 0);
  EXPECT_EQ(Stored("agent_requests"), 0);
}

// The session that stands in for a lost one has its agent, and what acpd does for it.
TEST_F(ServicesTest, ServicesGoWithTheWorkerToASuccessor) {
  Begin();
  json steps = json::array();
  Add(steps, "fs/write_text_file", {{"path", Path("a")}, {"content", "x"}}, Result(json::object()));
  Add(steps, "terminal/create", Shell("echo hello"), Result(Of("term-2")));
  Add(steps, "terminal/wait_for_exit", Of("term-2"), Result({{"exitCode", 0}}));
  const std::string session_id = Play(steps, "no-such-session");
  EXPECT_NE(session_id, "no-such-session");
  EXPECT_THAT(Seen(session_id), Contains("terminal_output term-2 hello\n"));
  EXPECT_THAT(Seen("no-such-session"), ElementsAre());
}

TEST_F(ServicesTest, AnAgentThatWaitsForACommandDoesNotStall) {
  agent().turn_stall = milliseconds(700);
  agent().tool_silence = milliseconds(0);  // as long as it takes
  Begin();
  json steps = json::array();
  Add(steps, "terminal/create", Shell("sleep 2; exit 4"), Result(Of("term-1")));
  Add(steps, "terminal/wait_for_exit", Of("term-1"), Result({{"exitCode", 4}}));
  Play(steps);
}

TEST_F(ServicesTest, AnAgentWhoseCommandWritesIsNotSilent) {
  agent().turn_stall = milliseconds(1000);
  Begin();
  json steps = json::array();
  Add(steps, "terminal/create",
      Shell("for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; sleep 0.2; done; touch done"),
      Result(Of("term-1")));
  steps.push_back({{"sleep_ms", 2000}});
  Play(steps);
}

}  // namespace
}  // namespace acpd::session
