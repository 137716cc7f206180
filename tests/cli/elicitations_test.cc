// Forms and pages that an agent asks for, in acpctl chat and by acpctl respond.

#include <algorithm>

#include "tests/cli/acpctl.h"

namespace acpd::cli {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// As text: the order of its members counts, and is not that of the alphabet.
constexpr char kForm[] = R"({"type": "object", "title": "Paint", "properties": {
  "colour": {"type": "string", "title": "Which colour?", "description": "Of the door",
             "oneOf": [{"const": "r", "title": "Red"},
                       {"const": "g", "title": "Green", "description": "like grass"}]},
  "count": {"type": "integer", "minimum": 1, "maximum": 5, "default": 3},
  "fast": {"type": "boolean"},
  "also": {"type": "array", "items": {"type": "string", "enum": ["floor", "roof"]},
           "maxItems": 1},
  "a_mail": {"type": "string", "format": "email"}}, "required": ["colour"]})";
constexpr char kColourPrompt[] =
    "  Which colour? (colour, required) - Of the door\n"
    "    1) Red (r)\n"
    "    2) Green (g) - like grass\n"
    "  1-2: ";
constexpr char kReviewPrompt[] =
    "  send, change, decline or cancel? (a number changes that field) ";

class ElicitationsTest : public CliTest {
 protected:
  void SetUp() override {
    StartDaemon();
    session_ = client().Say("default", "", "hello").response.session_id();
  }
  // A prompt whose agent asks that, word for word, and waits for the answer.
  static std::string Asking(const std::string& params) {
    std::string line =
        R"({"jsonrpc": "2.0", "id": "e", "method": "elicitation/create", "params":)" + params + "}";
    std::replace(line.begin(), line.end(), '\n', ' ');
    return Scripted({{{"raw", line + "\n"}}, {{"expect_answer", {{"id", "e"}}}}});
  }
  static std::string AskingForm(const std::string& schema = kForm) {
    return Asking(R"({"sessionId": "${sessionId}", "mode": "form", "message": "What to paint?",
                      "requestedSchema": )" +
                  schema + "}");
  }
  static std::string AskingPage(const std::string& url) {
    return Asking(R"({"sessionId": "${sessionId}", "mode": "url", "message": "Sign in",
                      "elicitationId": "1", "url": ")" +
                  url + "\"}");
  }
  // At the terminal, when its first question stands there.
  std::unique_ptr<Acpctl> StartForm(const Terminal& terminal, const std::string& schema = kForm,
                                    const std::string& first = kColourPrompt) {
    auto chat = StartAt(terminal, {"chat", "-s", session_, AskingForm(schema)});
    EXPECT_TRUE(chat->WaitForErr(first)) << chat->Err();
    return chat;
  }
  json AnswerOfAgent() {
    const auto answers = log().AnswersTo("e");
    return answers.empty() ? json() : answers.back().value("result", json());
  }
  static std::string QuestionOf(const Acpctl& chat) {
    const std::string word = chat.WordAfter("(question ");
    return word.substr(0, word.find(')'));
  }
  std::string session_;
};

TEST_F(ElicitationsTest, AFormIsFilledInInTheAgentsOrderAndReviewed) {
  Terminal terminal;
  const auto chat = StartForm(terminal);
  terminal.Type("2\n\ny\nroof\n\n");
  ASSERT_TRUE(chat->WaitForErr(kReviewPrompt)) << chat->Err();
  EXPECT_TRUE(AnswerOfAgent().is_null()) << "nothing is sent before the review";
  terminal.Type("send\n");
  EXPECT_EQ(chat->Wait(), Exited(0)) << chat->Err();
  EXPECT_THAT(
      chat->Err(),
      AllOf(HasSubstr("? What to paint? (question "),
            HasSubstr(std::string("  (agent fake asks, and gets what you type)\n  Paint\n") +
                      "  Enter takes what stands in [ ]"),
            HasSubstr(std::string(kColourPrompt) +
                      "  count (optional, a whole number: 1 to 5) [3]: "
                      "  fast (optional, y or n) [leave it out]: "
                      "  also (optional, any of them, separated by commas, at most 1)\n"
                      "    1) floor\n"
                      "    2) roof\n"
                      "  1-2 [leave it out]: "
                      "  a_mail (optional, an e-mail address) [leave it out]: "
                      "  To be sent:\n"
                      "    1) Which colour?: Green (g)\n"
                      "    2) count: 3\n"
                      "    3) fast: yes\n"
                      "    4) also: roof\n"
                      "    5) a_mail: (left out)\n" +
                      kReviewPrompt),
            HasSubstr("* answered: accepted\n")));
  const json content = {{"colour", "g"}, {"count", 3}, {"fast", true}, {"also", {"roof"}}};
  EXPECT_EQ(AnswerOfAgent(), (json{{"action", "accept"}, {"content", content}}));
}

