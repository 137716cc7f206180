#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "session/terminal_launch.h"

namespace acpd::session {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TerminalLaunch : public ::testing::Test {
 protected:
  TerminalLaunch() {
    char name[] = "/tmp/terminal_launch.XXXXXX";
    root_ = mkdtemp(name);
    std::filesystem::create_directory(root_ + "/sub");
    rules_.roots = {root_};
    rules_.env = {{"PATH", root_ + "/bin:/bin"}, {"A", "1"}, {"ACPD_WORKER_ID", "w"}};
    request_.command = "make";
  }
  ~TerminalLaunch() override { std::filesystem::remove_all(root_); }

  void AddProgram(const std::string& name) {
    const std::string path = root_ + "/bin/" + name;
    std::filesystem::create_directories(root_ + "/bin");
    std::ofstream(path) << "#!/bin/sh\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  std::vector<std::string> Argv() {
    const auto spec = PlanTerminal(request_, rules_);
    EXPECT_TRUE(spec.ok()) << spec.status();
    return spec.ok() ? spec->argv : std::vector<std::string>();
  }
  std::string ErrorFor(const std::string& cwd) {
    request_.cwd = cwd;
    const auto spec = PlanTerminal(request_, rules_);
    EXPECT_EQ(spec.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(spec.status().message());
  }

  std::string root_;
  TerminalRules rules_;
  acp::CreateTerminalRequest request_;
};

TEST_F(TerminalLaunch, ArgsArePassedAsTheyAre) {
  request_.command = "two words";
  request_.args = {"a b", "", "$X"};
  EXPECT_THAT(Argv(), ElementsAre("two words", "a b", "", "$X"));
  request_ = {};
  request_.command = "make";
  EXPECT_THAT(Argv(), ElementsAre("make"));
}

TEST_F(TerminalLaunch, ALineWithoutArgsIsTheShells) {
  for (const char* line : {"ls -l | wc", "ls\t-l", "cd sub\nmake", " ls"}) {
    request_.command = line;
    EXPECT_THAT(Argv(), ElementsAre("/bin/sh", "-c", line));
  }
}

TEST_F(TerminalLaunch, AProgramOfThatNameIsNoLine) {
  AddProgram("my tool");
  for (const std::string& command :
       {std::string("my tool"), root_ + "/bin/my tool", std::string("bin/my tool")}) {
    request_.command = command;
    EXPECT_THAT(Argv(), ElementsAre(command));
  }
}

TEST_F(TerminalLaunch, TheEnvironmentIsTheAgentsWithWhatIsAdded) {
  request_.env = {{"A", "2"}, {"B", ""}, {"ACPD_WORKER_ID", "other"}, {"B", "3"}};
  const auto spec = PlanTerminal(request_, rules_);
  ASSERT_TRUE(spec.ok());
  using Pair = std::pair<std::string, std::string>;
  EXPECT_THAT(spec->env, ElementsAre(Pair("PATH", root_ + "/bin:/bin"), Pair("ACPD_WORKER_ID", "w"),
                                     Pair("A", "2"), Pair("B", "3")));
}

TEST_F(TerminalLaunch, TheFolderIsTheFirstRootUnlessOneIsNamed) {
  EXPECT_EQ(PlanTerminal(request_, rules_)->cwd, root_);
  for (const std::string& cwd : {root_, root_ + "/", root_ + "/sub", root_ + "/sub/.."}) {
    request_.cwd = cwd;
    const auto spec = PlanTerminal(request_, rules_);
    ASSERT_TRUE(spec.ok()) << spec.status();
    EXPECT_EQ(spec->cwd, cwd);
  }
}

TEST_F(TerminalLaunch, NoFolderOutsideOfTheRootsWillDo) {
  std::filesystem::create_symlink("/", root_ + "/out");
  std::filesystem::create_directory(root_ + "-beside");
  for (const std::string& cwd :
       {std::string("/"), root_ + "/..", root_ + "/out", root_ + "/out/tmp", root_ + "-beside"}) {
    EXPECT_THAT(ErrorFor(cwd), HasSubstr("outside")) << cwd;
  }
  std::filesystem::remove(root_ + "-beside");
  EXPECT_THAT(ErrorFor("sub"), HasSubstr("relative"));
  EXPECT_THAT(ErrorFor(root_ + "/none"), HasSubstr("No such file"));
  std::ofstream(root_ + "/file") << "x";
  EXPECT_THAT(ErrorFor(root_ + "/file"), HasSubstr("Not a directory"));
}

TEST_F(TerminalLaunch, ARootThatIsALinkIsWhatItLeadsTo) {
  std::filesystem::create_directory_symlink(root_ + "/sub", root_ + "/link");
  rules_.roots = {root_ + "/link"};
  request_.cwd = root_ + "/sub";
  EXPECT_TRUE(PlanTerminal(request_, rules_).ok());
  EXPECT_THAT(ErrorFor(root_), HasSubstr("outside"));
}

TEST_F(TerminalLaunch, NoCommandIsNoTerminal) {
  request_.command = "";
  EXPECT_THAT(ErrorFor(root_), HasSubstr("empty"));
}

TEST(ShownCommand, IsOneLineOfWords) {
  acp::CreateTerminalRequest request;
  request.command = "sh";
  request.args = {"-c", "ls -l", "", "x\xff"};
  EXPECT_EQ(ShownCommand(request), "sh -c 'ls -l' '' x\xef\xbf\xbd");
  request.args = {std::string(10'000, 'x'), "y"};
  EXPECT_EQ(ShownCommand(request).size(), 4096u);
}

TEST(SignalName, IsThatOfTheSystem) {
  EXPECT_EQ(SignalName(9), "SIGKILL");
  EXPECT_EQ(SignalName(15), "SIGTERM");
  EXPECT_EQ(SignalName(6), "SIGABRT");
  EXPECT_EQ(SignalName(200), "SIG200");
}

}  // namespace
}  // namespace acpd::session
