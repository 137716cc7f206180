// The fake agent over its pipes: what a turn may be told to do.

#include <algorithm>

#include "tests/fakes/fakes_test_base.h"

namespace acpd::fakes {
namespace {

using ::testing::ElementsAre;

json Option(const char* id, const char* kind) { return {{"optionId", id}, {"kind", kind}}; }
const json kOptions = {Option("a", "allow_once"), Option("r", "reject_once")};

// ---- what prompts bring

TEST_F(FakesTest, APromptMayBringItsSteps) {
  AgentProcess agent("fake_agent", env_);
  const std::string id = agent.Open();
  const json thought = {{"sessionUpdate", "agent_thought_chunk"},
                        {"content", {{"type", "text"}, {"text", "t"}}}};
  const json answer = agent.Prompt(id, Scripted({{{"update", "hi"}},
                                                 {{"update", thought}},
                                                 {{"reply", {{"stopReason", "refusal"}}}}}));
  EXPECT_EQ(StopReason(answer), "refusal");
  EXPECT_EQ(agent.Text(), "hi");
  EXPECT_THAT(agent.Kinds(), ElementsAre("agent_message_chunk", "agent_thought_chunk"));
  EXPECT_EQ(StopReason(agent.Prompt(id, "![]")), "end_turn");
  EXPECT_EQ(ErrorCode(agent.Prompt(id, "![{\"no_verb\":1}]")), -32602);
}

TEST_F(FakesTest, BurstsAndBigWrites) {
  AgentProcess agent("fake_agent", env_);
  const std::string id = agent.Open();
  agent.Prompt(id, Scripted({{{"burst", {500, 20}}}}));
  ASSERT_EQ(agent.heard().size(), 500u);
  EXPECT_EQ(agent.heard()[499]["params"]["update"]["content"]["text"], "499 xxxxxxxxxxxxxxxx");
  agent.Prompt(id, Scripted({{{"updates_and_reply", {{"updates", 300}}}}}));
  EXPECT_EQ(agent.heard().size(), 300u);
  const json answer =
      agent.Prompt(id, Scripted({{{"updates_and_reply",
                                   {{"updates", {"a", "b"}}, {"reply", {{"stopReason", "x"}}}}}}}));
  EXPECT_EQ(StopReason(answer), "x");
  EXPECT_EQ(agent.Text(), "ab");
}

TEST_F(FakesTest, RawBytes) {
  AgentProcess agent("fake_agent", env_);
  const std::string id = agent.Open();
  agent.SendPrompt(id, Scripted({{{"raw", "banner ${sessionId}\n"}},
                                 {{"raw64", "/wBhCg=="}},
                                 {{"raw", R"({"jsonrpc":"2.0","id":${id},"result":{}})"}},
                                 {{"exit", 0}}}));
  EXPECT_EQ(agent.ReadLine(), "banner " + id);
  EXPECT_EQ(agent.ReadLine(), std::string("\xff\0a", 3));
  EXPECT_EQ(agent.ReadLine(), R"({"jsonrpc":"2.0","id":3,"result":{}})") << "without a newline";
}

TEST_F(FakesTest, NotificationsAndTheEnvironment) {
  env_["SOME_NAME"] = "value";
  AgentProcess agent("fake_agent", env_);
  const std::string id = agent.Open();
  agent.Prompt(id, Scripted({{{"notify", {{"method", "_x/y"}, {"params", {{"a", 1}}}}}},
                             {{"say_env", "SOME_NAME"}},
                             {{"say_env", "OTHER_NAME"}}}));
  EXPECT_EQ(agent.heard()[0], json::parse(R"({"jsonrpc":"2.0","method":"_x/y","params":{"a":1}})"));
  EXPECT_EQ(agent.Text(), "SOME_NAME=valueOTHER_NAME is not set");
}

// ---- questions

TEST_F(FakesTest, AsksUnderAnyIdAndLogsTheAnswers) {
  AgentProcess agent("fake_agent", env_);
  const std::string id = agent.Open();
  const json ids = {"1", 1, "550e8400-e29b", 9007199254740993};
  json steps = json::array();
  for (const json& ask : ids) steps.push_back({{"ask", {{"id", ask}, {"options", kOptions}}}});
  for (const json& ask : ids)
    steps.push_back({{"expect_answer", {{"id", ask}, {"optionId", "r"}}}});
  const int64_t prompt = agent.SendPrompt(id, Scripted(steps));
  std::vector<json> asked;
  for (size_t i = 0; i < ids.size(); ++i) {
    const json request = agent.Read();
    EXPECT_EQ(request["params"]["options"][1]["name"], "r");
    asked.push_back(request.at("id"));
  }
  EXPECT_EQ(json(asked).dump(), ids.dump());
  std::reverse(asked.begin(), asked.end());
  for (const json& ask : asked) agent.Send(Selected(ask, "r"));
  EXPECT_EQ(StopReason(agent.ReadAnswer(prompt)), "end_turn");
  EXPECT_EQ(log_.AnswersTo("1").size(), 1u);
  EXPECT_EQ(log_.AnswersTo(1).size(), 1u);
}

TEST_F(FakesTest, AMismatchIsAnsweredAndLogged) {
  AgentProcess agent("fake_agent", env_);
  const json steps = {{{"ask", {{"id", 9}, {"options", kOptions}, {"wait", true}}}},
                      {{"expect_answer", {{"id", 9}, {"outcome", "cancelled"}}}}};
  const int64_t prompt = agent.SendPrompt(agent.Open(), Scripted(steps));
  agent.Send(Selected(agent.Read().at("id"), "a"));
  EXPECT_EQ(ErrorCode(agent.ReadAnswer(prompt)), -32603);
  EXPECT_EQ(log_.Events("mismatch").size(), 1u);
}

TEST_F(FakesTest, RequestsOfAnyMethod) {
  AgentProcess agent("fake_agent", env_);
  const json steps = {{{"request", {{"id", "f"}, {"method", "fs/read_text_file"}, {"wait", true}}}},
                      {{"expect_answer", {{"id", "f"}, {"code", -32601}}}},
                      {{"update", "refused"}}};
  const int64_t prompt = agent.SendPrompt(agent.Open(), Scripted(steps));
  EXPECT_EQ(agent.Read().at("method"), "fs/read_text_file");
  agent.Send({{"jsonrpc", "2.0"}, {"id", "f"}, {"error", {{"code", -32601}, {"message", "no"}}}});
  EXPECT_EQ(StopReason(agent.ReadAnswer(prompt)), "end_turn");
  EXPECT_EQ(agent.Text(), "refused");
}

// ---- time, barriers, cancel

TEST_F(FakesTest, StandsAtABarrierUntilItIsReleased) {
  UseScript({{"session/new", {{{"barrier", "new"}}}}});
  AgentProcess agent("fake_agent", env_);
  agent.Send(
      {{"jsonrpc", "2.0"}, {"id", "n"}, {"method", "session/new"}, {"params", json::object()}});
  ASSERT_TRUE(barriers_.WaitReached("new"));
  EXPECT_TRUE(agent.Call("initialize", json::object()).contains("result")) << "it still listens";
  EXPECT_TRUE(agent.heard().empty());
  barriers_.Release("new");
  EXPECT_EQ(agent.Read().at("id"), "n");
  EXPECT_EQ(log_.Events("released").size(), 1u);
}

TEST_F(FakesTest, HearsACancelAtABarrierInABurstAndInItsSleep) {
  AgentProcess agent("fake_agent", env_);
  const std::string id = agent.Open();
  for (const json& step : {json{{"barrier", "never"}}, json{{"burst", {100000000, 10}}},
                           json{{"sleep_ms", 3600000}}, json("silent")}) {
    const int64_t prompt = agent.SendPrompt(id, Scripted({{{"update", "on"}}, step}));
    EXPECT_EQ(agent.Read()["params"]["update"]["content"]["text"], "on");
    agent.Cancel(id);
    EXPECT_EQ(StopReason(agent.ReadAnswer(prompt)), "cancelled") << step;
  }
}

TEST_F(FakesTest, ADeafBarrierDoesNotRead) {
  AgentProcess agent("fake_agent", env_);
  const std::string id = agent.Open();
  const json steps = {{{"barrier", {{"name", "deaf"}, {"deaf", true}}}},
                      {{"reply", {{"stopReason", "end_turn"}}}}};
  const int64_t prompt = agent.SendPrompt(id, Scripted(steps));
  ASSERT_TRUE(barriers_.WaitReached("deaf"));
  agent.Cancel(id);
  barriers_.Release("deaf");
  EXPECT_EQ(StopReason(agent.ReadAnswer(prompt)), "end_turn");
}

TEST_F(FakesTest, OnCancelSaysWhatACancelDoes) {
  AgentProcess agent("fake_agent", env_);
  const std::string id = agent.Open();
  const auto cancelled_with = [&](const json& on_cancel) {
    const json steps = {{{"on_cancel", on_cancel}}, {{"update", "on"}}, "silent"};
    const int64_t prompt = agent.SendPrompt(id, Scripted(steps));
    agent.Read();
    agent.Cancel(id);
    return agent.ReadAnswer(prompt);
  };
  EXPECT_EQ(StopReason(cancelled_with("end_turn")), "end_turn");
  EXPECT_EQ(ErrorCode(cancelled_with(json::array({{{"error", {-32800, "cancelled"}}}}))), -32800);
  EXPECT_EQ(ErrorCode(cancelled_with(json::array({{{"error", {-32603, "internal"}}}}))), -32603);
}

TEST_F(FakesTest, OnCancelIgnoreGoesOn) {
  UseScript({{"on_cancel", "ignore"}});
  AgentProcess agent("fake_agent", env_);
  const std::string id = agent.Open();
  const int64_t prompt =
      agent.SendPrompt(id, Scripted({{{"barrier", "b"}}, {{"update", "went on"}}}));
  ASSERT_TRUE(barriers_.WaitReached("b"));
  agent.Cancel(id);
  ASSERT_TRUE(log_.WaitForReceived("session/cancel"));
  barriers_.Release("b");
  EXPECT_EQ(StopReason(agent.ReadAnswer(prompt)), "end_turn");
  EXPECT_EQ(agent.Text(), "went on");
}

TEST_F(FakesTest, CloseCancelsWhatRuns) {
  AgentProcess agent("fake_agent", env_);
  const std::string id = agent.Open();
  const int64_t prompt = agent.SendPrompt(id, Scripted({"silent"}));
  agent.Send({{"jsonrpc", "2.0"},
              {"id", "c"},
              {"method", "session/close"},
              {"params", {{"sessionId", id}}}});
  EXPECT_EQ(StopReason(agent.ReadAnswer(prompt)), "cancelled");
  EXPECT_EQ(agent.Read().at("id"), "c");
}

}  // namespace
}  // namespace acpd::fakes
