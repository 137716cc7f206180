#include "server/config_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "server/config_reader.h"
#include "server/strings.h"

namespace acpd::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// A row for every key: a value that is good, one of a wrong type, and (where there are bounds) the
// last good and the first bad value at each end. `expects` is what the messages have to say.
struct Row {
  // "" (top), "limits", "retention", "shutdown", "log", "agent" or "capabilities"
  std::string group;
  std::string key, good, wrong_type, expects;
  std::vector<std::string> at_bounds, over_bounds;
};

// An object with this many config options.
std::string ConfigOptionsOf(int count) {
  std::vector<std::string> members;
  for (int i = 0; i < count; ++i) members.push_back(Cat("\"o", i, "\": true"));
  return Cat("{", JoinStrings(members, ", "), "}");
}

const std::vector<Row>& Rows() {
  static const auto& rows = *new std::vector<Row>{
      {"", "listen", R"(["127.0.0.1:0"])", "\"127.0.0.1:0\"", "a list of strings", {}, {"[]"}},
      {"", "allow_insecure", "true", "\"true\"", "true or false", {}, {}},
      {"", "state_dir", "\"/s\"", "7", "a string", {}, {"\"relative\"", "\"\""}},
      {"", "runtime_dir", "\"/r\"", "null", "a string", {}, {"\"relative\""}},
      {"", "projects_root", "\"/p\"", "[]", "a string", {}, {"\"relative\""}},
      {"", "allowed_roots", "[\"/a\", \"/b\"]", "\"/a\"", "a list of strings", {"[]"}, {"[\"a\"]"}},
      {"", "default_agent", "\"demo\"", "1", "a string", {}, {"\"other\""}},
      {"",
       "agent_servers",
       R"({"demo": {"extends": "demo"}})",
       "[]",
       "at least one agent",
       {},
       {"{}"}},
      {"",
       "secrets",
       R"({"a": "b"})",
       "[\"a\"]",
       "names and values",
       {"{}"},
       {R"({"a": 1})", R"({"": "b"})"}},
      {"", "adopt_unknown_sessions", "false", "0", "true or false", {}, {}},
      {"", "store_mcp_secrets", "false", "\"no\"", "true or false", {"true"}, {}},
      {"", "limits", "{}", "[]", "an object", {}, {}},
      {"", "retention", "{}", "\"720h\"", "an object", {}, {}},
      {"", "shutdown", "{}", "true", "an object", {}, {}},
      {"", "log", "{}", "\"info\"", "an object", {}, {}},
      {"shutdown",
       "timeout",
       "\"30s\"",
       "30",
       "a duration such as",
       {"\"100ms\"", "\"1h\""},
       {"\"99ms\"", "\"3601s\""}},
      {"shutdown",
       "workers",
       "\"keep\"",
       "true",
       "one of \"keep\", \"stop\"",
       {"\"stop\""},
       {"\"Stop\""}},
      {"log", "level", "\"debug\"", "3", "one of \"debug\"", {"\"error\""}, {"\"trace\""}},
      {"limits", "max_workers", "8", "\"8\"", "a whole number", {"1", "10000"}, {"0", "10001"}},
      {"limits",
       "max_workers_per_project",
       "4",
       "true",
       "a whole number",
       {"0", "10000"},
       {"10001", "-1"}},
      {"limits",
       "worker_wait",
       "\"10m\"",
       "600",
       "a duration such as",
       {"\"10ms\"", "\"24h\""},
       {"\"9ms\"", "\"25h\""}},
      {"limits",
       "start_backoff",
       "\"1s\"",
       "1",
       "a duration such as",
       {"\"0s\"", "\"1h\""},
       {"\"61m\""}},
      {"limits",
       "start_backoff_max",
       "\"60s\"",
       "\"60\"",
       "a duration such as",
       {"\"0s\"", "\"1h\""},
       {"\"61m\""}},
      {"limits",
       "max_queued_turns",
       "32",
       "\"32\"",
       "a whole number",
       {"1", "100000"},
       {"0", "100001", "-1", "1.5"}},
      {"limits",
       "max_queued_total",
       "9",
       "{}",
       "a whole number",
       {"1", "1000000"},
       {"0", "1000001"}},
      {"limits",
       "max_queued_bytes",
       "\"1MiB\"",
       "true",
       "a size such as",
       {"1024", "\"64GiB\""},
       {"1023", "68719476737"}},
      {"limits",
       "max_line",
       "\"64KiB\"",
       "\"64KB\"",
       "a size such as",
       {"\"1KiB\"", "\"256MiB\""},
       {"1023", "\"257MiB\""}},
      {"limits", "max_depth", "128", "\"128\"", "a whole number", {"8", "1024"}, {"7", "1025"}},
      {"limits",
       "max_message_in",
       "4194304",
       "[]",
       "a size such as",
       {"\"4KiB\"", "\"1GiB\""},
       {"4095", "1073741825"}},
      {"limits",
       "orphan_timeout",
       "\"1h\"",
       "3600",
       "a duration such as",
       {"\"1s\"", "\"720h\""},
       {"\"999ms\"", "\"721h\""}},
      {"limits",
       "request_id_ttl",
       "\"24h\"",
       "null",
       "a duration such as",
       {"\"1s\"", "\"8760h\""},
       {"\"999ms\"", "\"8761h\""}},
      {"limits",
       "transcript_bytes",
       "\"64KiB\"",
       "true",
       "a size such as",
       {"\"1KiB\"", "\"8MiB\""},
       {"1023", "8388609"}},
      {"limits",
       "max_file_read",
       "\"8MiB\"",
       "\"8 MiB\"",
       "a size such as",
       {"\"1KiB\"", "\"64MiB\""},
       {"1023", "67108865"}},
      {"limits",
       "max_file_write",
       "\"16MiB\"",
       "[]",
       "a size such as",
       {"\"1KiB\"", "\"64MiB\""},
       {"1023", "67108865"}},
      {"limits", "max_terminals", "32", "\"32\"", "a whole number", {"1", "64"}, {"0", "65"}},
      {"limits",
       "max_terminal_output",
       "\"1MiB\"",
       "null",
       "a size such as",
       {"\"1KiB\"", "\"4MiB\""},
       {"1023", "4194305"}},
      {"retention",
       "max_age",
       "\"720h\"",
       "30",
       "a duration such as",
       {"\"1m\"", "\"87600h\""},
       {"\"59s\"", "\"87601h\""}},
      {"retention",
       "max_session_bytes",
       "\"1GiB\"",
       "true",
       "a size such as",
       {"\"64KiB\"", "\"1024GiB\""},
       {"65535", "\"1025GiB\""}},
      {"retention",
       "max_total_bytes",
       "\"20GiB\"",
       "{}",
       "a size such as",
       {"\"1MiB\"", "\"1024GiB\""},
       {"1048575", "\"1025GiB\""}},
      {"agent", "command", "\"c\"", "[\"c\"]", "a string", {}, {"\"\""}},
      {"agent", "args", "[\"a\", \"\"]", "\"a\"", "a list of strings", {"[]"}, {"[1]"}},
      {"agent",
       "env",
       R"({"A": "b"})",
       "[\"A=b\"]",
       "variables and their values",
       {R"({"A": ""})"},
       {R"({"A": 1})", R"({"A=": "b"})"}},
      {"agent",
       "inherit_env",
       "[\"A\", \"B*\"]",
       "\"A\"",
       "a list of strings",
       {"[]"},
       {"[\"A=b\"]", "[\"\"]"}},
      {"agent", "extends", "\"gemini\"", "{}", "a built-in agent", {}, {"\"gemini-3\""}},
      {"agent", "projects_root", "\"/p\"", "1", "a string", {}, {"\"p\""}},
      {"agent",
       "resume",
       R"(["meta", "session/load"])",
       "\"meta\"",
       "a list of \"meta\"",
       {},
       {"[]", "[\"load\"]", R"(["meta", "meta"])"}},
      {"agent",
       "resume_missing_patterns",
       "[\"gone\"]",
       "\"gone\"",
       "a list of strings",
       {"[]"},
       {"[\"\"]"}},
      {"agent", "loads_in_later_minute", "true", "60", "true or false", {"false"}, {}},
      {"agent", "auth_method", "\"key\"", "[]", "a string", {}, {"\"\""}},
      {"agent",
       "auth_by_variable",
       R"([{"variable": "A", "method": "key"}])",
       R"({"A": "key"})",
       "a list of logins",
       {"[]"},
       {R"([{"variable": "A"}])", R"([{"method": "key"}])",
        R"([{"variable": "A=b", "method": "key"}])", R"([{"variable": "", "method": "key"}])",
        R"([{"variable": "A", "method": ""}])", R"([{"variable": "A", "method": true}])",
        R"([{"variable": "A", "method": "key"}, {"variable": "A", "method": "key"}])", R"(["A"])"}},
      {"agent",
       "permission_mode",
       "\"deny\"",
       "true",
       "one of \"ask\", \"allow\", \"deny\"",
       {"\"ask\"", "\"allow\""},
       {"\"Ask\""}},
      {"agent",
       "permission_rules",
       R"([{"tool_kind": "read", "decision": "allow"}])",
       "{}",
       "a list of rules",
       {"[]"},
       {R"([{"tool_kind": "read"}])", R"([{"decision": "allow"}])",
        R"([{"tool_kind": "look", "decision": "allow"}])",
        R"([{"title": "", "decision": "allow"}])", R"([{"path": "/x", "decision": "maybe"}])",
        R"(["allow"])"}},
      {"agent", "capabilities", "{}", "[\"fs\"]", "an object", {}, {}},
      {"capabilities", "fs", "false", "\"off\"", "true or false", {"true"}, {}},
      {"capabilities", "fs_read", "false", "1", "true or false", {"true"}, {}},
      {"capabilities", "terminal", "false", "0", "true or false", {"true"}, {}},
      {"capabilities", "elicitation", "false", "{}", "true or false", {"true"}, {}},
      {"agent", "initial_mode", "\"plan\"", "true", "a string", {}, {"\"\""}},
      {"agent",
       "config_options",
       R"({"model": "big", "fast": true})",
       "[]",
       "options and their values",
       {"{}", ConfigOptionsOf(63), ConfigOptionsOf(64)},
       {ConfigOptionsOf(65), R"({"a": 1})", R"({"": "x"})", R"({"a": ""})"}},
      {"agent",
       "start_timeout",
       "\"60s\"",
       "60",
       "a duration such as",
       {"\"10ms\"", "\"1h\""},
       {"\"9ms\"", "\"61m\""}},
      {"agent",
       "session_setup_timeout",
       "\"2m\"",
       "{}",
       "a duration such as",
       {"\"10ms\"", "\"1h\""},
       {"\"9ms\"", "\"61m\""}},
      {"agent",
       "turn_timeout",
       "\"1h\"",
       "0",
       "a duration such as",
       {"\"0s\"", "\"720h\""},
       {"\"721h\""}},
      {"agent",
       "turn_silence",
       "\"5m\"",
       "5",
       "a duration such as",
       {"\"0s\"", "\"720h\""},
       {"\"721h\""}},
      {"agent",
       "turn_stall",
       "\"5m\"",
       "5",
       "a duration such as",
       {"\"0s\"", "\"720h\""},
       {"\"721h\""}},
      {"agent",
       "tool_silence",
       "\"5m\"",
       "5",
       "a duration such as",
       {"\"0s\"", "\"720h\""},
       {"\"721h\""}},
      {"agent",
       "cancel_grace",
       "\"30s\"",
       "\"30\"",
       "a duration such as",
       {"\"0ms\"", "\"1h\""},
       {"\"61m\""}},
      {"agent",
       "stop_grace",
       "\"5s\"",
       "\"5 s\"",
       "a duration such as",
       {"\"10ms\"", "\"10m\""},
       {"\"9ms\"", "\"11m\""}},
      {"agent",
       "question_timeout",
       "\"5m\"",
       "\"-5m\"",
       "a duration such as",
       {"\"10ms\"", "\"720h\""},
       {"\"0s\"", "\"721h\""}},
      {"agent",
       "idle_timeout",
       "\"15m\"",
       "\"15min\"",
       "a duration such as",
       {"\"10ms\"", "\"720h\""},
       {"\"9ms\"", "\"721h\""}},
  };
  return rows;
}

