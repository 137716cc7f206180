#include "server/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "server/strings.h"

namespace acpd::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

absl::StatusOr<Options> ParseLine(std::vector<const char*> args) {
  args.insert(args.begin(), "acpd");
  return ParseOptions(static_cast<int>(args.size()), args.data());
}

TEST(OptionsTest, NoFlagsAreFine) {
  const auto options = ParseLine({});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->config_file, "");
  EXPECT_THAT(options->listen, IsEmpty());
  EXPECT_FALSE(options->check_config);
}

TEST(OptionsTest, AllFlagsAreRead) {
  const auto options =
      ParseLine({"--config", "c.json", "--address-file=a", "--listen", "127.0.0.1:0", "--listen",
                 "unix:/s", "--state-dir", "/state/", "--check-config"});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->config_file, "c.json");
  EXPECT_EQ(options->address_file, "a");
  EXPECT_THAT(options->listen, ElementsAre("127.0.0.1:0", "unix:/s"));
  EXPECT_EQ(options->state_dir, "/state");
  EXPECT_TRUE(options->check_config);
}

TEST(OptionsTest, AStateDirBecomesAbsolute) {
  EXPECT_EQ(ParseLine({"--state-dir", "x/../y"})->state_dir, std::filesystem::current_path() / "y");
}

TEST(OptionsTest, VersionAndHelpAreAnswers) {
  EXPECT_EQ(ParseLine({"--version"})->answer, Cat("acpd ", ACPD_VERSION, "\n"));
  EXPECT_THAT(ParseLine({"--help"})->answer, HasSubstr("--address-file"));
}

TEST(OptionsTest, WrongFlagsAreNamed) {
  const std::vector<std::pair<std::vector<const char*>, std::string>> wrong = {
      {{"--no-such-flag"}, "--no-such-flag"},
      {{"stray"}, "stray"},
      {{"--config"}, "--config"},
      {{"--config", ""}, "--config needs a value"},
      {{"--listen", "7420"}, "\"7420\""},
      {{"--listen", "127.0.0.1:1", "127.0.0.1:2"}, "127.0.0.1:2"},
      {{"--config", "a", "--config", "b"}, "--config"},
  };
  for (const auto& [args, named] : wrong) {
    const auto options = ParseLine(args);
    ASSERT_FALSE(options.ok()) << args[0];
    EXPECT_TRUE(absl::IsInvalidArgument(options.status()));
    EXPECT_THAT(options.status().message(), HasSubstr(named));
  }
}

}  // namespace
}  // namespace acpd::server
