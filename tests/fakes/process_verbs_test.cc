// The fake agent's verbs about processes: stderr, children, signals, ends, and the log of its
// start.

#include <signal.h>
#include <unistd.h>

#include "tests/fakes/fakes_test_base.h"

namespace acpd::fakes {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// The child that a fork step left, by the log.
int ChildOf(const e2e::FakeAgentLog& log) { return log.Events("fork").at(0).at("child"); }

TEST_F(FakesTest, LogsItsStart) {
  env_["SOME_NAME"] = "secret";
  AgentProcess agent("fake_agent", env_);
  agent.Open();
  const json start = log_.Events("start").at(0);
  EXPECT_EQ(start.at("pid"), agent.process().pid());
  EXPECT_THAT(start.at("argv").at(0).get<std::string>(), HasSubstr("fake_agent"));
  EXPECT_THAT(start.at("env").get<std::vector<std::string>>(), Contains("SOME_NAME"));
  EXPECT_THAT(start.dump(), Not(HasSubstr("secret")));
  EXPECT_EQ(start.at("fds").size(), 3u) << start.at("fds");
  EXPECT_TRUE(start.at("fds").contains("0"));
  EXPECT_EQ(log_.Received().size(), 2u);
  EXPECT_EQ(log_.Received("session/new").size(), 1u);
}

TEST_F(FakesTest, WritesToStderrBeforeItReads) {
  UseScript(
      {{"start", {{{"stderr", 262144}}, {{"stderr", "last words\n"}}, {{"raw", "banner\n"}}}}});
  AgentProcess agent("fake_agent", env_, dir_ / "stderr");
  EXPECT_EQ(agent.ReadLine(), "banner");
  const std::string text = e2e::ReadFile(dir_ / "stderr");
  EXPECT_EQ(text.size(), 262144 + 11u);
  EXPECT_TRUE(text.ends_with("last words\n"));
  agent.Open();
}

TEST_F(FakesTest, Exits) {
  AgentProcess agent("fake_agent", env_);
  agent.SendPrompt(agent.Open(),
                   Scripted({{{"update", "bye"}}, {{"log", "going"}}, {{"exit", 3}}}));
  EXPECT_EQ(agent.process().Wait(), (e2e::ExitStatus{3, 0}));
  EXPECT_EQ(log_.Events("exit").at(0).at("code"), 3);
  EXPECT_EQ(log_.Events("note").at(0).at("text"), "going");
  EXPECT_EQ(agent.Read()["params"]["update"]["content"]["text"], "bye");
  EXPECT_EQ(agent.ReadLine(), std::nullopt);
}

TEST_F(FakesTest, Crashes) {
  for (const auto& [how, number] : {std::pair<json, int>("SEGV", SIGSEGV),
                                    {"ABRT", SIGABRT},
                                    {"KILL", SIGKILL},
                                    {SIGTERM, SIGTERM}}) {
    AgentProcess agent("fake_agent", env_);
    agent.SendPrompt(agent.Open(), Scripted({{{"crash", how}}}));
    EXPECT_EQ(agent.process().Wait(), (e2e::ExitStatus{-1, number}));
  }
}

TEST_F(FakesTest, IgnoresTheEndOfItsInputAndSigterm) {
  UseScript({{"start", {{{"ignore", "EOF"}}, {{"ignore", "TERM"}}}}});
  AgentProcess agent("fake_agent", env_);
  const std::string id = agent.Open();
  const int64_t prompt =
      agent.SendPrompt(id, Scripted({{{"barrier", "b"}}, {{"update", "alive"}}}));
  ASSERT_TRUE(barriers_.WaitReached("b"));
  agent.CloseStdin();
  agent.process().Signal(SIGTERM);
  ASSERT_TRUE(log_.WaitFor([](const json& entry) { return entry.at("event") == "eof"; }));
  barriers_.Release("b");
  EXPECT_EQ(StopReason(agent.ReadAnswer(prompt)), "end_turn");
  EXPECT_EQ(agent.Text(), "alive");
  EXPECT_TRUE(e2e::IsAlive(agent.process().pid()));
  agent.process().Signal(SIGKILL);
  EXPECT_EQ(agent.process().Wait(), (e2e::ExitStatus{-1, SIGKILL}));
}

TEST_F(FakesTest, AClosedStdoutIsAnEndAlthoughTheProcessLives) {
  AgentProcess agent("fake_agent", env_);
  agent.SendPrompt(agent.Open(),
                   Scripted({{{"update", "last"}}, "close_stdout", {{"update", "unheard"}}}));
  EXPECT_EQ(agent.Read()["params"]["update"]["content"]["text"], "last");
  EXPECT_EQ(agent.ReadLine(), std::nullopt);
  EXPECT_TRUE(e2e::IsAlive(agent.process().pid()));
}

TEST_F(FakesTest, AClosedStdinIsNotReadAnyMore) {
  AgentProcess agent("fake_agent", env_);
  const std::string id = agent.Open();
  EXPECT_EQ(StopReason(agent.Prompt(id, Scripted({"close_stdin"}))), "end_turn");
  agent.CloseStdin();
  EXPECT_TRUE(e2e::IsAlive(agent.process().pid()));
  agent.process().Signal(SIGTERM);
  EXPECT_EQ(agent.process().Wait(), (e2e::ExitStatus{-1, SIGTERM}));
}

TEST_F(FakesTest, AForkedChildHoldsTheStdoutAndOutlivesItsParent) {
  AgentProcess agent("fake_agent", env_);
  const json fork = {{"hold", "stdout"}, {"ignore", "TERM"}, {"setsid", true}};
  agent.SendPrompt(agent.Open(), Scripted({{{"fork", fork}}, {{"exit", 0}}}));
  ASSERT_EQ(agent.process().Wait(), (e2e::ExitStatus{0, 0}));
  const int child = ChildOf(log_);
  EXPECT_TRUE(e2e::IsAlive(child));
  EXPECT_EQ(::getsid(child), child);
  ::kill(child, SIGTERM);
  EXPECT_THAT(leftovers_.Processes(), Contains(HasSubstr(std::to_string(child))));
  EXPECT_TRUE(e2e::IsAlive(child));
  ::kill(child, SIGKILL);
  EXPECT_EQ(agent.ReadLine(), std::nullopt) << "its end is the end of the output";
}

TEST_F(FakesTest, APlainForkedChildHoldsNothing) {
  AgentProcess agent("fake_agent", env_);
  agent.SendPrompt(agent.Open(), Scripted({{{"fork", json::object()}}, {{"exit", 0}}}));
  EXPECT_EQ(agent.ReadLine(), std::nullopt);
  const int child = ChildOf(log_);
  EXPECT_TRUE(e2e::IsAlive(child));
  ::kill(child, SIGTERM);
  EXPECT_THAT(leftovers_.WaitForNone(), IsEmpty());
}

}  // namespace
}  // namespace acpd::fakes
