// deploy/quickstart at a terminal: Ctrl-C leaves nothing behind.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "tests/cli/terminal.h"
#include "tests/e2e/harness/leftovers.h"
#include "tests/e2e/harness/process.h"
#include "tests/e2e/harness/temp_dir.h"

namespace acpd::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class QuickstartTest : public ::testing::Test {
 protected:
  void TearDown() override { leftovers_.Kill(); }
  // With what this test's build made: its ninja builds nothing.
  e2e::Process::Options Quickstart(const Terminal& terminal) {
    const fs::path source = ACPD_SOURCE_DIR;
    const fs::path build = fs::path(e2e::ProgramPath("acpd")).parent_path().parent_path();
    const std::string ninja = dir_.MakeFolder("stubs") + "/ninja";
    e2e::WriteFile(ninja, "#!/bin/sh\n");
    fs::permissions(ninja, fs::perms::owner_all);
    return {.program = "/bin/bash",
            .args = {source / "deploy/quickstart"},
            .env = {{"ACPD_PRESET", fs::relative(build, source / "build")},
                    {"ACPD_PORT", "0"},
                    {"PATH", dir_.path() + "/stubs:" + std::getenv("PATH")},
                    {"TMPDIR", dir_.MakeFolder("tmp")},
                    {e2e::Leftovers::kMarkName, mark_}},
            .stderr_file = dir_ / "err",
            .terminal = terminal.path()};
  }
  bool Serves() const {
    return e2e::ReadFile(dir_ / "err").find("acpd serves on ") != std::string::npos;
  }

  e2e::TempDir dir_;
  std::string mark_ = e2e::Leftovers::NewMark();
  e2e::Leftovers leftovers_{mark_, dir_.path()};
};

TEST_F(QuickstartTest, CtrlCStopsIt) {
  Terminal terminal;
  e2e::Process quickstart(Quickstart(terminal));
  ASSERT_TRUE(e2e::WaitUntil([this] { return Serves(); }, e2e::kPatience * 3))
      << e2e::ReadFile(dir_ / "err");
  const std::vector<std::string> running = leftovers_.Processes();
  EXPECT_THAT(running, testing::Contains(HasSubstr("acpd-worker")));
  // The terminal signals what belongs to its session; of these, only the script does.
  for (const std::string& process : running) {
    const pid_t pid = std::stoi(process);
    if (pid == quickstart.pid()) continue;
    EXPECT_NE(getsid(pid), quickstart.pid()) << process;
  }
  // A person in a hurry.
  for (int i = 0; i < 3; ++i) terminal.Type(Terminal::kCtrlC);
  EXPECT_EQ(quickstart.Wait(), (e2e::ExitStatus{130, 0})) << e2e::ReadFile(dir_ / "err");
  // At once: it has waited for acpd, and acpd for its workers.
  EXPECT_THAT(leftovers_.Processes(), IsEmpty());
  EXPECT_TRUE(fs::is_empty(dir_ / "tmp"));
}

}  // namespace
}  // namespace acpd::cli