// A config with the key on line 3, and nothing else that could be wrong.
std::string Text(const Row& row, const std::string& value) {
  const std::string entry = Cat("\n\n\"", row.key, "\": ", value);
  if (row.group == "agent") {
    const std::string rest =
        row.key == "command" || row.key == "extends" ? "" : ", \"command\": \"c\"";
    return Cat("{\"agent_servers\": {\"x\": {", entry, rest, "}}}");
  }
  if (row.group == "capabilities") {
    return Cat("{\"agent_servers\": {\"x\": {\"command\": \"c\", \"capabilities\": {", entry,
               "}}}}");
  }
  if (!row.group.empty()) return Cat("{\"", row.group, "\": {", entry, "}}");
  const std::string agents = R"(, "agent_servers": {"demo": {"extends": "demo"}})";
  return Cat("{", entry, row.key == "agent_servers" ? "" : agents, "}");
}

std::string Path(const Row& row) {
  if (row.group.empty()) return row.key;
  if (row.group == "agent") return Cat("agent_servers.x.", row.key);
  if (row.group == "capabilities") return Cat("agent_servers.x.capabilities.", row.key);
  return Cat(row.group, ".", row.key);
}

std::string ErrorOf(const Row& row, const std::string& value) {
  DaemonConfig config;
  return Cat(ReadConfig(Text(row, value), &config).message());
}

