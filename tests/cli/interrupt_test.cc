// Ctrl-C at acpctl chat cancels the turn.

#include <signal.h>

#include "tests/cli/acpctl.h"

namespace acpd::cli {
namespace {

using ::testing::HasSubstr;

class InterruptTest : public CliTest {
 protected:
  void SetUp() override { StartDaemon(); }
  // Until SIGINT does not end it any more; false: it did not come to that in time.
  bool TakesSigint(const Acpctl& chat) {
    return e2e::WaitUntil([&chat] {
      const std::string status = e2e::ReadFile("/proc/" + std::to_string(chat.pid()) + "/status");
      const size_t at = status.find("SigBlk:");
      return at != std::string::npos &&
             (std::stoull(status.substr(at + 7), nullptr, 16) & (1u << (SIGINT - 1))) != 0;
    });
  }
  // `acpctl chat` at the terminal, and a Ctrl-C while acpd is stopped and cannot accept the turn.
  std::unique_ptr<Acpctl> StartAndInterrupt(Terminal& terminal) {
    kill(daemon().pid(), SIGSTOP);
    auto chat = StartAt(terminal, {"chat", "-a", "demo", "SLOW 9000 20"});
    const bool took = TakesSigint(*chat);
    if (took) terminal.Type(Terminal::kCtrlC);
    EXPECT_TRUE(took && chat->WaitForErr("* cancelling the turn")) << chat->Err();
    return chat;
  }
  void GoOn() { kill(daemon().pid(), SIGCONT); }
  // At the terminal, until `text` stands on its stdout.
  std::unique_ptr<Acpctl> StartUntil(const std::string& text, const Terminal& terminal,
                                     std::vector<std::string> args) {
    auto chat = StartAt(terminal, std::move(args));
    EXPECT_TRUE(chat->WaitForOut(text)) << chat->Err();
    return chat;
  }
  void ExpectCancelled(Acpctl& chat) {
    EXPECT_EQ(chat.Wait(), Exited(130)) << chat.Err();
    const api::Turn turn = TurnOf(chat);
    EXPECT_EQ(turn.state(), api::TURN_STATE_ENDED);
    EXPECT_EQ(turn.result().outcome(), api::TurnResult::OUTCOME_CANCELLED);
    EXPECT_EQ(turn.result().cancel_reason(), "Ctrl-C at acpctl");
  }
};

TEST_F(InterruptTest, EndsARunningTurn) {
  Terminal terminal;
  const auto chat = StartUntil("chunk 2 ", terminal, {"chat", "-a", "demo", "SLOW 9000 20"});
  terminal.Type(Terminal::kCtrlC);
  ExpectCancelled(*chat);
  EXPECT_THAT(chat->Err(), HasSubstr("* cancelled by "));
  EXPECT_EQ(chat->Out().back(), '\n');
}

// Agents do not say it of them.
TEST_F(InterruptTest, UnfinishedToolCallsAreShownAsCancelled) {
  Terminal terminal;
  const auto call = [](const char* id, const char* title, const char* status) {
    return json{{"update",
                 {{"sessionUpdate", "tool_call"},
                  {"toolCallId", id},
                  {"title", title},
                  {"status", status}}}};
  };
  const json running = {
      {"update",
       {{"sessionUpdate", "tool_call_update"}, {"toolCallId", "1"}, {"status", "in_progress"}}}};
  const auto chat = StartAt(terminal, {"chat", Scripted({call("1", "Build it", "pending"),
                                                         running,
                                                         call("2", "Look", "completed"),
                                                         {{"barrier", "b"}}})});
  ASSERT_TRUE(chat->WaitForErr("* Look [completed]\n")) << chat->Err();
  EXPECT_THAT(chat->Err(), HasSubstr("* Build it [pending]\n* Build it [in_progress]\n"));
  terminal.Type(Terminal::kCtrlC);
  ExpectCancelled(*chat);
  EXPECT_THAT(chat->Err(), testing::AllOf(HasSubstr("* Build it [cancelled]\n* cancelled by "),
                                          testing::Not(HasSubstr("* Look [cancelled]"))));
}

TEST_F(InterruptTest, EndsATurnThatAsks) {
  Terminal terminal;
  const auto chat = StartAt(terminal, {"chat", "-a", "demo", "ASK"});
  ASSERT_TRUE(chat->WaitForErr("your choice [1-2]: ")) << chat->Err();
  terminal.Type(Terminal::kCtrlC);
  ExpectCancelled(*chat);
}

TEST_F(InterruptTest, EndsATurnWithJson) {
  Terminal terminal;
  const auto chat =
      StartUntil("chunk 2 ", terminal, {"--json", "chat", "-a", "demo", "SLOW 9000 20"});
  terminal.Type(Terminal::kCtrlC);
  EXPECT_EQ(chat->Wait(), Exited(130));
  EXPECT_THAT(LinesOf(chat->Out()).back(), HasSubstr("OUTCOME_CANCELLED"));
}

TEST_F(InterruptTest, BeforeTheTurnIsKnownEndsItAsSoonAsItIs) {
  Terminal terminal;
  const auto chat = StartAndInterrupt(terminal);
  GoOn();
  ExpectCancelled(*chat);
}

TEST_F(InterruptTest, TwoLeaveWhileThereIsNoConnection) {
  Terminal terminal;
  const auto chat = StartAndInterrupt(terminal);
  terminal.Type(Terminal::kCtrlC);
  const ExitStatus exit = chat->Wait();
  GoOn();
  EXPECT_EQ(exit, Exited(130)) << chat->Err();
}

TEST_F(InterruptTest, ASecondOneLeavesAtOnce) {
  Terminal terminal;
  const auto chat =
      StartAt(terminal, {"chat", Scripted({{{"on_cancel", "ignore"}}, {{"barrier", "b"}}})});
  ASSERT_TRUE(barriers().WaitReached("b"));
  const std::string turn_id = chat->WordAfter("turn: ");
  terminal.Type(Terminal::kCtrlC);
  ASSERT_TRUE(chat->WaitForErr("* cancelling the turn")) << chat->Err();
  terminal.Type(Terminal::kCtrlC);
  EXPECT_EQ(chat->Wait(), Exited(130));
  EXPECT_TRUE(WaitForState(turn_id, api::TURN_STATE_CANCELLING));
}

// As a script's background job has it: Ctrl-C is not meant for it.
TEST_F(InterruptTest, DoesNothingWhereItIsIgnored) {
  const auto before = signal(SIGINT, SIG_IGN);
  const auto chat = Start({"chat", Scripted({{{"barrier", "b"}}, {{"update", "done"}}})});
  signal(SIGINT, before);
  ASSERT_TRUE(barriers().WaitReached("b"));
  kill(chat->pid(), SIGINT);
  barriers().Release("b");
  EXPECT_EQ(chat->Wait(), Exited(0)) << chat->Err();
  EXPECT_EQ(chat->Out(), "done\n");
}

}  // namespace
}  // namespace acpd::cli
