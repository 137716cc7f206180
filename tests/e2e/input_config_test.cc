// Configs with mistakes: acpd refuses to start and names line, key and what it expects.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "tests/e2e/harness/process.h"
#include "tests/e2e/harness/temp_dir.h"

namespace acpd::e2e {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr ExitStatus kBadConfig{2, 0};

struct BadConfig {
  const char* name;
  const char* text;
  int line;
  std::vector<std::string> says;
};

std::ostream& operator<<(std::ostream& out, const BadConfig& config) { return out << config.name; }

class ConfigTest : public ::testing::Test {
 protected:
  // Runs acpd with this config; its stdout and stderr stand in out_ and err_ afterwards.
  ExitStatus Run(const std::string& text, std::vector<std::string> args) {
    WriteFile(config_, text);
    args.insert(args.end(), {"--config", config_, "--state-dir", dir_ / "state"});
    const int out = ::open((dir_ / "out").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    Process acpd({.program = ProgramPath("acpd"),
                  .args = args,
                  .env = {},
                  .stdout_fd = out,
                  .stderr_file = dir_ / "err"});
    ::close(out);
    const auto status = acpd.Wait();
    EXPECT_TRUE(status) << "acpd runs on";
    out_ = ReadFile(dir_ / "out");
    err_ = ReadFile(dir_ / "err");
    return status.value_or(ExitStatus{});
  }

  TempDir dir_;
  std::string config_ = dir_ / "acpd.json";
  std::string out_, err_;
};

class BadConfigTest : public ConfigTest, public ::testing::WithParamInterface<BadConfig> {
 protected:
  void ExpectTheSentence() {
    const BadConfig& bad = GetParam();
    EXPECT_THAT(err_, HasSubstr(config_ + ":" + std::to_string(bad.line) + ": "));
    for (const std::string& words : bad.says) EXPECT_THAT(err_, HasSubstr(words));
    EXPECT_EQ(std::count(err_.begin(), err_.end(), '\n'), 1) << err_;
    EXPECT_THAT(out_, IsEmpty());
    EXPECT_FALSE(std::filesystem::exists(dir_ / "state"));
  }
};

const BadConfig kBadConfigs[] = {
    {"UnknownKey",
     "{\n  \"listen\": [\"127.0.0.1:0\"],\n  \"no_such_key\": 1\n}\n",
     3,
     {"unknown key \"no_such_key\"", "nearest known key"}},
    {"MisspeltKey",
     "{\n  // where to listen\n  \"lisen\": [\"127.0.0.1:0\"]\n}\n",
     3,
     {"unknown key \"lisen\"", "\"listen\""}},
    {"UnknownKeyOfAnAgent",
     "{\"agent_servers\": {\n  \"a\": {\n    \"command\": \"x\",\n    \"start_time_out\": "
     "\"1s\"}}}",
     4,
     {"agent_servers.a", "unknown key \"start_time_out\"", "\"start_timeout\""}},
    {"UnknownLimit",
     "{\n\"limits\": {\n\"max_lines\": 1}}",
     3,
     {"limits", "unknown key \"max_lines\"", "\"max_line\""}},
    {"AKeyWhoseFeatureHasNotLanded",
     "{\n\"http_listen\": [\"127.0.0.1:0\"]}",
     2,
     {"unknown key \"http_listen\""}},
    {"ANumberForAPath",
     "{\n\n\"projects_root\": 7\n}",
     3,
     {"projects_root", "expected a string", "the number 7"}},
    {"ARelativePath",
     "{\"projects_root\":\n\"projects\"}",
     2,
     {"projects_root", "expected an absolute path", "\"projects\""}},
    {"AStringForAList",
     "{\n\"allowed_roots\": \"/a\"}",
     2,
     {"allowed_roots", "expected a list of strings", "\"/a\""}},
    {"ANumberInAList",
     "{\n\"allowed_roots\": [\"/a\",\n5]}",
     3,
     {"allowed_roots[1]", "expected a string", "the number 5"}},
    {"AStringForABool",
     "{\"allow_insecure\": \"yes\"}",
     1,
     {"allow_insecure", "expected true or false", "\"yes\""}},
    {"ANumberForADuration",
     "{\"agent_servers\": {\"a\": {\"command\": \"x\",\n\"cancel_grace\": 300}}}",
     2,
     {"agent_servers.a.cancel_grace", "expected a duration such as", "the number 300"}},
    {"AWordForASize",
     "{\"limits\":\n{\"max_line\":\n\"lots\"}}",
     3,
     {"limits.max_line", "expected a size such as", "\"lots\""}},
    {"TooLittle",
     "{\"limits\": {\n\"max_line\": 1}}",
     2,
     {"limits.max_line", "expected a size from"}},
    {"ANegativeCount",
     "{\"limits\": {\n\"max_queued_turns\": -1}}",
     2,
     {"limits.max_queued_turns", "expected a whole number from"}},
    {"NoSuchChoice",
     "{\"agent_servers\": {\"a\": {\"command\": \"x\",\n\"permission_mode\": \"maybe\"}}}",
     2,
     {"agent_servers.a.permission_mode", "expected one of", "\"maybe\""}},
    {"AListForAnAgent",
     "{\"agent_servers\": {\n\"a\": []}}",
     2,
     {"agent_servers.a", "expected", "a list"}},
    {"NoSuchDefaultAgent",
     "{\"agent_servers\": {\"a\": {\"command\": \"x\"}},\n\"default_agent\": \"b\"}",
     2,
     {"default_agent", "expected one of the agents (a)", "\"b\""}},
    {"NoAddress", "{\n\"listen\": [\"nonsense\"]}", 2, {"listen[0]"}},
    {"AKeyTwice",
     "{\n\"allow_insecure\": true,\n\"allow_insecure\": false}",
     3,
     {"\"allow_insecure\"", "twice", "line 2"}},
    {"BrokenJson", "{\n\"listen\": [,]}", 2, {"unexpected"}},
    {"NoObject", "\n[]", 2, {"expected", "a list"}},
};

INSTANTIATE_TEST_SUITE_P(Configs, BadConfigTest, ::testing::ValuesIn(kBadConfigs),
                         [](const auto& info) { return info.param.name; });

TEST_P(BadConfigTest, IsRefusedByTheCheckWithItsLineKeyAndExpectation) {
  EXPECT_EQ(Run(GetParam().text, {"--check-config"}), kBadConfig);
  ExpectTheSentence();
}

TEST_P(BadConfigTest, IsRefusedAtTheStartInTheSameWay) {
  const std::string addresses = dir_ / "addresses";
  EXPECT_EQ(Run(GetParam().text, {"--address-file", addresses}), kBadConfig);
  ExpectTheSentence();
  EXPECT_FALSE(std::filesystem::exists(addresses));
}

TEST_F(ConfigTest, AGoodOneWithCommentsPassesTheCheckAndNothingIsMade) {
  const std::string text =
      "{\n  // comments are fine\n  \"listen\": [\"127.0.0.1:0\"],\n"
      "  \"agent_servers\": {\"demo\": {\"extends\": \"demo\"}} /* and these */\n}\n";
  EXPECT_EQ(Run(text, {"--check-config"}), (ExitStatus{0, 0})) << err_;
  EXPECT_EQ(out_, "OK\n");
  EXPECT_THAT(err_, IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(dir_ / "state"));
}

}  // namespace
}  // namespace acpd::e2e
