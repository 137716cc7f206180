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
using testing::Pair;
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

TEST(ConfigAgentOptionsTest, LoginsByVariableKeepTheirOrder) {
  setenv("ACPD_TEST_METHOD", "api-key", 1);
  const AgentDefinition agent = AgentWith(R"("auth_by_variable": [
    {"variable": "KEY_B", "method": "b"},
    {"method": "${env:ACPD_TEST_METHOD}", "variable": "KEY_A"},
    {"variable": "KEY_B", "method": "api-key"}])");
  EXPECT_THAT(agent.auth_by_variable,
              ElementsAre(Pair("KEY_B", "b"), Pair("KEY_A", "api-key"), Pair("KEY_B", "api-key")));
  EXPECT_THAT(AgentWith("\"args\": []").auth_by_variable, IsEmpty());
}

// Whoever configures an agent under another name has what the built-in one has, or his own.
TEST(ConfigAgentOptionsTest, LoginsByVariableStandInPlaceOfTheBuiltIns) {
  EXPECT_THAT(AgentWith(R"("extends": "gemini")").auth_by_variable,
              ElementsAre(Pair("GEMINI_API_KEY", "gemini-api-key")));
  EXPECT_THAT(
      AgentWith(R"("extends": "gemini", "auth_by_variable": [{"variable": "K", "method": "m"}])")
          .auth_by_variable,
      ElementsAre(Pair("K", "m")));
  EXPECT_THAT(AgentWith(R"("extends": "codex-acp", "auth_by_variable": [])").auth_by_variable,
              IsEmpty());
}

TEST(ConfigAgentOptionsTest, LoginsByVariableSayWhatTheyLack) {
  const struct {
    std::string value, error;
  } rows[] = {
      {"\n{\"KEY\": \"m\"}",
       "2: agent_servers.a.auth_by_variable: expected a list of logins, [ { \"variable\": "
       "\"NAME\", \"method\": \"ID\" } ], got an object"},
      {"[\n\"KEY\"]", "2: agent_servers.a.auth_by_variable[0]: expected an object"},
      {"[\n{\"method\": \"m\"}]",
       "2: agent_servers.a.auth_by_variable[0]: expected a \"variable\": the environment variable"},
      {"[\n{\"variable\": \"K\"}]",
       "2: agent_servers.a.auth_by_variable[0]: expected a \"method\": the agent's own id"},
      {"[{\"variable\": \"K\", \"method\": \"m\"}, {\"variable\":\n\"K=\", \"method\": \"m\"}]",
       "2: agent_servers.a.auth_by_variable[1].variable: expected the name of an environment "
       "variable, got the string \"K=\""},
      {"[{\"variable\":\n\"\", \"method\": \"m\"}]",
       "2: agent_servers.a.auth_by_variable[0].variable: expected a string that is not empty"},
      {"[{\"variable\": \"K\", \"method\":\n7}]",
       "2: agent_servers.a.auth_by_variable[0].method: expected a string"},
      {"[{\"variable\": \"K\",\n\"methode\": \"m\"}]",
       "2: agent_servers.a.auth_by_variable[0]: unknown key \"methode\"; the nearest known key is "
       "\"method\""},
      {"[{\"variable\": \"K\", \"method\": \"m\"},\n{\"method\": \"m\", \"variable\": \"K\"}]",
       "2: agent_servers.a.auth_by_variable[1]: expected each login once; \"m\" by K stands before "
       "it already"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(ErrorWith(Cat("\"auth_by_variable\": ", row.value)), StartsWith(row.error));
  }
}

TEST(ConfigAgentOptionsTest, LoadsInALaterMinuteWhereTheConfigOrTheBuiltInSaysSo) {
  EXPECT_FALSE(AgentWith("\"args\": []").loads_in_later_minute);
  EXPECT_TRUE(AgentWith("\"loads_in_later_minute\": true").loads_in_later_minute);
  EXPECT_TRUE(AgentWith(R"("extends": "gemini")").loads_in_later_minute);
  EXPECT_FALSE(
      AgentWith(R"("extends": "gemini", "loads_in_later_minute": false)").loads_in_later_minute);
  EXPECT_THAT(ErrorWith("\"loads_in_later_minute\":\n\"60s\""),
              StartsWith("2: agent_servers.a.loads_in_later_minute: expected true or false, got "
                         "the string \"60s\""));
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
