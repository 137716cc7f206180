// A fallback that passes on acpd's own record of the conversation.

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class TranscriptTest : public TurnsTest {
 protected:
  // `prompts`: the steps of each prompt that brings none.
  void StartForgetful(const json& prompts = json::array()) {
    json script = json::object();
    if (!prompts.empty()) script["session/prompt"] = prompts;
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
  // Prompts whose agent says one of these words each.
  static json Saying(const std::vector<std::string>& words) {
    json prompts = json::array();
    for (const std::string& word : words) prompts.push_back(Steps(Say(word), Reply("end_turn")));
    return prompts;
  }
  // The session that stands in for that one, after a first turn and a second.
  std::string FallBack(
      const std::string& session_id,
      api::ResumePolicy::Mode mode = api::ResumePolicy::MODE_FALLBACK_WITH_TRANSCRIPT) {
    api::ChatRequest request = WithTranscript(session_id, "go on");
    request.mutable_resume_policy()->set_mode(mode);
    const auto chat = client().Chat(request);
    EXPECT_TRUE(chat.ok()) << chat.ToString();
    EXPECT_EQ(chat.response.origin().kind(), api::SessionOrigin::KIND_FALLBACK);
    const std::string id = chat.response.session_id();
    const auto next = client().Say(kProject, id, "and on");
    EXPECT_EQ(next.response.origin().kind(), api::SessionOrigin::KIND_LIVE);
    EXPECT_TRUE(client().CloseSession(id).ok());
    return id;
  }
  // What goes before the first prompt of the session that stands in for that one.
  std::string RecordOf(const std::string& session_id) {
    const auto chat = client().Chat(WithTranscript(session_id, "go on"));
    EXPECT_TRUE(chat.ok()) << chat.ToString();
    EXPECT_TRUE(chat.response.origin().transcript_injected());
    return LastBlocks().front();
  }
  static size_t Count(const std::string& text, const std::string& part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
      ++count;
    return count;
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

TEST_F(TranscriptTest, OfAReplacedSessionGoesToAllThatStandInAfterIt) {
  StartForgetful(Saying({"two", "two again", "three", "three again", "four"}));
  const std::string third = FallBack(FallBack(Talk(Steps(Say("one")))));
  const std::string record = RecordOf(third);
  size_t before = 0;
  for (const char* said : {"Agent: one\n", "Agent: two\n", "Agent: two again\n", "Agent: three\n",
                           "Agent: three again\n"}) {
    SCOPED_TRACE(said);
    EXPECT_EQ(Count(record, said), 1u);
    const size_t at = record.find(said);
    EXPECT_LT(before, at);
    before = at;
  }
  EXPECT_EQ(Count(record, "<conversation_record>"), 1u);
}

TEST_F(TranscriptTest, OfAReplacedSessionIsPassedOnAfterARestart) {
  StartForgetful(Saying({"two", "two again", "three"}));
  const std::string second = FallBack(Talk(Steps(Say("one"))));
  KillAndRestartDaemon();
  EXPECT_THAT(RecordOf(second), AllOf(HasSubstr("Agent: one\n"), HasSubstr("Agent: two again\n")));
}

TEST_F(TranscriptTest, OfAllReplacedSessionsHasTheRoomOfOne) {
  options().extra["limits"] = {{"transcript_bytes", "4KiB"}};
  json prompts = Saying({"", "two", "", "three", "four"});
  prompts[0][0] = Step("burst", json::array({30, 100}));
  prompts[2][0] = Step("burst", json::array({20, 100}));
  StartForgetful(prompts);
  const std::string second = FallBack(Talk(Steps(Say("one"))));
  const std::string third = FallBack(second);
  // That of the second fits; in that of the third there is no room for all of it.
  const json fitting = log().Received("session/prompt").at(3).at("params").at("prompt").at(0);
  EXPECT_THAT(fitting.value("text", ""),
              AllOf(HasSubstr("Agent: one\n"), HasSubstr("Agent: two\n")));
  const std::string record = RecordOf(third);
  EXPECT_LT(record.size(), 5000u);
  EXPECT_THAT(record, AllOf(HasSubstr("Agent: three\n"), HasSubstr("Older messages are left out"),
                            HasSubstr("Agent: two\n"), Not(HasSubstr("Agent: one\n"))));
}

TEST_F(TranscriptTest, GoesBackBySixteenSessionsAndNoFurther) {
  std::vector<std::string> words;
  for (int i = 1; i <= 16; ++i) words.insert(words.end(), {"word " + std::to_string(i), "more"});
  StartForgetful(Saying(words));
  std::string id = Talk(Steps(Say("word 0")));
  for (int i = 1; i <= 16; ++i) id = FallBack(id);
  EXPECT_THAT(RecordOf(id), AllOf(HasSubstr("Agent: word 16\n"), HasSubstr("Agent: word 1\n"),
                                  Not(HasSubstr("Agent: word 0\n"))));
}

TEST_F(TranscriptTest, BeginsWithTheSessionThatWasGivenNone) {
  StartForgetful(Saying({"two", "two again", "three"}));
  const std::string second =
      FallBack(Talk(Steps(Say("one"))), api::ResumePolicy::MODE_FALLBACK_TO_NEW);
  EXPECT_THAT(RecordOf(second), AllOf(HasSubstr("Agent: two\n"), Not(HasSubstr("Agent: one\n"))));
}

TEST_F(TranscriptTest, HasNothingOfASessionThatWasDeleted) {
  StartForgetful(Saying({"two", "two again", "three"}));
  const std::string first = Talk(Steps(Say("one")));
  const std::string second = FallBack(first);
  api::DeleteSessionRequest request;
  request.set_session_id(first);
  ASSERT_TRUE(client().Call(&Client::Stub::DeleteSession, request).ok());
  EXPECT_THAT(RecordOf(second), AllOf(HasSubstr("Agent: two\n"), Not(HasSubstr("Agent: one\n"))));
}

TEST_F(TranscriptTest, APromptThatWasMovedStandsInItOnce) {
  json script = json::object();
  const json lost = Error(-32002, "Resource not found");
  script["session/resume"] = json::array({Steps(Barrier("resume"), lost), Steps(lost)});
  script["session/prompt"] = Saying({"two", "three", "four"});
  script["session/load"] = Steps(lost);
  UseScript(script);
  StartDaemon();
  const std::string old_id = Talk(Steps(Say("one")));
  std::vector<std::string> turns;
  for (const char* prompt : {"first", "second"}) {
    api::ChatRequest request = WithTranscript(old_id, prompt);
    request.set_wait_for(api::WAIT_FOR_ACCEPTED);
    const auto chat = client().Chat(request);
    ASSERT_TRUE(chat.ok()) << chat.ToString();
    turns.push_back(chat.response.turn_id());
  }
  ASSERT_TRUE(barriers().WaitReached("resume"));
  barriers().Release("resume");
  WaitForTurn(turns[0]);
  const std::string second = WaitForTurn(turns[1]).session_id();
  ASSERT_NE(second, old_id);
  ASSERT_TRUE(client().CloseSession(second).ok());
  const std::string record = RecordOf(second);
  for (const char* said : {"Agent: one\n", "User: first\n", "User: second\n"}) {
    EXPECT_EQ(Count(record, said), 1u) << said;
  }
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
