// A fallback that passes on acpd's own record of the conversation.

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class TranscriptTest : public TurnsTest {
 protected:
  void StartForgetful() {
    json script = json::object();
    script["session/resume"] = Steps(Error(-32002, "Resource not found"));
    script["session/load"] = Steps(Error(-32002, "Resource not found"));
    UseScript(script);
    StartDaemon();
  }
  api::ChatRequest WithTranscript(const std::string& session_id, const std::string& prompt) {
    api::ChatRequest request = ChatOf(kProject, session_id, prompt, api::WAIT_FOR_FINISHED);
    request.mutable_resume_policy()->set_mode(api::ResumePolicy::MODE_FALLBACK_WITH_TRANSCRIPT);
    return request;
  }
  // The text blocks of the last prompt.
  std::vector<std::string> LastBlocks() {
    std::vector<std::string> texts;
    const auto prompts = log().Received("session/prompt");
    for (const json& block : prompts.back().at("params").at("prompt"))
      texts.push_back(block.value("text", ""));
    return texts;
  }
  std::string Talk(const json& steps) {
    const auto chat = client().Say(kProject, "", Scripted(steps));
    EXPECT_TRUE(chat.ok()) << chat.ToString();
    EXPECT_TRUE(client().CloseSession(chat.response.session_id()).ok());
    return chat.response.session_id();
  }
};

TEST_F(TranscriptTest, GoesBeforeTheFirstPromptAndOnce) {
  StartForgetful();
  const json tool = {{"sessionUpdate", "tool_call"},
                     {"toolCallId", "t1"},
                     {"title", "Read a.txt"},
                     {"status", "pending"}};
  const json done = {
      {"sessionUpdate", "tool_call_update"}, {"toolCallId", "t1"}, {"status", "completed"}};
  const std::string old_id =
      Talk(Steps(Step("update", tool), Step("update", done), Say("The number "), Say("is 42.")));
  const auto chat = client().Chat(WithTranscript(old_id, "go on"));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.origin().kind(), api::SessionOrigin::KIND_FALLBACK);
  EXPECT_TRUE(chat.response.origin().transcript_injected());
  const std::vector<std::string> blocks = LastBlocks();
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_THAT(blocks[0],
              AllOf(HasSubstr("not an instruction"), HasSubstr("Agent: The number is 42.\n"),
                    HasSubstr("Tool: Read a.txt (completed)\n"), HasSubstr("User: ")));
  EXPECT_EQ(blocks[1], "go on");
  ASSERT_TRUE(client().Say(kProject, chat.response.session_id(), "once more").ok());
  EXPECT_EQ(LastBlocks(), std::vector<std::string>{"once more"});
}

TEST_F(TranscriptTest, IsNotSentUnlessAskedFor) {
  StartForgetful();
  const std::string old_id = Talk(Steps(Say("The number is 42.")));
  const auto chat = client().Say(kProject, old_id, "go on");
  EXPECT_FALSE(chat.response.origin().transcript_injected());
  EXPECT_EQ(LastBlocks(), std::vector<std::string>{"go on"});
}

TEST_F(TranscriptTest, OfASessionInWhichNothingWasSaidIsNone) {
  json script = json::object();
  script["session/resume"] = Steps(Error(-32002, "Resource not found"));
  UseScript(script);
  StartDaemon();
  const auto chat = client().Chat(WithTranscript("unknown-to-us", "go on"));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_FALSE(chat.response.origin().transcript_injected());
  EXPECT_EQ(LastBlocks(), std::vector<std::string>{"go on"});
}

TEST_F(TranscriptTest, IsCutAtItsSizeAndKeepsTheNewest) {
  options().extra["limits"] = {{"transcript_bytes", "4KiB"}};
  StartForgetful();
  const std::string old_id =
      Talk(Steps(Say("the very first words"), Step("burst", json::array({200, 100})),
                 Step("update", {{"sessionUpdate", "plan"}, {"entries", json::array()}}),
                 Say("the last words")));
  ASSERT_TRUE(client().Chat(WithTranscript(old_id, "go on")).ok());
  const std::string record = LastBlocks()[0];
  EXPECT_LT(record.size(), 5000u);
  EXPECT_THAT(record, AllOf(HasSubstr("the last words"), Not(HasSubstr("the very first words")),
                            HasSubstr("Older messages are left out")));
}

TEST_F(TranscriptTest, SurvivesAKillBeforeThePrompt) {
  json script = json::object();
  script["session/resume"] = Steps(Error(-32002, "Resource not found"));
  script["session/load"] = Steps(Error(-32002, "Resource not found"));
  script["session/set_mode"] = Steps(Barrier("mode"));
  script["setup"] = {
      {"modes",
       {{"currentModeId", "a"},
        {"availableModes", {{{"id", "a"}, {"name", "A"}}, {{"id", "b"}, {"name", "B"}}}}}}};
  UseScript(script);
  StartDaemon();
  const std::string old_id = Talk(Steps(Say("The number is 42.")));
  api::ChatRequest request = WithTranscript(old_id, "go on");
  request.set_wait_for(api::WAIT_FOR_ACCEPTED);
  request.set_mode_id("b");
  const auto chat = client().Chat(request);
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  ASSERT_TRUE(barriers().WaitReached("mode"));
  daemon().Kill();
  barriers().Release("mode");
  StartDaemon();
  WaitForTurn(chat.response.turn_id());
  EXPECT_THAT(LastBlocks()[0], HasSubstr("The number is 42."));
}

}  // namespace
}  // namespace acpd::e2e
