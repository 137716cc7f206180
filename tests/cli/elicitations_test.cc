// Forms and pages that an agent asks for, in acpctl chat and by acpctl respond.

#include "tests/cli/acpctl.h"

namespace acpd::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ElicitationsTest : public CliTest {
 protected:
  void SetUp() override {
    StartDaemon();
    const auto made = client().Say("default", "", "hello");
    session_ = made.response.session_id();
    agent_session_ = made.response.agent_session_id();
  }
  // A prompt whose agent asks that and waits for the answer.
  std::string Asking(json params) const {
    params["sessionId"] = agent_session_;
    return Scripted(json::array(
        {{{"request",
           {{"id", "e"}, {"method", "elicitation/create"}, {"params", params}, {"wait", true}}}}}));
  }
  std::string AskingForm() const {
    return Asking({{"mode", "form"},
                   {"message", "Which colour?"},
                   {"requestedSchema",
                    {{"type", "object"},
                     {"properties",
                      {{"colour", {{"type", "string"}, {"enum", {"red", "green"}}}},
                       {"count", {{"type", "integer"}, {"default", 3}}},
                       {"fast", {{"type", "boolean"}}}}},
                     {"required", {"colour"}}}}});
  }
  json AnswerOfAgent() {
    const auto answers = log().AnswersTo("e");
    return answers.empty() ? json() : answers.back().value("result", json());
  }
  std::string session_, agent_session_;
};

TEST_F(ElicitationsTest, AFormIsFilledInFieldByField) {
  Terminal terminal;
  const auto chat = StartAt(terminal, {"chat", "-s", session_, AskingForm()});
  ASSERT_TRUE(chat->WaitForErr("  colour (red, green): ")) << chat->Err();
  EXPECT_THAT(chat->Err(), HasSubstr("? Which colour? (question "));
  terminal.Type("blue\n");
  ASSERT_TRUE(chat->WaitForErr("please type one of red, green")) << chat->Err();
  terminal.Type("red\n");
  ASSERT_TRUE(chat->WaitForErr("  count [3]: ")) << chat->Err();
  terminal.Type("x\n");
  ASSERT_TRUE(chat->WaitForErr("please type a number")) << chat->Err();
  terminal.Type("\n");
  ASSERT_TRUE(chat->WaitForErr("  fast (yes, no) (may be empty): ")) << chat->Err();
  terminal.Type("yes\n");
  EXPECT_EQ(chat->Wait(), Exited(0)) << chat->Err();
  EXPECT_THAT(chat->Err(), HasSubstr("* answered: accepted\n"));
  EXPECT_EQ(
      AnswerOfAgent(),
      (json{{"action", "accept"}, {"content", {{"colour", "red"}, {"count", 3}, {"fast", true}}}}));
}

TEST_F(ElicitationsTest, AFormIsDeclined) {
  Terminal terminal;
  const auto chat = StartAt(terminal, {"chat", "-s", session_, AskingForm()});
  ASSERT_TRUE(chat->WaitForErr("  colour (red, green): ")) << chat->Err();
  terminal.Type("!n\n");
  EXPECT_EQ(chat->Wait(), Exited(0)) << chat->Err();
  EXPECT_EQ(AnswerOfAgent(), (json{{"action", "decline"}}));
}

TEST_F(ElicitationsTest, APageIsShownWholeWithItsHost) {
  Terminal terminal;
  const auto chat = StartAt(terminal, {"chat", "-s", session_,
                                       Asking({{"mode", "url"},
                                               {"message", "Sign in"},
                                               {"elicitationId", "1"},
                                               {"url", "https://shop@example.test/a?b=1"}})});
  ASSERT_TRUE(chat->WaitForErr("then type y, or n to decline: ")) << chat->Err();
  EXPECT_THAT(chat->Err(), AllOf(HasSubstr("  https://shop@example.test/a?b=1\n"),
                                 HasSubstr("  host: example.test\n")));
  terminal.Type("maybe\n");
  ASSERT_TRUE(chat->WaitForErr("please type y or n")) << chat->Err();
  terminal.Type("y\n");
  EXPECT_EQ(chat->Wait(), Exited(0)) << chat->Err();
  EXPECT_EQ(AnswerOfAgent(), (json{{"action", "accept"}}));
}

TEST_F(ElicitationsTest, WithoutATerminalTheCommandIsTold) {
  const auto chat = Start({"chat", "-s", session_, AskingForm()});
  ASSERT_TRUE(chat->WaitForErr("--accept JSON (or --decline)")) << chat->Err();
  const std::string question = chat->WordAfter("(question ");
  const std::string id = question.substr(0, question.find(')'));
  Run(2, {"respond", session_, id, "--accept", R"({"colour": "blue"})"});
  Run(0, {"respond", session_, id, "--accept", R"({"colour": "green"})"});
  EXPECT_EQ(chat->Wait(), Exited(0)) << chat->Err();
  EXPECT_EQ(AnswerOfAgent()["content"], (json{{"colour", "green"}}));
}

}  // namespace
}  // namespace acpd::cli
