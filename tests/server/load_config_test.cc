#include "server/load_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "server/files.h"
#include "server/strings.h"
#include "tests/server/temp_folder.h"

namespace acpd::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(LoadConfigTest, FoldersAreThoseOfTheUser) {
  DefaultFolders folders = FindDefaultFolders(0, "/x", "/y", "/root");
  EXPECT_EQ(folders.state_dir, "/var/lib/acpd");
  EXPECT_EQ(folders.runtime_dir, "/run/acpd");
  folders = FindDefaultFolders(1000, "/x", "/y", "/home/u");
  EXPECT_EQ(folders.state_dir, "/x/acpd");
  EXPECT_EQ(folders.runtime_dir, "/y/acpd");
  folders = FindDefaultFolders(1000, nullptr, nullptr, "/home/u");
  EXPECT_EQ(folders.state_dir, "/home/u/.local/state/acpd");
  EXPECT_EQ(folders.runtime_dir, "/tmp/acpd-1000");
  folders = FindDefaultFolders(1000, "relative", "", "/home/u");
  EXPECT_EQ(folders.state_dir, "/home/u/.local/state/acpd");
  EXPECT_EQ(folders.runtime_dir, "/tmp/acpd-1000");
  EXPECT_EQ(FindDefaultFolders(1000, nullptr, nullptr, "").state_dir, "");
}

TEST(LoadConfigTest, FlagsGoBeforeTheFileAndTheFileBeforeTheDefaults) {
  TempFolder folder;
  Options options;
  options.config_file = folder.Write(
      "c",
      R"({"listen": ["127.0.0.1:1"], "state_dir": "/s", "runtime_dir": "/r", "agent_servers": {"x": {"command": "x"}, "y": {"command": "y"}}})");
  auto config = LoadConfig(options);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_THAT(config->listen, ElementsAre("127.0.0.1:1"));
  EXPECT_EQ(config->state_dir, "/s");
  EXPECT_EQ(config->runtime_dir, "/r");
  EXPECT_EQ(config->projects_root, "/s/projects");
  EXPECT_EQ(config->default_agent, "x");

  options.listen = {"unix:/t/s"};
  options.state_dir = "/t";
  config = LoadConfig(options);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_THAT(config->listen, ElementsAre("unix:/t/s"));
  EXPECT_EQ(config->state_dir, "/t");
  EXPECT_EQ(config->projects_root, "/t/projects");

  config = LoadConfig({});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_THAT(config->listen, ElementsAre("127.0.0.1:7420"));
}

TEST(LoadConfigTest, AnOpenAddressNeedsAllowInsecure) {
  TempFolder folder;
  Options options;
  options.config_file = folder.Write("c", R"({"listen": ["0.0.0.0:1"]})");
  EXPECT_THAT(LoadConfig(options).status().message(), HasSubstr("\"allow_insecure\": true"));
  options.config_file = folder.Write("c", R"({"allow_insecure": true})");
  options.listen = {"0.0.0.0:1"};
  EXPECT_TRUE(LoadConfig(options).ok());
  options.config_file.clear();
  EXPECT_FALSE(LoadConfig(options).ok());
}

TEST(LoadConfigTest, ARuntimeDirHasRoomForItsSockets) {
  TempFolder folder;
  Options options;
  options.config_file =
      folder.Write("c", Cat(R"({"runtime_dir": "/)", std::string(60, 'r'), "\"}"));
  EXPECT_TRUE(LoadConfig(options).ok());
  options.config_file =
      folder.Write("c", Cat(R"({"runtime_dir": "/)", std::string(61, 'r'), "\"}"));
  EXPECT_THAT(LoadConfig(options).status().message(), HasSubstr("is too long"));
}

TEST(LoadConfigTest, AnErrorIsOneLineWhateverItRepeats) {
  TempFolder folder;
  Options options;
  options.config_file = folder.Write(
      "c", Cat(R"({"state_dir": "/s", "runtime_dir": "/\n)", std::string(5000, 'r'), "\"}"));
  const std::string message(LoadConfig(options).status().message());
  EXPECT_THAT(message, testing::StartsWith("runtime_dir /\\u000arrr"));
  EXPECT_LE(message.size(), 1003u);
}

TEST(LoadConfigTest, InstalledBuiltinsAreFoundInPathAndBesideAcpd) {
  TempFolder folder;
  const auto install = [](const std::string& path) {
    std::ofstream(path) << "#!/bin/sh\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  };
  std::filesystem::create_directory(folder.File("path"));
  std::filesystem::create_directory(folder.File("beside"));
  const std::string before = getenv("PATH");
  setenv("PATH", folder.File("path").c_str(), 1);
  const auto names = [&folder] {
    std::vector<std::string> found;
    for (const auto& agent : InstalledBuiltins(folder.File("beside"))) found.push_back(agent.name);
    return found;
  };
  EXPECT_THAT(names(), ElementsAre());
  install(folder.File("path/gemini"));
  EXPECT_THAT(names(), ElementsAre("gemini"));
  install(folder.File("beside/acpd-demo-agent"));
  install(folder.File("beside/codex-acp"));  // not ours: only PATH counts
  EXPECT_THAT(names(), ElementsAre("gemini", "demo"));
  setenv("PATH", before.c_str(), 1);
}

TEST(LoadConfigTest, ACommandOfOursIsTakenFromBesideAcpd) {
  TempFolder folder;
  std::vector<session::AgentDefinition> agents(3);
  agents[0].command = "acpd-demo-agent";
  agents[1].command = "/opt/acpd-demo-agent";
  agents[2].command = "gemini";
  FindOwnPrograms(folder.path(), &agents);
  EXPECT_EQ(agents[0].command, "acpd-demo-agent");  // it is not there
  std::filesystem::permissions(folder.Write("acpd-demo-agent", "#!/bin/sh\n"),
                               std::filesystem::perms::owner_all);
  std::filesystem::permissions(folder.Write("gemini", "#!/bin/sh\n"),
                               std::filesystem::perms::owner_all);
  FindOwnPrograms(folder.path(), &agents);
  EXPECT_EQ(agents[0].command, folder.File("acpd-demo-agent"));
  EXPECT_EQ(agents[1].command, "/opt/acpd-demo-agent");
  EXPECT_EQ(agents[2].command, "gemini");
}

}  // namespace
}  // namespace acpd::server
