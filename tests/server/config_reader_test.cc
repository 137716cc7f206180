#include "server/config_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/strings.h"
#include "tests/server/temp_folder.h"

namespace acpd::server {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::StartsWith;

std::string ErrorOf(std::string_view text) {
  DaemonConfig config;
  const absl::Status read = ReadConfig(text, &config);
  EXPECT_TRUE(read.ok() || absl::IsInvalidArgument(read)) << read;
  return Cat(read.message());
}

DaemonConfig Read(std::string_view text) {
  DaemonConfig config;
  const absl::Status read = ReadConfig(text, &config);
  EXPECT_TRUE(read.ok()) << read;
  return config;
}

TEST(ConfigReaderTest, AWholeFileIsReadIntoItsFields) {
  const DaemonConfig config = Read(R"({
    // All of the top.
    "listen": ["127.0.0.1:7420", "unix:/tmp/a.sock"],
    "allow_insecure": true,
    "state_dir": "/s/", "runtime_dir": "/r", "projects_root": "/p",
    "allowed_roots": ["/a", "/b/"],
    "default_agent": "second",
    "agent_servers": {
      "first": {"command": "one"},
      "second": {"command": "two", "args": ["--x"], "turn_timeout": "1h"} /* the default */
    },
    "secrets": {"team-a": "key"},
    "adopt_unknown_sessions": false,
    "limits": {"max_queued_turns": 1, "max_queued_total": 2, "max_queued_bytes": "3KiB", "max_line": "4KiB", "max_depth": 50,
               "max_message_in": 6000, "orphan_timeout": "7m", "request_id_ttl": "8h"},
    "retention": {"max_age": "48h", "max_session_bytes": "1MiB", "max_total_bytes": "2MiB"},
    "shutdown": {"timeout": "9s"},
    "log": {"level": "error"}
  })");
  EXPECT_THAT(config.listen, ElementsAre("127.0.0.1:7420", "unix:/tmp/a.sock"));
  EXPECT_TRUE(config.allow_insecure);
  EXPECT_EQ(config.state_dir, "/s");
  EXPECT_EQ(config.runtime_dir, "/r");
  EXPECT_EQ(config.projects_root, "/p");
  EXPECT_THAT(config.allowed_roots, ElementsAre("/a", "/b"));
  EXPECT_EQ(config.default_agent, "second");
  ASSERT_EQ(config.agents.size(), 2u);
  EXPECT_EQ(config.agents[0].name, "first");
  EXPECT_EQ(config.agents[1].command, "two");
  EXPECT_THAT(config.agents[1].args, ElementsAre("--x"));
  EXPECT_EQ(config.agents[1].turn_timeout, hours(1));
  EXPECT_THAT(config.secrets, ElementsAre(Pair("team-a", "key")));
  EXPECT_FALSE(config.adopt_unknown_sessions);
  EXPECT_EQ(config.limits.max_queued_turns, 1u);
  EXPECT_EQ(config.limits.max_queued_total, 2u);
  EXPECT_EQ(config.limits.max_queued_bytes, 3u << 10);
  EXPECT_EQ(config.limits.max_line, 4u << 10);
  EXPECT_EQ(config.limits.max_depth, 50u);
  EXPECT_EQ(config.limits.max_message_in, 6000u);
  EXPECT_EQ(config.limits.orphan_timeout, minutes(7));
  EXPECT_EQ(config.limits.request_id_ttl, hours(8));
  EXPECT_EQ(config.retention.max_age, hours(48));
  EXPECT_EQ(config.retention.max_session_bytes, 1u << 20);
  EXPECT_EQ(config.retention.max_total_bytes, 2u << 20);
  EXPECT_EQ(config.shutdown_timeout, seconds(9));
  EXPECT_EQ(config.log_level, LogLevel::kError);
}

TEST(ConfigReaderTest, WhatIsNotThereKeepsItsDefault) {
  const DaemonConfig config = Read("{}");
  EXPECT_TRUE(config.listen.empty());
  EXPECT_TRUE(config.adopt_unknown_sessions);
  EXPECT_EQ(config.limits.max_line, 32u << 20);
  EXPECT_EQ(config.shutdown_timeout, seconds(30));
  EXPECT_EQ(config.log_level, LogLevel::kInfo);
}

TEST(ConfigReaderTest, AnUnknownKeyIsNamedWithItsLineAndTheNearest) {
  EXPECT_EQ(ErrorOf("{\n  \"log\": {},\n  \"listn\": []\n}"),
            "3: unknown key \"listn\"; the nearest known key is \"listen\"");
  EXPECT_EQ(ErrorOf("{\"limits\": {\n\n\"max_lines\": 1}}"),
            "3: limits: unknown key \"max_lines\"; the nearest known key is \"max_line\"");
  EXPECT_EQ(ErrorOf("{\"agent_servers\": {\"a\": {\n\"comand\": \"x\"}}}"),
            "2: agent_servers.a: unknown key \"comand\"; the nearest known key is \"command\"");
}

TEST(ConfigReaderTest, ALineIsThatOfTheValue) {
  // The key, the colon and the value on three lines; a number ends only at the byte behind it.
  EXPECT_THAT(ErrorOf("{\"allow_insecure\"\n:\n1\n}"),
              StartsWith("3: allow_insecure: expected true or false, got the number 1"));
  EXPECT_THAT(ErrorOf("{\"allow_insecure\":1\n}"), StartsWith("1: "));
  EXPECT_THAT(ErrorOf("// one\n/* two\nthree */ {\r\n\"allow_insecure\":\r\n\"x\"}"),
              StartsWith("5: "));
}

