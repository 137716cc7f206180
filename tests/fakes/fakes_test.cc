// The fake agent over its pipes: its good behaviour and its scripts.

#include "tests/fakes/fakes_test_base.h"

namespace acpd::fakes {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// ---- the good agent

TEST_F(FakesTest, WithoutAScriptItTalksLikeTheDemoAgent) {
  AgentProcess agent("fake_agent", env_);
  const std::string id = agent.Open();
  agent.Prompt(id, "remember the number 5");
  EXPECT_EQ(StopReason(agent.Prompt(id, "what number did I say?")), "end_turn");
  EXPECT_EQ(agent.Text(), "5");
  agent.Prompt(id, "COUNT");
  EXPECT_EQ(agent.Text(), "3");
  agent.Prompt(id, "SLOW 2 1");
  EXPECT_EQ(agent.Text(), "chunk 1 chunk 2 ");
  const int64_t ask = agent.SendPrompt(id, "ASK");
  const json request = agent.Read();
  EXPECT_EQ(request.at("method"), "session/request_permission");
  agent.Send(Selected(request["id"], "reject"));
  agent.ReadAnswer(ask);
  EXPECT_EQ(agent.Text(), "Chosen: reject_once");
  agent.CloseStdin();
  EXPECT_EQ(agent.process().Wait(), (e2e::ExitStatus{0, 0}));
  EXPECT_EQ(log_.Events("exit").at(0).at("why"), "eof");
}

TEST_F(FakesTest, AnotherProcessResumesWhereStateIsKept) {
  KeepState();
  std::string id;
  {
    AgentProcess agent("fake_agent", env_);
    id = agent.Open();
    agent.Prompt(id, "remember the number 5");
  }
  AgentProcess agent("fake_agent", env_);
  EXPECT_EQ(ErrorCode(agent.Prompt(id, "COUNT")), -32002) << "it was not taken up yet";
  EXPECT_TRUE(agent.Call("session/resume", {{"sessionId", id}}).contains("result"));
  EXPECT_TRUE(agent.heard().empty());
  agent.Prompt(id, "what number did I say?");
  EXPECT_EQ(agent.Text(), "5");
  agent.Call("session/load", {{"sessionId", id}});
  EXPECT_THAT(agent.Kinds(), ElementsAre("user_message_chunk", "agent_message_chunk",
                                         "user_message_chunk", "agent_message_chunk"));
  EXPECT_EQ(ErrorCode(agent.Call("session/load", {{"sessionId", "no"}})), -32002);
}

TEST_F(FakesTest, WhatIsNotAdvertisedIsNotThere) {
  UseScript(
      {{"capabilities", {{"loadSession", false}, {"sessionCapabilities", {{"close", nullptr}}}}}});
  AgentProcess agent("fake_agent", env_);
  const json answer = agent.Call("initialize", json::object());
  EXPECT_EQ(answer["result"]["agentCapabilities"],
            json::parse(R"({"loadSession":false,"sessionCapabilities":{"resume":{}}})"));
  EXPECT_EQ(ErrorCode(agent.Call("session/load", {{"sessionId", "x"}})), -32601);
  EXPECT_EQ(ErrorCode(agent.Call("session/close", {{"sessionId", "x"}})), -32601);
  EXPECT_EQ(ErrorCode(agent.Call("session/resume", {{"sessionId", "x"}})), -32002);
}

TEST_F(FakesTest, MetaResumeIsHonouredOnlyIfTheScriptSaysSo) {
  KeepState();
  std::string id;
  {
    AgentProcess agent("fake_agent", env_);
    id = agent.Open();
    agent.Prompt(id, "remember the number 5");
    const json meta = {{"claudeCode", {{"options", {{"resume", id}}}}}};
    EXPECT_NE(agent.Call("session/new", {{"_meta", meta}})["result"]["sessionId"], id);
  }
  UseScript({{"meta_resume", true}});
  AgentProcess agent("fake_agent", env_);
  const auto resume = [&](const std::string& wanted) {
    const json meta = {{"claudeCode", {{"options", {{"resume", wanted}}}}}};
    return agent.Call("session/new", {{"_meta", meta}});
  };
  EXPECT_EQ(resume(id)["result"]["sessionId"], id);
  agent.Prompt(id, "what number did I say?");
  EXPECT_EQ(agent.Text(), "5");
  EXPECT_EQ(ErrorCode(resume("unknown")), -32002);
}

TEST_F(FakesTest, ALoginMayBeRequired) {
  UseScript({{"require_auth", true}, {"auth_methods", {{{"id", "key"}, {"name", "Key"}}}}});
  AgentProcess agent("fake_agent", env_);
  EXPECT_EQ(ErrorCode(agent.Call("session/new", json::object())), -32000);
  EXPECT_EQ(ErrorCode(agent.Call("authenticate", {{"methodId", "no"}})), -32602);
  EXPECT_TRUE(agent.Call("authenticate", {{"methodId", "key"}}).contains("result"));
  EXPECT_TRUE(agent.Call("session/new", json::object()).contains("result"));
}

// ---- scripts

TEST_F(FakesTest, StepsComeBeforeTheDefaultAnswerOrReplaceIt) {
  UseScript({{"session/new", {{{"update", "early"}}}},
             {"session/load", json::array({{{"error", {-32601, "nope", "data"}}}})},
             {"initialize", {"reply", {{"update", "late"}}}}});
  AgentProcess agent("fake_agent", env_);
  EXPECT_TRUE(agent.Call("initialize", json::object())["result"].contains("protocolVersion"));
  EXPECT_EQ(agent.Read()["params"]["update"]["content"]["text"], "late");
  const json created = agent.Call("session/new", json::object());
  EXPECT_EQ(agent.Text(), "early");
  EXPECT_EQ(agent.heard()[0]["params"]["sessionId"], created["result"]["sessionId"]);
  EXPECT_EQ(agent.Call("session/load", json::object())["error"],
            json::parse(R"({"code":-32601,"message":"nope","data":"data"})"));
}

TEST_F(FakesTest, AScriptMayDifferPerCallAlsoAcrossProcesses) {
  KeepState();
  UseScript({{"session/resume",
              {{{{"error", {-1, "first"}}}}, {{{"error", {-2, "second"}}}}, json::array()}}});
  for (const json& code : {json(-1), json(-2), json(-32002), json(-32002)}) {
    AgentProcess agent("fake_agent", env_);
    EXPECT_EQ(ErrorCode(agent.Call("session/resume", {{"sessionId", "x"}})), code);
  }
}

TEST_F(FakesTest, AScriptedSuccessOpensTheSession) {
  UseScript({{"session/load", {{{"replay", 2}}, {{"reply", nullptr}}, {{"replay", 1}}}}});
  AgentProcess agent("fake_agent", env_);
  const json answer = agent.Call("session/load", {{"sessionId", "old"}});
  EXPECT_TRUE(answer.contains("result") && answer["result"].is_null()) << answer;
  EXPECT_EQ(agent.Text(), "replayed 1replayed 2");
  agent.Prompt("old", "hello");
  EXPECT_EQ(agent.Text(), "replayed 1hello") << "the straggler came behind the answer";
}

TEST_F(FakesTest, AMistakeInAScriptEndsTheProcess) {
  for (const json& script :
       {json{{"no_such_setting", 1}}, json{{"session/new", {{{"no_verb", 1}}}}},
        json{{"session/new", "reply"}}, json::array()}) {
    UseScript(script);
    AgentProcess agent("fake_agent", env_, dir_ / "stderr");
    EXPECT_EQ(agent.process().Wait(), (e2e::ExitStatus{64, 0})) << script;
  }
  EXPECT_THAT(e2e::ReadFile(dir_ / "stderr"), HasSubstr("no verb \"no_verb\""));
}

TEST_F(FakesTest, AScriptMayStandInAFile) {
  env_["FAKE_AGENT_SCRIPT"] = dir_ / "script.json";
  e2e::WriteFile(dir_ / "script.json",
                 R"({"session/new": [{"error": {"code": 7, "message": "m"}}]})");
  AgentProcess agent("fake_agent", env_);
  EXPECT_EQ(ErrorCode(agent.Call("session/new", json::object())), 7);
}

}  // namespace
}  // namespace acpd::fakes
