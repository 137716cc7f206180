// What acpd does for an agent when acpd dies in the middle of it: the next one goes on, and nothing
// is done or told twice.
#include <signal.h>

#include <thread>

#include "tests/session/services_harness.h"

namespace acpd::session {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

TEST_F(ServicesTest, AWaitAndItsTerminalOutliveAcpd) {
  Begin();
  json steps = json::array();
  Add(steps, "terminal/create",
      Shell("echo before; while [ ! -e go ]; do sleep 0.02; done; echo after; exit 7"),
      Result(Of("term-1")));
  Add(steps, "terminal/wait_for_exit", Of("term-1"), Result({{"exitCode", 7}}));
  Add(steps, "terminal/output", Of("term-1"), Result({{"output", "before\nafter\n"}}));
  Add(steps, "terminal/release", Of("term-1"), Result(json::object()));
  const std::string session_id = StartPlaying(steps);
  ASSERT_TRUE(
      RunUntil([&] { return HasSeen(session_id, "before\n") && Stored("agent_requests") == 1; }));
  Crash();
  Begin();
  EXPECT_EQ(Stored("terminals"), 1);
  WriteFile(Path("go"), "");
  ExpectCompleted();
  const std::vector<std::string> seen = Seen(session_id);
  ASSERT_EQ(seen.size(), 4u);
  EXPECT_THAT(seen[0], StartsWith("terminal_output term-1 $"));
  EXPECT_EQ(seen[1], "terminal_output term-1 before\n");
  EXPECT_EQ(seen[2], "terminal_output term-1 after\n");
  EXPECT_EQ(seen[3], "terminal_output term-1 exited 7");
}

TEST_F(ServicesTest, WhatACommandDidWhileNobodyListenedIsToldAfterwards) {
  Begin();
  json steps = json::array();
  Add(steps, "terminal/create",
      Shell("echo before; while [ ! -e go ]; do sleep 0.02; done; echo after; touch gone; exit 7"),
      Result(Of("term-1")));
  Add(steps, "terminal/wait_for_exit", Of("term-1"), Result({{"exitCode", 7}}));
  const std::string session_id = StartPlaying(steps);
  ASSERT_TRUE(
      RunUntil([&] { return HasSeen(session_id, "before\n") && Stored("agent_requests") == 1; }));
  Crash();
  WriteFile(Path("go"), "");
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!std::filesystem::exists(Path("gone")) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  Begin();
  ExpectCompleted();
  const std::vector<std::string> seen = Seen(session_id);
  ASSERT_EQ(seen.size(), 4u);
  EXPECT_EQ(seen[2], "terminal_output term-1 after\n");
  EXPECT_EQ(seen[3], "terminal_output term-1 exited 7");
}

TEST_F(ServicesTest, ACommandWhoseStartWasNotAnsweredIsNotStartedTwice) {
  Begin();
  json steps = json::array();
  steps.push_back({{"barrier", "create"}});
  Add(steps, "terminal/create", Shell("echo run >> runs; echo hello; exec sleep 1000"),
      Result(Of("term-1")));
  Add(steps, "terminal/output", Of("term-1"), Result({{"output", "hello\n"}}));
  const std::string session_id = StartPlaying(steps);
  ASSERT_TRUE(barriers().WaitReached("create"));
  barriers().Release("create");
  // The request is stored, the command runs, but the answer does not get so far.
  ASSERT_TRUE(RunUntil([&] {
    if (Stored("agent_requests") == 1) SetCommits(Commits::kHold);
    return std::filesystem::exists(Path("runs"));
  }));
  ASSERT_EQ(Stored("terminals"), 0) << "the answer was quicker than the test";
  Crash();
  Begin();
  ExpectCompleted();
  EXPECT_EQ(ReadFile(Path("runs")), "run\n");
  const std::vector<std::string> seen = Seen(session_id);
  ASSERT_GE(seen.size(), 2u);
  EXPECT_THAT(seen[0], StartsWith("terminal_output term-1 $"));
  EXPECT_EQ(seen[1], "terminal_output term-1 hello\n");
}

TEST_F(ServicesTest, AWriteThatWasNotAnsweredIsDoneAgain) {
  Begin();
  json steps = json::array();
  steps.push_back({{"barrier", "write"}});
  Add(steps, "fs/write_text_file", {{"path", Path("a")}, {"content", "x"}}, Result(json::object()));
  const std::string session_id = StartPlaying(steps);
  ASSERT_TRUE(barriers().WaitReached("write"));
  SetCommits(Commits::kHold);
  barriers().Release("write");
  ASSERT_TRUE(RunUntil([&] { return std::filesystem::exists(Path("a")); }));
  Crash();
  std::filesystem::remove(Path("a"));
  Begin();
  ExpectCompleted();
  EXPECT_EQ(ReadFile(Path("a")), "x");
  EXPECT_THAT(Seen(session_id), ElementsAre("file_written " + Path("a") + " bytes=1 "));
}

TEST_F(ServicesTest, AReadThatWasStoredIsServedByTheNextAcpd) {
  Begin();
  std::filesystem::create_directories(Folder());
  MakeSlowFile(Path("slow"));
  json steps = json::array();
  Add(steps, "fs/read_text_file", {{"path", Path("slow")}, {"line", 999}, {"limit", 1}},
      Result({{"content", ""}}));
  const std::string session_id = StartPlaying(steps);
  ASSERT_TRUE(RunUntil([&] { return Stored("agent_requests") == 1; }));
  SetCommits(Commits::kHold);
  Crash();
  Begin();
  ExpectCompleted();
  EXPECT_EQ(Seen(session_id).size(), 1u);
  EXPECT_EQ(Stored("agent_requests"), 0);
}

pid_t ParentOf(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("PPid:")) return std::stoi(line.substr(5));
  }
  return 0;
}

// The worker died together with acpd.
TEST_F(ServicesTest, OfATerminalThatIsLostTheEndIsTold) {
  Begin();
  json steps = json::array();
  Add(steps, "terminal/create", Shell("echo on; exec sleep 1000"), Result(Of("term-1")));
  steps.push_back(Ask("terminal/wait_for_exit", Of("term-1")));
  steps.push_back("silent");
  const std::string session_id = StartPlaying(steps);
  ASSERT_TRUE(
      RunUntil([&] { return HasSeen(session_id, "on\n") && Stored("agent_requests") == 1; }));
  const pid_t worker = ParentOf(agent_log().Pids().back());
  Crash();
  ASSERT_GT(worker, 1);
  ASSERT_EQ(::kill(worker, SIGKILL), 0);
  Begin();
  ASSERT_TRUE(RunUntil([&] { return HasSeen(session_id, "exited"); }));
  EXPECT_THAT(Seen(session_id).back(), StartsWith("terminal_output term-1 exited SIGKILL"));
  ASSERT_TRUE(RunUntil([&] { return Stored("terminals") == 0 && Stored("agent_requests") == 0; }));
}

}  // namespace
}  // namespace acpd::session