TEST(ConfigReaderTest, ADuplicateKeyIsRefused) {
  EXPECT_EQ(ErrorOf("{\"log\": {},\n\"log\": {}}"),
            "2: the key \"log\" stands twice here (first on line 1)");
  EXPECT_THAT(ErrorOf("{\"agent_servers\": {\"a\": {\"command\": \"x\"},\n\"a\": {}}}"),
              StartsWith("2: the key \"a\" stands twice"));
}

TEST(ConfigReaderTest, BadGrammarIsNamedWithItsLine) {
  EXPECT_THAT(ErrorOf("{\n\"log\": {},\n}"), StartsWith("3: syntax error"));
  EXPECT_THAT(ErrorOf(""), StartsWith("1: syntax error"));
  EXPECT_THAT(ErrorOf("{} {}"), StartsWith("1: syntax error"));
  EXPECT_THAT(ErrorOf("{\n\"log\xff\": 1}"), AllOf(StartsWith("2: "), HasSubstr("UTF-8")));
  EXPECT_THAT(ErrorOf("[]"), StartsWith("1: expected an object"));
  EXPECT_THAT(ErrorOf(std::string(5000, '[')), HasSubstr("nested deeper than 32"));
}

TEST(ConfigReaderTest, TheDefaultAgentMustExist) {
  EXPECT_EQ(ErrorOf("{\"default_agent\":\n\"c\", \"agent_servers\": {\"a\": {\"command\": \"x\"}, "
                    "\"b\": {\"command\": \"x\"}}}"),
            "2: default_agent: expected one of the agents (a, b), got the string \"c\"");
}

TEST(ConfigReaderTest, AListenAddressIsCheckedWithItsLine) {
  EXPECT_THAT(ErrorOf("{\"listen\": [\"127.0.0.1:1\",\n\"7420\"]}"),
              StartsWith("2: listen[1]: \"7420\" is no listen address"));
}

TEST(ConfigReaderTest, EnvironmentAndFilesAreReplaced) {
  TempFolder folder;
  const std::string secret = folder.Write("secret", "s3cr$et\n");
  setenv("ACPD_TEST_DIR", "/var/x", 1);
  unsetenv("ACPD_TEST_MISSING");
  const DaemonConfig config =
      Read(Cat(R"({"state_dir": "${env:ACPD_TEST_DIR}/s", "secrets": {"a": "${file:)", secret,
               R"(}", "b": "a$$b"}})"));
  EXPECT_EQ(config.state_dir, "/var/x/s");
  EXPECT_THAT(config.secrets, ElementsAre(Pair("a", "s3cr$et"), Pair("b", "a$b")));
  EXPECT_EQ(ErrorOf("{\n\"state_dir\": \"${env:ACPD_TEST_MISSING}\"}"),
            "2: state_dir: the environment variable ACPD_TEST_MISSING is not set");
  EXPECT_THAT(ErrorOf(Cat("{\n\"secrets\": {\"a\": \"${file:", folder.File("no"), "}\"}}")),
              StartsWith("2: secrets.a: cannot read "));
  EXPECT_THAT(ErrorOf("{\n\"state_dir\": \"/a/${project_id}\"}"),
              StartsWith("2: state_dir: ${project_id} has no value here"));
}

TEST(ConfigReaderTest, AMessageNeverRepeatsASecret) {
  EXPECT_EQ(ErrorOf("{\"secrets\": {\"a\": 12345}}"), "1: secrets.a: expected a string");
  EXPECT_EQ(ErrorOf("{\"agent_servers\": {\"a\": {\"command\": \"x\", \"env\": {\"K\": 12345}}}}"),
            "1: agent_servers.a.env.K: expected a string");
}

TEST(ConfigReaderTest, AnErrorIsOneLineWhateverItRepeats) {
  EXPECT_THAT(ErrorOf(R"({"a\nb\u001b[2J\u007f": 1})"),
              StartsWith("1: unknown key \"a\\u000ab\\u001b[2J\\u007f\"; the nearest"));
  EXPECT_THAT(ErrorOf(R"({"log": {"level": "a\r\nb"}})"),
              HasSubstr("got the string \"a\\u000d\\u000ab\""));
  EXPECT_EQ(ErrorOf(Cat("{\"", std::string(5000, 'k'), "\": 1}")),
            Cat("1: unknown key \"", std::string(984, 'k'), "..."));
  setenv("ACPD_TEST_BYTES", "\xff", 1);
  EXPECT_THAT(ErrorOf(R"({"listen": ["${env:ACPD_TEST_BYTES}"]})"),
              HasSubstr("\"\xef\xbf\xbd\" is no listen address"));
}

TEST(ConfigReaderTest, AFileIsNamedInItsErrors) {
  TempFolder folder;
  DaemonConfig config;
  const std::string file = folder.Write("acpd.json", "{\n\"lisen\": 1}");
  EXPECT_EQ(ReadConfigFile(file, &config).message(),
            Cat(file, ":2: unknown key \"lisen\"; the nearest known key is \"listen\""));
  const absl::Status missing = ReadConfigFile(folder.File("none"), &config);
  EXPECT_EQ(missing.message(),
            Cat("cannot read ", folder.File("none"), ": No such file or directory"));
  EXPECT_TRUE(absl::IsInvalidArgument(missing));
  EXPECT_THAT(ReadConfigFile(folder.path(), &config).message(), HasSubstr("Is a directory"));
}

}  // namespace
}  // namespace acpd::server
