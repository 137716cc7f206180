// What an agent says around the end of a turn belongs where it was said.

#include <map>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using Result = api::TurnResult;

class OutputTest : public TurnsTest {};

TEST_F(OutputTest, UpdatesInOneWriteWithTheAnswerComeBeforeTheEnd) {
  constexpr int kRounds = 200, kUpdates = 500;
  json script = json::object();
  script["session/prompt"] = Steps(Step("updates_and_reply", json{{"updates", kUpdates}}));
  UseScript(script);
  StartDaemon();
  const auto first = client().Say(kProject, "", "round 1");
  ASSERT_TRUE(first.ok()) << first.ToString();
  const std::string id = first.response.session_id();
  std::vector<std::string> turn_ids = {first.response.turn_id()};
  const auto stream = client().SubscribeSession(id);
  for (int round = 2; round <= kRounds; ++round) {
    const auto chat = client().Say(kProject, id, "round");
    ASSERT_TRUE(chat.ok()) << chat.ToString();
    turn_ids.push_back(chat.response.turn_id());
  }
  ASSERT_TRUE(stream->WaitFor(EndOf(turn_ids.back())));
  std::map<std::string, int> said;
  int ended = 0;
  for (const Event& event : stream->Stored()) {
    if (event.has_session_update()) {
      const int number = ++said[event.turn_id()];
      ASSERT_EQ(event.session_update().text(), "update " + std::to_string(number));
    } else if (event.has_turn_ended()) {
      ASSERT_EQ(said[event.turn_id()], kUpdates);
      ++ended;
    }
  }
  EXPECT_EQ(ended, kRounds);
  EXPECT_EQ(said.size(), static_cast<size_t>(kRounds));
}

TEST_F(OutputTest, UpdatesBehindTheAnswerAreOutOfTurn) {
  StartDaemon();
  const auto line = [](const std::string& text) {
    return R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${sessionId}",)"
           R"("update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":")" +
           text + "\"}}}}\n";
  };
  const std::string answer =
      "{\"jsonrpc\":\"2.0\",\"id\":${id},\"result\":{\"stopReason\":\"end_turn\"}}\n";
  const auto first = client().Say(
      kProject, "",
      Scripted(Steps(
          Step("raw", line("in time") + answer + line("late 1") + line("late 2") + line("late 3")),
          "silent")));
  ASSERT_TRUE(first.ok()) << first.ToString();
  EXPECT_EQ(first.response.result().text(), "in time");
  const auto second = client().Say(kProject, first.response.session_id(), "hello");
  ASSERT_TRUE(second.ok()) << second.ToString();
  EXPECT_EQ(second.response.result().text(), "hello");
  std::map<std::string, std::string> said;
  for (const Event& event : EventsOf(first.response.session_id())) {
    if (event.has_session_update()) said[event.turn_id()] += event.session_update().text();
  }
  EXPECT_EQ(said, (std::map<std::string, std::string>{{first.response.turn_id(), "in time"},
                                                      {"", "late 1late 2late 3"},
                                                      {second.response.turn_id(), "hello"}}));
}

TEST_F(OutputTest, UpdatesBeforeTheAnswerToSessionNewAreKeptOutOfTurn) {
  json script = json::object();
  script["session/new"] = Steps(Say("welcome"), "reply");
  UseScript(script);
  StartDaemon();
  const auto chat = client().Say(kProject, "", "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.result().text(), "hello");
  bool welcomed = false;
  for (const Event& event : EventsOf(chat.response.session_id())) {
    if (event.session_update().text() != "welcome") continue;
    welcomed = true;
    EXPECT_EQ(event.turn_id(), "");
  }
  EXPECT_TRUE(welcomed);
}

TEST_F(OutputTest, ForeignUpdatesAreDroppedWithANotice) {
  StartDaemon();
  const json foreign = {{"method", "session/update"},
                        {"params",
                         {{"sessionId", "someone-else"},
                          {"update",
                           {{"sessionUpdate", "agent_message_chunk"},
                            {"content", {{"type", "text"}, {"text", "spam"}}}}}}}};
  const auto chat =
      client().Say(kProject, "", Scripted(Steps(Step("notify", foreign), Say("mine"))));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.result().text(), "mine");
  bool noticed = false;
  for (const Event& event : EventsOf(chat.response.session_id())) {
    EXPECT_NE(event.session_update().text(), "spam");
    if (event.has_notice()) noticed = true;
  }
  EXPECT_TRUE(noticed);
}

TEST_F(OutputTest, FinalTextIsTheLastMessage) {
  StartDaemon();
  const json tool = {{"sessionUpdate", "tool_call"}, {"toolCallId", "t"}, {"title", "Look"}};
  const auto chat = client().Say(
      kProject, "",
      Scripted(Steps(Say("I look. "), Step("update", tool), Say("Found "), Say("it"))));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.result().text(), "I look. Found it");
  EXPECT_EQ(chat.response.result().final_text(), "Found it");
}

TEST_F(OutputTest, AnUnknownStopReasonIsAnEnd) {
  StartDaemon();
  const auto chat = client().Say(kProject, "", Scripted(Steps(Reply("coffee_break"))));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.result().outcome(), Result::OUTCOME_COMPLETED);
  EXPECT_EQ(chat.response.result().stop_reason(), "coffee_break");
}

TEST_F(OutputTest, AnAgentsErrorIsPassedOnWordForWord) {
  StartDaemon();
  const auto chat = client().Say(
      kProject, "",
      Scripted(Steps(Say("half"), Error(-32603, "the model is on fire", {{"retry", false}}))));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const Result& result = chat.response.result();
  EXPECT_EQ(result.outcome(), Result::OUTCOME_FAILED);
  EXPECT_EQ(result.error().reason(), "AGENT_ERROR");
  EXPECT_EQ(result.error().agent_code(), -32603);
  EXPECT_EQ(json::parse(result.error().agent_data()), (json{{"retry", false}}));
  EXPECT_THAT(result.error().message(), ::testing::HasSubstr("the model is on fire"));
  EXPECT_EQ(result.text(), "half");
  EXPECT_TRUE(result.prompt_sent());
}

}  // namespace
}  // namespace acpd::e2e
