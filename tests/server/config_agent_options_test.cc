#include "server/config_agent_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/config_reader.h"
#include "server/strings.h"

namespace acpd::server {
namespace {

using session::AgentDefinition;
using session::PermissionMode;
using session::PermissionRule;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

absl::Status ReadKeys(std::string_view keys, AgentDefinition* out) {
  DaemonConfig config;
  const absl::Status read =
      ReadConfig(Cat("{\"agent_servers\": {\"a\": {\"command\": \"c\", ", keys, "}}}"), &config);
  if (!config.agents.empty()) *out = config.agents[0];
  return read;
}

AgentDefinition AgentWith(std::string_view keys) {
  AgentDefinition agent;
  const absl::Status read = ReadKeys(keys, &agent);
  EXPECT_TRUE(read.ok()) << read;
  return agent;
}

std::string ErrorWith(std::string_view keys) {
  AgentDefinition agent;
  return Cat(ReadKeys(keys, &agent).message());
}

TEST(ConfigAgentOptionsTest, CapabilitiesAreOnUnlessTheyAreOff) {
  EXPECT_EQ(AgentWith("\"args\": []").capabilities, (session::AgentCapabilities{true, true, true}));
  EXPECT_EQ(AgentWith(R"("capabilities": {"terminal": false})").capabilities,
            (session::AgentCapabilities{true, false, true}));
  EXPECT_EQ(AgentWith(R"("capabilities": {"fs": false, "terminal": true, "elicitation": false})")
                .capabilities,
            (session::AgentCapabilities{false, true, false}));
  EXPECT_FALSE(AgentWith(R"("extends": "gemini")").capabilities.fs_read);
  EXPECT_TRUE(
      AgentWith(R"("extends": "gemini", "capabilities": {"fs_read": true})").capabilities.fs_read);
  EXPECT_THAT(ErrorWith("\"capabilities\": {\n\"terminals\": true}"),
              StartsWith("2: agent_servers.a.capabilities: unknown key \"terminals\"; the nearest "
                         "known key is \"terminal\""));
}

TEST(ConfigAgentOptionsTest, NewSessionsBeginWithThese) {
  setenv("ACPD_TEST_MODEL", "bi$g", 1);
  const AgentDefinition agent = AgentWith(R"("initial_mode": "plan",
    "config_options": {"model": "${env:ACPD_TEST_MODEL}", "fast": false})");
  EXPECT_EQ(agent.initial_mode, "plan");
  EXPECT_THAT(agent.config_options, ElementsAre(acp::OptionValue{"model", false, false, "bi$g"},
                                                acp::OptionValue{"fast", true, false, ""}));
  EXPECT_THAT(AgentWith("\"config_options\": {}").config_options, IsEmpty());
  EXPECT_THAT(ErrorWith("\"config_options\": {\n\"model\": 7}"),
              StartsWith("2: agent_servers.a.config_options.model: expected a string, true or "
                         "false, got the number 7"));
}

TEST(ConfigAgentOptionsTest, RulesKeepTheirOrder) {
  const AgentDefinition agent = AgentWith(R"("permission_rules": [
    {"tool_kind": "execute", "title": "rm *", "decision": "deny"},
    {"path": "/srv/*", "decision": "ask"},
    {"tool_kind": "switch_mode", "decision": "allow"}])");
  EXPECT_THAT(agent.permission_rules,
              ElementsAre(PermissionRule{"execute", "rm *", "", PermissionMode::kDeny},
                          PermissionRule{"", "", "/srv/*", PermissionMode::kAsk},
                          PermissionRule{"switch_mode", "", "", PermissionMode::kAllow}));
}

TEST(ConfigAgentOptionsTest, RulesSayWhatTheyLack) {
  EXPECT_THAT(ErrorWith("\"permission_rules\": [\n{\"decision\": \"allow\"}]"),
              StartsWith("2: agent_servers.a.permission_rules[0]: expected a condition"));
  EXPECT_THAT(ErrorWith("\"permission_rules\": [\n{\"title\": \"x\"}]"),
              StartsWith("2: agent_servers.a.permission_rules[0]: expected a \"decision\""));
  EXPECT_THAT(ErrorWith("\"permission_rules\": [\n{\"titel\": \"x\"}]"),
              StartsWith("2: agent_servers.a.permission_rules[0]: unknown key \"titel\"; the "
                         "nearest known key is \"title\""));
  EXPECT_THAT(
      ErrorWith("\"permission_rules\": [{\"tool_kind\":\n\"run\", \"decision\": \"allow\"}]"),
      StartsWith("2: agent_servers.a.permission_rules[0].tool_kind: expected one of \"read\""));
}

TEST(ConfigAgentOptionsTest, EveryKindOfToolIsKnown) {
  for (const char* kind : {"read", "edit", "delete", "move", "search", "execute", "think", "fetch",
                           "switch_mode", "other"}) {
    const AgentDefinition agent = AgentWith(
        Cat("\"permission_rules\": [{\"tool_kind\": \"", kind, "\", \"decision\": \"ask\"}]"));
    ASSERT_EQ(agent.permission_rules.size(), 1u);
    EXPECT_EQ(agent.permission_rules[0].tool_kind, kind);
  }
}

}  // namespace
}  // namespace acpd::server