TEST_F(ElicitationsTest, WhatIsWrongIsSaidAtOnceAndAskedAgain) {
  Terminal terminal;
  const auto chat = StartForm(terminal);
  terminal.Type("\n3\nRed\nx\n1.5\n6\n5\nmaybe\nn\nfloor,roof\n2\n\nsend\n");
  EXPECT_EQ(chat->Wait(), Exited(0)) << chat->Err();
  const std::string count = "  count (optional, a whole number: 1 to 5) [3]: ";
  const std::string fast = "  fast (optional, y or n) [leave it out]: ";
  EXPECT_THAT(
      chat->Err(),
      HasSubstr(std::string(kColourPrompt) + "  it is required; please give a value\n" +
                kColourPrompt + "  \"3\" is none of them; please type a number from 1 to 2\n" +
                kColourPrompt + count + "  please type a whole number, such as 3\n" + count +
                "  please type a whole number, such as 3\n" + count + "  please give 1 to 5\n" +
                count + fast + "  please type y or n\n" + fast));
  EXPECT_THAT(chat->Err(), HasSubstr("  please give at most 1 of them\n"));
  const json content = {{"colour", "r"}, {"count", 5}, {"fast", false}, {"also", {"roof"}}};
  EXPECT_EQ(AnswerOfAgent()["content"], content);
}

TEST_F(ElicitationsTest, AtTheReviewAFieldIsChanged) {
  Terminal terminal;
  const auto chat = StartForm(terminal);
  terminal.Type("1\n\n\n\n\n");
  ASSERT_TRUE(chat->WaitForErr(kReviewPrompt)) << chat->Err();
  // One field, by its number and by its name; what was given is offered.
  terminal.Type("1\n2\nchange count\n4\n");
  ASSERT_TRUE(chat->WaitForErr("    2) count: 4\n")) << chat->Err();
  EXPECT_THAT(chat->Err(), HasSubstr("  1-2 [Red (r)]: "));
  // "c" may be two words. Then all of them again; a field with a default is left out.
  terminal.Type("c\nchange\n\n!skip\n!back\n\n\n\n\n");
  ASSERT_TRUE(chat->WaitForErr("    2) count: (left out)\n")) << chat->Err();
  terminal.Type("s\n");
  EXPECT_EQ(chat->Wait(), Exited(0)) << chat->Err();
  EXPECT_THAT(chat->Err(),
              HasSubstr("  please type send, change, decline or cancel, or a field's number\n"));
  EXPECT_EQ(AnswerOfAgent()["content"], (json{{"colour", "g"}}));
}

