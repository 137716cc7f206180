// acpctl watch in text.

#include "tests/cli/acpctl.h"

namespace acpd::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class WatchCommandTest : public CliTest {
 protected:
  void SetUp() override { StartDaemon(); }
  std::unique_ptr<Acpctl> WatchAll() {
    auto watch = Start({"watch", "--all", "--from-start"});
    return watch;
  }
  // A chat that says `text`, and after the barrier `more`.
  std::unique_ptr<Acpctl> Talk(const std::string& text, const std::string& barrier,
                               const std::string& more) {
    return Start(
        {"chat", Scripted({{{"update", text}}, {{"barrier", barrier}}, {{"update", more}}})});
  }
};

TEST_F(WatchCommandTest, TellsWhoseTextItIsWheneverThatChanges) {
  const auto watch = WatchAll();
  const auto one = Talk("one ", "b1", "and one");
  ASSERT_TRUE(watch->WaitForOut("one "));
  const auto two = Talk("two ", "b2", "and two");
  ASSERT_TRUE(watch->WaitForOut("two "));
  barriers().Release("b1");
  ASSERT_TRUE(watch->WaitForOut("and one"));
  barriers().Release("b2");
  ASSERT_TRUE(watch->WaitForOut("and two"));
  EXPECT_EQ(one->Wait(), Exited(0));
  EXPECT_EQ(two->Wait(), Exited(0));
  const std::string first = "[" + one->WordAfter("session: ") + "] ";
  const std::string second = "[" + two->WordAfter("session: ") + "] ";
  EXPECT_THAT(watch->Out(), HasSubstr(first + "one \n" + second + "two \n" + first + "and one\n" +
                                      second + "and two"));
}

TEST_F(WatchCommandTest, NamesTheTurns) {
  const auto watch = WatchAll();
  const auto chat = Run(0, {"chat", "-a", "demo", "hello"});
  const std::string turn = chat->WordAfter("turn: "), session = chat->WordAfter("session: ");
  EXPECT_TRUE(watch->WaitForErr("[" + session + "] * turn " + turn + " queued: hello\n"));
  EXPECT_TRUE(watch->WaitForErr("[" + session + "] * turn " + turn + " completed\n"));
  // What it is good for.
  const auto until = Run(0, {"watch", "-s", session, "--from-start", "--until-turn", turn});
  EXPECT_EQ(until->Out(), "hello\n");
  EXPECT_EQ(Run(0, {"cancel", "-t", turn})->Out(), turn + " OUTCOME_ALREADY_ENDED\n");
}

TEST_F(WatchCommandTest, TellsHowToAnswerAQuestion) {
  const auto watch = WatchAll();
  const auto chat = Start({"chat", AskingPrompt()});
  const std::string session = watch->WordAfter("acpctl respond ");
  const std::string question = watch->WordAfter("acpctl respond " + session + " ");
  EXPECT_EQ(session, chat->WordAfter("session: "));
  EXPECT_THAT(watch->Err(), AllOf(HasSubstr("(question " + question + ")\n"),
                                  HasSubstr("  yes: yes\n"), HasSubstr("  no: no\n")));
  // One who comes later is told, too.
  const auto late = Start({"watch", "-s", session});
  EXPECT_EQ(late->WordAfter("acpctl respond " + session + " "), question);
  Run(0, {"respond", session, question, "yes"});
  EXPECT_EQ(chat->Wait(), Exited(0));
  EXPECT_TRUE(watch->WaitForErr("* answered: yes\n"));
}

TEST_F(WatchCommandTest, TellsNothingOfQuestionsOfThePast) {
  Run(0, {"chat", "--permissions", "deny", AskingPrompt()});
  const auto chat = Start({"chat", AskingPrompt()});
  const std::string session = chat->WordAfter("acpctl respond ");
  Run(0, {"respond", session, chat->WordAfter("acpctl respond " + session + " "), "yes"});
  EXPECT_EQ(chat->Wait(), Exited(0));
  const auto past = Run(0, {"watch", "--all", "--from-start", "--replay-only"});
  EXPECT_THAT(past->Err(), AllOf(HasSubstr("(question "), Not(HasSubstr("acpctl respond"))));
}

}  // namespace
}  // namespace acpd::cli
