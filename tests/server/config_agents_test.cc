#include "server/config_agents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "server/config_reader.h"
#include "server/strings.h"
#include "session/builtin_agents.h"

namespace acpd::server {
namespace {

using session::AgentDefinition;
using session::ResumeMethod;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

absl::Status ReadAgent(std::string_view agent, AgentDefinition* out) {
  DaemonConfig config;
  const absl::Status read = ReadConfig(Cat("{\"agent_servers\": {\"a\": ", agent, "}}"), &config);
  if (!config.agents.empty()) *out = config.agents[0];
  return read;
}

AgentDefinition Agent(std::string_view text) {
  AgentDefinition agent;
  const absl::Status read = ReadAgent(text, &agent);
  EXPECT_TRUE(read.ok()) << read;
  return agent;
}

std::string AgentErrorOf(std::string_view text) {
  AgentDefinition agent;
  return Cat(ReadAgent(text, &agent).message());
}

std::optional<std::string> EnvOf(const AgentDefinition& agent, std::string_view name) {
  for (const auto& [key, value] : agent.env) {
    if (key == name) return value;
  }
  return std::nullopt;
}

TEST(ConfigAgentsTest, AnEditorsBlockCanBePasted) {
  const AgentDefinition agent = Agent(R"({"command": "claude-agent-acp", "args": [], "env": {}})");
  EXPECT_EQ(agent.name, "a");
  EXPECT_EQ(agent.builtin, "claude-agent-acp");
  EXPECT_EQ(agent.resume.front(), ResumeMethod::kMeta);
  EXPECT_THAT(agent.args, IsEmpty());
}

TEST(ConfigAgentsTest, ACommandThatNobodyKnowsHasTheDefaults) {
  const AgentDefinition agent = Agent(R"({"command": "/opt/mine"})");
  EXPECT_EQ(agent.builtin, "");
  EXPECT_EQ(agent.resume, session::DefaultResumeOrder());
  EXPECT_EQ(agent.permission_mode, session::PermissionMode::kAsk);
  EXPECT_EQ(agent.start_timeout, std::chrono::seconds(60));
}

TEST(ConfigAgentsTest, NpxIsKnownByItsPackage) {
  EXPECT_EQ(
      Agent(R"({"command": "npx", "args": ["-y", "@zed-industries/codex-acp@0.16.0"]})").builtin,
      "codex-acp");
}

TEST(ConfigAgentsTest, ACommandAloneTakesNoArgsOfTheBuiltin) {
  EXPECT_THAT(Agent(R"({"command": "gemini"})").args, IsEmpty());
  EXPECT_THAT(Agent(R"({"command": "gemini", "args": ["--acp", "-d"]})").args,
              ElementsAre("--acp", "-d"));
}

TEST(ConfigAgentsTest, ExtendsTakesAllOfTheBuiltinAndOwnKeysGoFirst) {
  EXPECT_THAT(Agent(R"({"extends": "gemini"})").args, ElementsAre("--acp"));
  const AgentDefinition agent =
      Agent(R"({"command": "/opt/g", "extends": "gemini", "resume": ["session/resume"]})");
  EXPECT_EQ(agent.command, "/opt/g");
  EXPECT_THAT(agent.args, ElementsAre("--acp"));
  EXPECT_THAT(agent.resume, ElementsAre(ResumeMethod::kSessionResume));
  EXPECT_EQ(agent.builtin, "gemini");
}

TEST(ConfigAgentsTest, WithoutCommandAndExtendsItIsRefused) {
  EXPECT_THAT(AgentErrorOf("{}"),
              AllOf(StartsWith("1: agent_servers.a: expected \"command\", or \"extends\""),
                    HasSubstr("gemini")));
  EXPECT_THAT(AgentErrorOf("[]"), StartsWith("1: agent_servers.a: expected an object"));
}

TEST(ConfigAgentsTest, EnvIsAddedToTheBuiltins) {
  setenv("ACPD_TEST_KEY", "a$b", 1);
  unsetenv("ACPD_TEST_MISSING");
  const AgentDefinition agent = Agent(R"({"extends": "claude-agent-acp", "env": {
    "ANTHROPIC_API_KEY": "${env:ACPD_TEST_KEY}", "EMPTY": "", "GONE": "${env:ACPD_TEST_MISSING}",
    "NOFILE": "${file:/nonexistent/file}", "CWD": "${cwd}/$$x"}})");
  EXPECT_EQ(EnvOf(agent, "ANTHROPIC_API_KEY"),
            "a$$b");  // its dollar is one for session/launch.h too
  EXPECT_EQ(EnvOf(agent, "ANTHROPIC_BASE_URL"), "${model.base_url}");
  EXPECT_EQ(EnvOf(agent, "EMPTY"), "");
  EXPECT_EQ(EnvOf(agent, "GONE"), std::nullopt);
  EXPECT_EQ(EnvOf(agent, "NOFILE"), std::nullopt);
  EXPECT_EQ(EnvOf(agent, "CWD"), "${cwd}/$$x");
}

TEST(ConfigAgentsTest, TemplatesAreChecked) {
  EXPECT_THAT(AgentErrorOf("{\"command\": \"x\",\n\"args\": [\"${modell.api_key}\"]}"),
              StartsWith("2: agent_servers.a.args[0]: "));
  EXPECT_THAT(AgentErrorOf("{\"command\":\n\"${nope}\"}"),
              StartsWith("2: agent_servers.a.command: "));
  EXPECT_THAT(AgentErrorOf("{\"command\": \"x\", \"env\": {\"A\":\n\"${cwd\"}}"),
              StartsWith("2: agent_servers.a.env.A: "));
  EXPECT_THAT(AgentErrorOf("{\"command\": \"${env:ACPD_TEST_MISSING}\"}"),
              HasSubstr("ACPD_TEST_MISSING is not set"));
}

TEST(ConfigAgentsTest, NamesAreChecked) {
  for (const char* name : {"a", "A1", "claude-agent_acp.2"}) {
    DaemonConfig config;
    EXPECT_TRUE(
        ReadConfig(Cat("{\"agent_servers\": {\"", name, "\": {\"command\": \"x\"}}}"), &config)
            .ok())
        << name;
  }
  for (const char* name : {"", ".a", "-a", "a b", "a/b", "\xc3\xa4"}) {
    DaemonConfig config;
    const absl::Status read =
        ReadConfig(Cat("{\"agent_servers\": {\n\"", name, "\": {\"command\": \"x\"}}}"), &config);
    EXPECT_THAT(Cat(read.message()), StartsWith("2: agent_servers: expected an agent name"))
        << name;
  }
}

}  // namespace
}  // namespace acpd::server