struct EndRow {
  const char* name;
  const char* typed;
  const char* action;
};
class FormEndTest : public ElicitationsTest, public ::testing::WithParamInterface<EndRow> {};
INSTANTIATE_TEST_SUITE_P(
    Words, FormEndTest,
    ::testing::Values(EndRow{"DeclineInAField", "!decline\n", "decline"},
                      EndRow{"CancelInAField", "1\n!cancel\n", "cancel"},
                      EndRow{"DeclineAtTheReview", "1\n\n\n\n\ndecline\n", "decline"},
                      EndRow{"CancelAtTheReview", "1\n\n\n\n\ncancel\n", "cancel"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_P(FormEndTest, SendsNoContent) {
  Terminal terminal;
  const auto chat = StartForm(terminal);
  terminal.Type(GetParam().typed);
  EXPECT_EQ(chat->Wait(), Exited(0)) << chat->Err();
  EXPECT_EQ(AnswerOfAgent(), (json{{"action", GetParam().action}}));
}

TEST_F(ElicitationsTest, ARefusedFieldIsAskedAgain) {
  Terminal terminal;
  const auto chat = StartForm(terminal);
  terminal.Type("1\n\n\n\nnobody\nsend\n");
  const std::string again = "  a_mail (optional, an e-mail address) [nobody]: ";
  ASSERT_TRUE(chat->WaitForErr(again)) << chat->Err();
  EXPECT_THAT(chat->Err(), HasSubstr("`a_mail` has to be an e-mail address.\n" + again));
  terminal.Type("me@example.com\nsend\n");
  EXPECT_EQ(chat->Wait(), Exited(0)) << chat->Err();
  EXPECT_EQ(AnswerOfAgent()["content"],
            (json{{"colour", "r"}, {"count", 3}, {"a_mail", "me@example.com"}}));
}

TEST_F(ElicitationsTest, AFormThatIsRefusedTooOftenIsLeftOpen) {
  Terminal terminal;
  const auto chat = StartForm(terminal);
  terminal.Type("1\n\n\n\nnobody\nsend\n\nsend\n\nsend\n");
  ASSERT_TRUE(chat->WaitForErr("acpctl respond ")) << chat->Err();
  Run(0, {"respond", session_, QuestionOf(*chat), "--accept", R"({"colour": "g"})"});
  EXPECT_EQ(chat->Wait(), Exited(0)) << chat->Err();
  EXPECT_EQ(AnswerOfAgent()["content"], (json{{"colour", "g"}}));
}

TEST_F(ElicitationsTest, AtTheTerminalsEndTheCommandIsTold) {
  Terminal terminal;
  const auto chat = StartForm(terminal);
  terminal.Type(std::string("1\n") + Terminal::kCtrlD);
  ASSERT_TRUE(chat->WaitForErr("\n  answer with: acpctl respond " + session_ + " ")) << chat->Err();
  Run(0, {"respond", session_, QuestionOf(*chat), "--decline"});
  EXPECT_EQ(chat->Wait(), Exited(0)) << chat->Err();
  EXPECT_EQ(AnswerOfAgent(), (json{{"action", "decline"}}));
}

TEST_F(ElicitationsTest, CtrlCEndsTheFormAndTheTurn) {
  Terminal terminal;
  const auto chat = StartForm(terminal);
  terminal.Type("1\n");
  ASSERT_TRUE(chat->WaitForErr("[3]: ")) << chat->Err();
  terminal.Type(Terminal::kCtrlC);
  EXPECT_EQ(chat->Wait(), Exited(130)) << chat->Err();
  EXPECT_EQ(AnswerOfAgent(), (json{{"action", "cancel"}}));
}

TEST_F(ElicitationsTest, AFormThatSomebodyElseAnswersIsAskedNoLonger) {
  Terminal terminal;
  const auto chat = StartForm(terminal);
  Run(0, {"respond", session_, QuestionOf(*chat), "--accept", R"({"colour": "g"})"});
  EXPECT_EQ(chat->Wait(), Exited(0)) << chat->Err();
  EXPECT_THAT(chat->Err(), HasSubstr("  1-2: \n* answered: accepted\n"));
}

TEST_F(ElicitationsTest, AFormWithoutFieldsIsReviewedToo) {
  Terminal terminal;
  const std::string prompt = "  nothing is to be filled in: send, decline or cancel? ";
  const auto chat = StartForm(terminal, R"({"type": "object", "properties": {}})", prompt);
  terminal.Type("\n1\n");
  ASSERT_TRUE(chat->WaitForErr("  please type send, decline or cancel\n" + prompt +
                               "  please type send, decline or cancel\n" + prompt))
      << chat->Err();
  terminal.Type("send\n");
  EXPECT_EQ(chat->Wait(), Exited(0)) << chat->Err();
  EXPECT_EQ(AnswerOfAgent(), (json{{"action", "accept"}, {"content", json::object()}}));
}

// An agent's words do not move the cursor over what stands there.
TEST_F(ElicitationsTest, WordsOfTheAgentAreNoCommandsToTheTerminal) {
  Terminal terminal;
  const auto chat = StartForm(terminal, R"({"type": "object", "properties": {"a": {"type": "string",
                    "title": "\u001b[2J\rName\u202e", "description": "one\ntwo"}}})",
                              "(a, optional) - one two [leave it out]: ");
  EXPECT_THAT(chat->Err(), AllOf(HasSubstr("[2J"), Not(HasSubstr("\x1b")), Not(HasSubstr("\r")),
                                 Not(HasSubstr("\u202e"))));
  terminal.Type("!decline\n");
  EXPECT_EQ(chat->Wait(), Exited(0)) << chat->Err();
}

