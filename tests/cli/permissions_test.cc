// Permissions in acpctl chat: asked at a terminal, and nowhere else.

#include <fcntl.h>
#include <unistd.h>

#include "tests/cli/acpctl.h"

namespace acpd::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kPrompt[] = "your choice [1-2]: ";

class PermissionsTest : public CliTest {
 protected:
  void SetUp() override { StartDaemon(); }
};

TEST_F(PermissionsTest, AnAnswerAtTheTerminalIsTaken) {
  Terminal terminal;
  const auto chat = StartAt(terminal, {"chat", "-a", "demo", "ASK"});
  ASSERT_TRUE(chat->WaitForErr(kPrompt)) << chat->Err();
  EXPECT_THAT(chat->Err(), AllOf(HasSubstr("  1) Allow (allow)\n  2) Reject (reject)\n"),
                                 Not(HasSubstr("acpctl respond"))));
  terminal.Type("1\n");
  EXPECT_EQ(chat->Wait(), Exited(0));
  EXPECT_EQ(chat->Out(), "Chosen: allow_once\n");
}

// By its number, whatever its kind; of an "always" it is said what it means.
TEST_F(PermissionsTest, EachOptionCanBeChosen) {
  const std::vector<std::string> kinds = {"allow_once", "allow_always", "reject_once",
                                          "reject_always"};
  json options = json::array();
  for (const std::string& kind : kinds)
    options.push_back({{"optionId", "o-" + kind}, {"name", "Do " + kind}, {"kind", kind}});
  for (size_t i = 0; i < kinds.size(); ++i) {
    const json call = {{"toolCallId", "t"},
                       {"title", "Write it"},
                       {"kind", "edit"},
                       {"locations", json::array({{{"path", "/srv/a.txt"}}})}};
    const json ask = {{"id", "q"}, {"options", options}, {"toolCall", call}, {"wait", true}};
    Terminal terminal;
    const auto chat =
        StartAt(terminal, {"chat", Scripted({{{"ask", ask}}, {{"say_chosen", "q"}}})});
    ASSERT_TRUE(chat->WaitForErr("your choice [1-4]: ")) << chat->Err();
    EXPECT_THAT(
        chat->Err(),
        HasSubstr("\n  edit /srv/a.txt\n"
                  "  1) Do allow_once (o-allow_once)\n"
                  "  2) Do allow_always (o-allow_always; remembered for this session)\n"
                  "  3) Do reject_once (o-reject_once)\n"
                  "  4) Do reject_always (o-reject_always; remembered for this session)\n"));
    terminal.Type(std::to_string(i + 1) + "\n");
    EXPECT_EQ(chat->Wait(), Exited(0));
    EXPECT_EQ(chat->Out(), "Chosen: " + kinds[i] + "\n");
    EXPECT_THAT(chat->Err(), HasSubstr("* answered: o-" + kinds[i] + "\n"));
  }
}

TEST_F(PermissionsTest, AWrongAnswerIsAskedAgain) {
  Terminal terminal;
  const auto chat = StartAt(terminal, {"chat", AskingPrompt()});
  ASSERT_TRUE(chat->WaitForErr(kPrompt)) << chat->Err();
  terminal.Type("3\n");
  ASSERT_TRUE(chat->WaitForErr("please type a number from 1 to 2: ")) << chat->Err();
  terminal.Type("no\n");  // an option's id will do, too
  EXPECT_EQ(chat->Wait(), Exited(0));
  EXPECT_EQ(chat->Out(), "Chosen: reject_once\n");
}

TEST_F(PermissionsTest, WhatWasTypedBeforeTheQuestionIsNoAnswer) {
  Terminal terminal;
  json steps = json::parse(AskingPrompt().substr(1));
  steps.insert(steps.begin(), json{{"barrier", "b"}});
  const auto chat = StartAt(terminal, {"chat", Scripted(steps)});
  ASSERT_TRUE(barriers().WaitReached("b"));
  terminal.Type("1\n");
  barriers().Release("b");
  ASSERT_TRUE(chat->WaitForErr(kPrompt)) << chat->Err();
  terminal.Type("2\n");
  EXPECT_EQ(chat->Wait(), Exited(0));
  EXPECT_EQ(chat->Out(), "Chosen: reject_once\n");
}