TEST(ConfigKeysTest, EveryKeyHasARowHere) {
  std::set<std::string> tested, known;
  for (const Row& row : Rows()) tested.insert(Cat(row.group, "/", row.key));
  const auto add = [&known](std::string_view group, const auto& keys) {
    for (const auto& key : keys) known.insert(Cat(group, "/", key.name));
  };
  add("", TopKeys());
  add("limits", LimitsKeys());
  add("retention", RetentionKeys());
  add("shutdown", ShutdownKeys());
  add("log", LogKeys());
  add("agent", AgentKeys());
  add("capabilities", CapabilityKeys());
  EXPECT_EQ(tested, known);
}

TEST(ConfigKeysTest, GoodValuesAndBoundsAreTaken) {
  for (const Row& row : Rows()) {
    EXPECT_EQ(ErrorOf(row, row.good), "") << Path(row);
    for (const std::string& value : row.at_bounds)
      EXPECT_EQ(ErrorOf(row, value), "") << Path(row) << " " << value;
  }
}

TEST(ConfigKeysTest, WrongTypesNameLineKeyAndExpectation) {
  for (const Row& row : Rows()) {
    const std::string error = ErrorOf(row, row.wrong_type);
    EXPECT_THAT(error, StartsWith(Cat("3: ", Path(row), ": expected "))) << row.wrong_type;
    EXPECT_THAT(error, HasSubstr(row.expects));
  }
}

