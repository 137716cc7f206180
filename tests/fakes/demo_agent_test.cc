// The demo agent and the burst agent over their pipes.

#include "tests/fakes/fakes_test_base.h"

namespace acpd::fakes {
namespace {

using ::testing::ElementsAre;

class DemoAgentTest : public FakesTest {
 protected:
  DemoAgentTest() { env_["XDG_STATE_HOME"] = dir_.path(); }
};

TEST_F(DemoAgentTest, SaysWhatItIs) {
  AgentProcess agent("acpd-demo-agent", env_);
  const json answer = agent.Call("initialize", {{"protocolVersion", 1}});
  const json& result = answer.at("result");
  EXPECT_EQ(result.at("protocolVersion"), 1);
  EXPECT_EQ(result.at("agentCapabilities").at("loadSession"), true);
  EXPECT_TRUE(result.at("agentCapabilities").at("sessionCapabilities").at("resume").is_object());
  EXPECT_EQ(result.at("agentInfo").at("name"), "acpd-demo-agent");
}

TEST_F(DemoAgentTest, Converses) {
  AgentProcess agent("acpd-demo-agent", env_);
  const std::string id = agent.Open();
  agent.Prompt(id, "what number did I say?");
  EXPECT_EQ(agent.Text(), "UNKNOWN");
  EXPECT_EQ(StopReason(agent.Prompt(id, "remember the number 42")), "end_turn");
  EXPECT_EQ(agent.Text(), "OK, I will remember 42.");
  agent.Prompt(id, "what number did I say?");
  EXPECT_EQ(agent.Text(), "42");
  agent.Prompt(id, "COUNT");
  EXPECT_EQ(agent.Text(), "4");
  agent.Prompt(id, "hello there");
  EXPECT_EQ(agent.Text(), "hello there");
}

TEST_F(DemoAgentTest, SessionsDoNotShareWhatWasSaid) {
  AgentProcess agent("acpd-demo-agent", env_);
  const std::string one = agent.Open(), other = agent.Open();
  EXPECT_NE(one, other);
  agent.Prompt(one, "remember the number 7");
  agent.Prompt(other, "what number did I say?");
  EXPECT_EQ(agent.Text(), "UNKNOWN");
}

TEST_F(DemoAgentTest, SlowSaysItsChunksAndEnds) {
  AgentProcess agent("acpd-demo-agent", env_);
  EXPECT_EQ(StopReason(agent.Prompt(agent.Open(), "SLOW 3 1")), "end_turn");
  EXPECT_EQ(agent.Text(), "chunk 1 chunk 2 chunk 3 ");
}

TEST_F(DemoAgentTest, CancelEndsASlowAnswerAndTheSessionGoesOn) {
  AgentProcess agent("acpd-demo-agent", env_);
  const std::string id = agent.Open();
  const int64_t prompt = agent.SendPrompt(id, "SLOW 100000 10000");
  EXPECT_EQ(agent.Read().at("method"), "session/update");
  agent.Cancel(id);
  EXPECT_EQ(StopReason(agent.ReadAnswer(prompt)), "cancelled");
  agent.Prompt(id, "COUNT");
  EXPECT_EQ(agent.Text(), "2");
}

TEST_F(DemoAgentTest, ASecondPromptIsRefusedWhileOneRuns) {
  AgentProcess agent("acpd-demo-agent", env_);
  const std::string id = agent.Open();
  const int64_t first = agent.SendPrompt(id, "SLOW 100000 10000");
  EXPECT_EQ(ErrorCode(agent.Prompt(id, "hello")), -32600);
  agent.Cancel(id);
  EXPECT_EQ(StopReason(agent.ReadAnswer(first)), "cancelled");
}

TEST_F(DemoAgentTest, AskShowsAPlanAndAToolCallAndSaysWhatWasChosen) {
  const json cancelled = {{"outcome", "cancelled"}};
  const json allowed = {{"outcome", "selected"}, {"optionId", "allow"}};
  const json rejected = {{"outcome", "selected"}, {"optionId", "reject"}};
  AgentProcess agent("acpd-demo-agent", env_);
  const std::string id = agent.Open();
  for (const auto& [outcome, chosen] :
       {std::pair(allowed, "Chosen: allow_once"), std::pair(rejected, "Chosen: reject_once"),
        std::pair(cancelled, "Chosen: cancelled")}) {
    const int64_t prompt = agent.SendPrompt(id, "ASK");
    EXPECT_EQ(agent.Read()["params"]["update"]["sessionUpdate"], "plan");
    EXPECT_EQ(agent.Read()["params"]["update"]["sessionUpdate"], "tool_call");
    const json request = agent.Read();
    ASSERT_EQ(request.at("method"), "session/request_permission");
    agent.Send({{"jsonrpc", "2.0"}, {"id", request["id"]}, {"result", {{"outcome", outcome}}}});
    EXPECT_EQ(StopReason(agent.ReadAnswer(prompt)), "end_turn");
    EXPECT_EQ(agent.Text(), chosen);
    EXPECT_THAT(agent.Kinds(), ElementsAre("tool_call_update", "plan", "agent_message_chunk"));
  }
}

TEST_F(DemoAgentTest, CancelEndsAnOpenAskAndALateAnswerIsHarmless) {
  AgentProcess agent("acpd-demo-agent", env_);
  const std::string id = agent.Open();
  const int64_t prompt = agent.SendPrompt(id, "ASK");
  json request = json::object();
  while (request.value("method", "") != "session/request_permission") request = agent.Read();
  agent.Cancel(id);
  EXPECT_EQ(StopReason(agent.ReadAnswer(prompt)), "cancelled");
  agent.Send({{"jsonrpc", "2.0"}, {"id", request["id"]}, {"result", json::object()}});
  agent.Prompt(id, "still there");
  EXPECT_EQ(agent.Text(), "still there");
}

TEST_F(DemoAgentTest, AnotherProcessTakesASessionUp) {
  std::string id;
  {
    AgentProcess agent("acpd-demo-agent", env_);
    id = agent.Open();
    agent.Prompt(id, "remember the number 42");
    agent.process().Signal(SIGKILL);  // what was answered was written before
    ASSERT_TRUE(agent.process().Wait());
  }
  for (const std::string method : {"session/resume", "session/load"}) {
    AgentProcess agent("acpd-demo-agent", env_);
    const json params = {{"sessionId", id}, {"cwd", "/"}, {"mcpServers", json::array()}};
    EXPECT_TRUE(agent.Call(method, params).contains("result"));
    const bool replayed = method == "session/load";
    EXPECT_EQ(agent.heard().empty(), !replayed);
    agent.Prompt(id, "what number did I say?");
    EXPECT_EQ(agent.Text(), "42");
  }
}

TEST_F(DemoAgentTest, LoadReplaysTheWholeConversation) {
  AgentProcess agent("acpd-demo-agent", env_);
  const std::string id = agent.Open();
  agent.Prompt(id, "one");
  agent.Prompt(id, "two");
  agent.Call("session/load", {{"sessionId", id}});
  EXPECT_THAT(agent.Kinds(), ElementsAre("user_message_chunk", "agent_message_chunk",
                                         "user_message_chunk", "agent_message_chunk"));
  EXPECT_EQ(agent.Text(), "onetwo");
}

TEST_F(DemoAgentTest, UnknownSessionsAreNotFound) {
  AgentProcess agent("acpd-demo-agent", env_);
  for (const char* method : {"session/resume", "session/load", "session/prompt"}) {
    const json answer = agent.Call(method, {{"sessionId", "../../etc/passwd"}});
    EXPECT_EQ(ErrorCode(answer), -32002) << method;
    EXPECT_EQ(answer["error"]["message"], "Resource not found");
  }
}

TEST_F(DemoAgentTest, CloseKeepsTheSessionAndDeleteForgetsIt) {
  AgentProcess agent("acpd-demo-agent", env_);
  const std::string id = agent.Open();
  const int64_t prompt = agent.SendPrompt(id, "SLOW 100000 10000");
  agent.Send({{"jsonrpc", "2.0"},
              {"id", "c"},
              {"method", "session/close"},
              {"params", {{"sessionId", id}}}});
  EXPECT_EQ(StopReason(agent.ReadAnswer(prompt)), "cancelled");
  EXPECT_EQ(agent.Read().at("id"), "c");
  EXPECT_EQ(ErrorCode(agent.Prompt(id, "hello")), -32002);
  EXPECT_TRUE(agent.Call("session/resume", {{"sessionId", id}}).contains("result"));
  EXPECT_TRUE(agent.Call("session/delete", {{"sessionId", id}}).contains("result"));
  EXPECT_EQ(ErrorCode(agent.Call("session/resume", {{"sessionId", id}})), -32002);
}

TEST_F(DemoAgentTest, AnswersWhatItDoesNotKnow) {
  AgentProcess agent("acpd-demo-agent", env_);
  EXPECT_EQ(ErrorCode(agent.Call("session/fork", json::object())), -32601);
  agent.Write("this is no JSON\n");
  EXPECT_EQ(ErrorCode(agent.Read()), -32700);
}

TEST_F(DemoAgentTest, LeavesAtTheEndOfItsInput) {
  AgentProcess agent("acpd-demo-agent", env_);
  agent.SendPrompt(agent.Open(), "SLOW 100000 10000");
  agent.CloseStdin();
  EXPECT_EQ(agent.process().Wait(), (e2e::ExitStatus{0, 0}));
}

TEST_F(FakesTest, BurstAgentWritesTheUpdatesItIsAskedFor) {
  AgentProcess agent("burst_agent", env_);
  const std::string id = agent.Open();
  for (const int count : {1, 1000, 2500}) {
    const json answer = agent.Prompt(id, "burst " + std::to_string(count) + " 64");
    EXPECT_EQ(StopReason(answer), "end_turn");
    ASSERT_EQ(agent.heard().size(), count);
    int64_t last = 0;
    for (const json& message : agent.heard()) {
      const std::string text = message["params"]["update"]["content"]["text"];
      EXPECT_EQ(text.size(), 64u);
      EXPECT_GE(std::stoll(text), last);
      last = std::stoll(text);
    }
  }
  EXPECT_TRUE(agent.Call("session/load", {{"sessionId", "any"}}).contains("result"));
  EXPECT_EQ(ErrorCode(agent.Call("session/close", json::object())), -32601);
}

}  // namespace
}  // namespace acpd::fakes
