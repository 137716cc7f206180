// acpctl's exit codes, and what it says with them.

#include <signal.h>

#include "tests/cli/acpctl.h"

namespace acpd::cli {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

class ExitCodesTest : public CliTest {
 protected:
  void SetUp() override { StartDaemon(); }
};

TEST_F(ExitCodesTest, ATurnThatDidNotCompleteIsOne) {
  const json error = {{"code", -32603}, {"message", "no more money"}};
  const auto chat = Run(1, {"chat", Scripted(json::array({{{"error", error}}}))});
  EXPECT_THAT(chat->Err(), HasSubstr("* failed: AGENT_ERROR: "));
  Run(1, {"chat", Scripted(json::array({{{"crash", "KILL"}}}))});
}

TEST_F(ExitCodesTest, ACancelThatIsPendingIsOne) {
  const auto chat = Start({"chat", Scripted({{{"on_cancel", "ignore"}}, {{"barrier", "b"}}})});
  ASSERT_TRUE(barriers().WaitReached("b"));
  const std::string session = chat->WordAfter("session: ");
  const auto cancel = Run(1, {"--timeout", "1", "cancel", "-s", session});
  EXPECT_EQ(cancel->Out(), chat->WordAfter("turn: ") + " OUTCOME_PENDING\n");
  EXPECT_THAT(cancel->Err(), HasSubstr("the cancel goes on"));
  const auto as_json = Run(1, {"--timeout", "1", "--json", "cancel", "-s", session});
  EXPECT_EQ(json::parse(as_json->Out())["outcome"], "OUTCOME_PENDING");
  EXPECT_THAT(Run(0, {"--help"})->Out(), HasSubstr("cancel, drain: a turn has not ended yet"));
}

TEST_F(ExitCodesTest, BadArgumentsAreTwo) {
  Run(2, {});
  Run(2, {"chat"});
  Run(2, {"chat", "--no-such-option", "hello"});
  Run(2, {"chat", "--permissions", "maybe", "hello"});
  EXPECT_THAT(Run(2, {"chat", ""})->Err(), HasSubstr("EMPTY_PROMPT"));
  EXPECT_THAT(Run(2, {"chat", "-p", "../x", "hello"})->Err(), HasSubstr("INVALID_PROJECT_ID"));
}

TEST_F(ExitCodesTest, WatchWantsOneScope) {
  const std::vector<std::vector<std::string>> scopes = {{},
                                                        {"-s", "x", "-p", "y"},
                                                        {"-s", "x", "--all"},
                                                        {"-p", "y", "--all"},
                                                        {"-s", "x", "-p", "y", "--all"}};
  for (std::vector<std::string> args : scopes) {
    args.insert(args.begin(), "watch");
    EXPECT_EQ(Run(2, args)->Err(), "acpctl: watch wants one of --session, --project and --all\n");
  }
}

TEST_F(ExitCodesTest, AnEmptyAddressIsTwo) {
  const auto sessions = Run(2, {"--address", "", "sessions"});
  EXPECT_THAT(sessions->Err(), AllOf(HasSubstr("--address"), HasSubstr("host:port or unix:/path"),
                                     Not(HasSubstr(".cc:"))));
}

TEST_F(ExitCodesTest, ARefusedCallIsThree) {
  EXPECT_THAT(Run(3, {"watch", "-s", "nobody"})->Err(), HasSubstr("acpctl: SESSION_NOT_FOUND: "));
  EXPECT_THAT(Run(3, {"cancel", "-t", "nothing"})->Err(), HasSubstr("TURN_NOT_FOUND"));
  EXPECT_THAT(Run(3, {"close", "nobody"})->Err(), HasSubstr("SESSION_NOT_FOUND"));
  EXPECT_THAT(Run(3, {"delete", "nobody"})->Err(), HasSubstr("SESSION_NOT_FOUND"));
  EXPECT_THAT(Run(3, {"respond", "nobody", "q", "yes"})->Err(), HasSubstr("SESSION_NOT_FOUND"));
  EXPECT_THAT(Run(3, {"agents", "--probe", "nobody"})->Err(), HasSubstr("AGENT_NOT_FOUND"));
  EXPECT_THAT(Run(3, {"chat", "-a", "nobody", "hello"})->Err(), HasSubstr("AGENT_NOT_FOUND"));
}

// Each says one sentence, and gRPC nothing.
TEST_F(ExitCodesTest, NobodyThereIsFour) {
  const std::vector<std::vector<std::string>> commands = {
      {"sessions"}, {"chat", "hello"}, {"watch", "--all"}};
  for (const std::string address : {"127.0.0.1:1", "unix:/nowhere/acpd.sock", "no such host:1"}) {
    for (std::vector<std::string> args : commands) {
      args.insert(args.begin(), {"--address", address});
      EXPECT_THAT(LinesOf(Run(4, args)->Err()),
                  AllOf(SizeIs(1), Each(StartsWith("acpctl: cannot reach acpd ("))));
    }
  }
}

TEST_F(ExitCodesTest, AnAcpdThatStopsIsFour) {
  const auto watch = Start({"--json", "watch", "--all"});
  ASSERT_TRUE(watch->WaitForOut("\"caught_up\"")) << watch->Err();
  EXPECT_EQ(daemon().Stop(), Exited(0));
  EXPECT_EQ(watch->Wait(), Exited(4));
  EXPECT_THAT(watch->Err(),
              AllOf(StartsWith("acpctl: SHUTTING_DOWN: "), Not(HasSubstr("cannot reach"))));
}

// The command that it names shows the rest and nothing twice.
TEST_F(ExitCodesTest, WhoIsCutOffIsToldHowToGoOn) {
  const auto chat =
      Start({"chat", "-p", "shop", Scripted({{{"update", "one "}}, {{"barrier", "b"}}})});
  ASSERT_TRUE(chat->WaitForOut("one ")) << chat->Err();
  KillAndRestartDaemon();
  EXPECT_EQ(chat->Wait(), Exited(4));
  const std::string turn = chat->WordAfter("turn: ");
  EXPECT_EQ(chat->WordAfter("--session "), chat->WordAfter("session: "));
  EXPECT_EQ(chat->WordAfter("--until-turn "), turn);
  const std::string position = chat->WordAfter("--after ");
  barriers().Release("b");
  const auto rest = Run(0, {"watch", "--session", chat->WordAfter("session: "), "--until-turn",
                            turn, "--after", position});
  EXPECT_THAT(rest->Out(), Not(HasSubstr("one ")));
  EXPECT_THAT(rest->Err(), HasSubstr("* turn " + turn + " completed\n"));
}

TEST_F(ExitCodesTest, NoAnswerInTimeIsFour) {
  kill(daemon().pid(), SIGSTOP);
  const auto sessions = Start({"--timeout", "1", "sessions"});
  const ExitStatus exit = sessions->Wait();
  kill(daemon().pid(), SIGCONT);
  EXPECT_EQ(exit, Exited(4));
  EXPECT_THAT(sessions->Err(),
              AllOf(HasSubstr("did not answer in time"), Not(HasSubstr("cannot reach"))));
}

TEST_F(ExitCodesTest, OutputThatIsLostIsFive) {
  AcpctlOptions full;
  full.stdout_file = "/dev/full";
  const std::vector<std::vector<std::string>> commands = {
      {"chat", "-a", "demo", "hello"},
      {"sessions"},
      {"--json", "sessions"},
      {"agents"},
      {"cancel", "--all"},
      {"watch", "--all", "--from-start", "--replay-only"},
      {"--json", "watch", "--all"},  // ends, though nobody else ends it
      {"--help"}};
  for (const auto& args : commands) {
    EXPECT_THAT(Run(5, args, full)->Err(), HasSubstr("acpctl: the output could not be written\n"));
  }
  Run(2, {"chat", ""}, full);
}

}  // namespace
}  // namespace acpd::cli