TEST(ConfigKeysTest, ValuesOutOfBoundsNameLineAndKey) {
  for (const Row& row : Rows()) {
    for (const std::string& value : row.over_bounds) {
      const std::string error = ErrorOf(row, value);
      EXPECT_THAT(error, StartsWith(Cat("3: ", Path(row)))) << value;
      EXPECT_THAT(error, HasSubstr("expected ")) << value;
    }
  }
}

TEST(ConfigKeysTest, ABoundIsNamed) {
  DaemonConfig config;
  EXPECT_EQ(ReadConfig(R"({"limits": {"max_line": "257MiB"}})", &config).message(),
            "1: limits.max_line: expected a size from 1KiB to 256MiB, got the string \"257MiB\"");
  EXPECT_EQ(
      ReadConfig(R"({"limits": {"orphan_timeout": "1ms"}})", &config).message(),
      "1: limits.orphan_timeout: expected a duration from 1s to 720h, got the string \"1ms\"");
}

TEST(ConfigKeysTest, KeysOfLaterFeaturesAreUnknown) {
  const std::vector<std::pair<std::string, std::string>> later = {
      {"http_listen", "{\n\"http_listen\": []}"},
      {"prewarm", "{\"agent_servers\": {\"x\": {\n\"prewarm\": 1}}}"},
  };
  for (const auto& [key, text] : later) {
    DaemonConfig config;
    const std::string error = Cat(ReadConfig(text, &config).message());
    EXPECT_THAT(error, StartsWith("2: ")) << key;
    EXPECT_THAT(error, HasSubstr(Cat("unknown key \"", key, "\"; the nearest known key is \"")));
  }
}

}  // namespace
}  // namespace acpd::server