TEST_F(PermissionsTest, EachOfTwoQuestionsIsAsked) {
  Terminal terminal;
  json steps = json::parse(AskingPrompt().substr(1));
  json second = steps[0];
  second["ask"]["id"] = "q2";
  steps[0]["ask"]["wait"] = false;
  steps.insert(steps.begin() + 1, second);
  steps.push_back({{"say_chosen", "q2"}});
  const auto chat = StartAt(terminal, {"chat", Scripted(steps)});
  ASSERT_TRUE(chat->WaitForErr(kPrompt)) << chat->Err();
  terminal.Type("1\n");
  ASSERT_TRUE(e2e::WaitUntil([&] {
    return chat->Err().find(kPrompt) != chat->Err().rfind(kPrompt);
  })) << chat->Err();
  terminal.Type("2\n");
  EXPECT_EQ(chat->Wait(), Exited(0));
  EXPECT_EQ(chat->Out(), "Chosen: allow_onceChosen: reject_once\n");
}

TEST_F(PermissionsTest, AtTheTerminalsEndTheCommandIsTold) {
  Terminal terminal;
  const auto chat = StartAt(terminal, {"chat", AskingPrompt()});
  ASSERT_TRUE(chat->WaitForErr(kPrompt)) << chat->Err();
  terminal.Type(Terminal::kCtrlD);
  const std::string session = chat->WordAfter("acpctl respond ");
  Run(0, {"respond", session, chat->WordAfter("acpctl respond " + session + " "), "yes"});
  EXPECT_EQ(chat->Wait(), Exited(0));
  EXPECT_EQ(chat->Out(), "Chosen: allow_once\n");
}

// As in `while read line; do acpctl chat ...; done < lines`.
TEST_F(PermissionsTest, LinesOfAFileAreNoAnswers) {
  const std::string path = dir() / "lines";
  e2e::WriteFile(path, "1\n1\n1\n");
  AcpctlOptions options;
  options.stdin_fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const auto chat = Start({"chat", AskingPrompt()}, options);
  const std::string session = chat->WordAfter("acpctl respond ");
  const std::string question = chat->WordAfter("acpctl respond " + session + " ");
  EXPECT_THAT(chat->Err(), AllOf(HasSubstr("  yes: yes\n"), HasSubstr("  no: no\n"),
                                 Not(HasSubstr("your choice"))));
  Run(0, {"respond", session, question, "no"});
  EXPECT_EQ(chat->Wait(), Exited(0));
  EXPECT_EQ(chat->Out(), "Chosen: reject_once\n");
  EXPECT_EQ(lseek(options.stdin_fd, 0, SEEK_CUR), 0) << "acpctl read the lines";
  close(options.stdin_fd);
}

TEST_F(PermissionsTest, WhatTheModeAnswersIsNotAsked) {
  Terminal terminal;
  for (const std::string mode : {"allow", "deny"}) {
    const auto piped = Run(0, {"chat", "--permissions", mode, AskingPrompt()});
    EXPECT_THAT(piped->Err(), AllOf(Not(HasSubstr("acpctl respond")), HasSubstr("by policy\n")));
    const auto chat = StartAt(terminal, {"chat", "--permissions", mode, AskingPrompt()});
    EXPECT_EQ(chat->Wait(), Exited(0));
    EXPECT_THAT(chat->Err(), Not(HasSubstr("your choice")));
    const std::string chosen = mode == "allow" ? "allow_once" : "reject_once";
    EXPECT_EQ(chat->Out(), "Chosen: " + chosen + "\n");
  }
}

// The mode answers only with an option that fits.
TEST_F(PermissionsTest, AllowAsksWhereNothingAllows) {
  Terminal terminal;
  const json ask = {{"id", "q"},
                    {"options", json::array({{{"optionId", "no"}, {"kind", "reject_once"}}})},
                    {"wait", true}};
  const auto chat = StartAt(
      terminal, {"chat", "--permissions", "allow", Scripted(json::array({{{"ask", ask}}}))});
  ASSERT_TRUE(chat->WaitForErr("your choice [1-1]: ")) << chat->Err();
  terminal.Type("1\n");
  EXPECT_EQ(chat->Wait(), Exited(0));
}

}  // namespace
}  // namespace acpd::cli