TEST_F(ElicitationsTest, APageIsShownWholeWithItsHost) {
  Terminal terminal;
  const auto chat =
      StartAt(terminal, {"chat", "-s", session_, AskingPage("https://shop@example.test/a?b=1")});
  ASSERT_TRUE(chat->WaitForErr("then type y, or n to decline: ")) << chat->Err();
  EXPECT_THAT(chat->Err(), AllOf(HasSubstr("  (agent fake asks)\n"),
                                 HasSubstr("  https://shop@example.test/a?b=1\n"),
                                 HasSubstr("  host: example.test\n")));
  terminal.Type("maybe\n");
  ASSERT_TRUE(chat->WaitForErr("please type y or n")) << chat->Err();
  terminal.Type("y\n");
  EXPECT_EQ(chat->Wait(), Exited(0)) << chat->Err();
  EXPECT_EQ(AnswerOfAgent(), (json{{"action", "accept"}}));
}

TEST_F(ElicitationsTest, APageIsDeclined) {
  Terminal terminal;
  const auto chat =
      StartAt(terminal, {"chat", "-s", session_, AskingPage("https://example.test/")});
  ASSERT_TRUE(chat->WaitForErr("then type y, or n to decline: ")) << chat->Err();
  terminal.Type("n\n");
  EXPECT_EQ(chat->Wait(), Exited(0)) << chat->Err();
  EXPECT_EQ(AnswerOfAgent(), (json{{"action", "decline"}}));
}

// The command is good as it stands.
TEST_F(ElicitationsTest, WithoutATerminalTheFormAndTheCommandAreTold) {
  const auto chat = Start({"chat", "-s", session_, AskingForm()});
  ASSERT_TRUE(chat->WaitForErr("(or --decline)\n")) << chat->Err();
  const std::string question = QuestionOf(*chat);
  EXPECT_THAT(
      chat->Err(),
      AllOf(HasSubstr("  Which colour? (colour, required) - Of the door\n"
                      "    \"r\": Red\n"
                      "    \"g\": Green\n"
                      "  count (optional, a whole number: 1 to 5) [3]\n"),
            EndsWith("  answer with: acpctl respond " + session_ + " " + question +
                     R"( --accept '{"colour":"r"}' with your values (or --decline))" + "\n")));
  const auto wrong = Run(2, {"respond", session_, question, "--accept", R"({"colour": "blue"})"});
  EXPECT_THAT(wrong->Err(), AllOf(StartsWith("acpctl: INVALID_ANSWER: "),
                                  HasSubstr("`colour` has to be one of: r, g")));
  EXPECT_THAT(Run(2, {"respond", session_, question, "--accept", "red"})->Err(),
              HasSubstr("JSON object"));
  Run(0, {"respond", session_, question, "--accept", R"({"colour":"r"})"});
  EXPECT_EQ(chat->Wait(), Exited(0)) << chat->Err();
  EXPECT_EQ(AnswerOfAgent()["content"], (json{{"colour", "r"}}));
}

TEST_F(ElicitationsTest, WithoutATerminalThePageAndTheCommandAreTold) {
  const auto chat = Start({"chat", "-s", session_, AskingPage("https://example.test/a")});
  ASSERT_TRUE(chat->WaitForErr("(or --decline)\n")) << chat->Err();
  EXPECT_THAT(chat->Err(), AllOf(HasSubstr("  https://example.test/a\n  host: example.test\n"),
                                 HasSubstr(" --accept '{}' when you have opened it ")));
  Run(0, {"respond", session_, QuestionOf(*chat), "--accept", "{}"});
  EXPECT_EQ(chat->Wait(), Exited(0)) << chat->Err();
  EXPECT_EQ(AnswerOfAgent(), (json{{"action", "accept"}}));
}

}  // namespace
}  // namespace acpd::cli
