#include <errno.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "worker_terminals_fixture.h"

namespace acpd::acp {
namespace {

TEST_F(WorkerTerminalsTest, OutputOfBothKindsAndTheExitCode) {
  Started worker = StartVerb({"echo"});
  Open(worker, 5, Shell("echo out; echo err >&2; exit 7"));
  WaitForEnd(worker, 5);
  ExpectEnd(worker, 5, false, 7);
  const Peer::Terminal terminal = Of(worker, 5);
  EXPECT_EQ(terminal.out, "out\nerr\n");
  EXPECT_EQ(terminal.out_start, 0u);
  ASSERT_EQ(terminal.states.size(), 2u);
  EXPECT_TRUE(terminal.states[0].known);
  EXPECT_GT(terminal.states[0].pid, 0);
  EXPECT_FALSE(terminal.states[0].exited);
  EXPECT_EQ(terminal.last().pid, terminal.states[0].pid);
  EXPECT_EQ(terminal.last().first_kept, 0u);
  EXPECT_EQ(terminal.last().end, 8u);
  EXPECT_EQ(terminal.last().start_error, "");
  const TerminalSnapshot snapshot = Read(worker, 5);
  EXPECT_TRUE(snapshot.known);
  EXPECT_EQ(snapshot.bytes, "out\nerr\n");
  EXPECT_EQ(snapshot.end, 8u);
  EXPECT_TRUE(snapshot.exited);
  EXPECT_EQ(snapshot.value, 7);
  Finish(worker);
}

TEST_F(WorkerTerminalsTest, ACommandThatSaysNothingAndOneThatASignalEnds) {
  Started worker = StartVerb({"echo"});
  Open(worker, 1, Command({"true"}));
  Open(worker, 2, Shell("kill -9 $$"));
  Open(worker, 3, Shell("exit 9"));
  for (uint64_t number : {1, 2, 3}) WaitForEnd(worker, number);
  ExpectEnd(worker, 1, false, 0);
  ExpectEnd(worker, 2, true, SIGKILL);
  ExpectEnd(worker, 3, false, 9);
  EXPECT_EQ(Of(worker, 1).out, "");
  EXPECT_TRUE(Read(worker, 2).signaled);
  Finish(worker);
}

TEST_F(WorkerTerminalsTest, WhatACommandInherits) {
  LaunchSpec agent = Spec({"echo"});
  Started worker = Start(agent);
  Open(worker, 1, Verb({"signals"}));
  Open(worker, 2, Verb({"fds"}));
  Open(worker, 3, Shell("cat; echo end of input"));
  TerminalSpec variables = Command({"env"});
  variables.env = {{"PATH", "/usr/bin:/bin"}, {"A", "b=c"}, {"ACPD_WORKER_ID", "another's"}};
  Open(worker, 4, variables);
  TerminalSpec folder = Command({"pwd"});
  folder.cwd = "/usr";
  Open(worker, 5, folder);
  Open(worker, 6, Command({"cat", "/proc/self/stat"}));
  for (uint64_t number = 1; number <= 6; ++number) WaitForEnd(worker, number);

  EXPECT_EQ(Of(worker, 1).out, "death 9 leader 1 mark " + agent.worker_id + "\n");
  EXPECT_EQ(Of(worker, 2).out, "0 1 2 \n");
  EXPECT_EQ(Of(worker, 3).out, "end of input\n");
  EXPECT_EQ(Of(worker, 4).out, "PATH=/usr/bin:/bin\nA=b=c\nACPD_WORKER_ID=" + agent.worker_id +
                                   "\nACPD_TERMINAL_ID=" + agent.worker_id + "/4\n");
  EXPECT_EQ(Of(worker, 5).out, "/usr\n");
  // pid (name) state parent group session
  std::istringstream stat(Of(worker, 6).out);
  std::string name, state;
  int64_t pid = 0, parent = 0, group = 0, session = 0;
  stat >> pid >> name >> state >> parent >> group >> session;
  EXPECT_EQ(pid, Of(worker, 6).last().pid);
  EXPECT_EQ(parent, worker.pid);
  EXPECT_EQ(group, pid);
  EXPECT_EQ(session, pid);
  Finish(worker);
}

TEST_F(WorkerTerminalsTest, TheProgramIsLookedUpInThePathOfItsEnvironment) {
  std::filesystem::create_directory(folder_ + "/bin");
  std::filesystem::copy_file("/bin/echo", folder_ + "/bin/only-there");
  Started worker = StartVerb({"echo"});
  TerminalSpec spec = Command({"only-there", "hi"});
  spec.env = {{"PATH", folder_ + "/bin"}};
  Open(worker, 1, spec);
  WaitForEnd(worker, 1);
  EXPECT_EQ(Of(worker, 1).out, "hi\n");
  Finish(worker);
}

TEST_F(WorkerTerminalsTest, WhatCannotBeStartedIsToldAndNotKept) {
  std::ofstream(folder_ + "/plain") << "text";
  TerminalSpec bad_folder = Command({"true"});
  bad_folder.cwd = folder_ + "/nowhere";
  struct Case {
    TerminalSpec spec;
    int error;
    std::string text;
  };
  const std::vector<Case> cases = {
      {Command({"no-such-program"}), ENOENT, "cannot run no-such-program: No such file"},
      {Command({folder_ + "/plain"}), EACCES, "cannot run " + folder_ + "/plain: Permission"},
      {bad_folder, ENOENT, "cannot enter the folder " + folder_ + "/nowhere: No such file"},
      {Command({}), EINVAL, "no command"},
      {Command({""}), EINVAL, "no command"},
  };
  Started worker = StartVerb({"echo"});
  for (size_t i = 0; i < cases.size(); ++i) {
    const uint64_t number = i + 1;
    Open(worker, number, cases[i].spec);
    WaitForState(*worker.peer, number);
    const TerminalState state = Of(worker, number).last();
    EXPECT_FALSE(state.known);
    EXPECT_EQ(state.pid, 0);
    EXPECT_EQ(state.start_errno, cases[i].error);
    EXPECT_NE(state.start_error.find(cases[i].text), std::string::npos) << state.start_error;
    EXPECT_FALSE(state.exited);
    EXPECT_FALSE(Read(worker, number).known);
    // It is tried anew.
    Open(worker, number, Command({"true"}));
    WaitForEnd(worker, number);
    ExpectEnd(worker, number, false, 0);
  }
  Finish(worker);
}

TEST_F(WorkerTerminalsTest, ANumberThatTheWorkerDoesNotHaveIsAnswered) {
  Started worker = StartVerb({"echo"});
  worker.peer->link().SendTerminalRelease(8);
  worker.peer->link().SendTerminalWatch(9, 0);
  WaitForState(*worker.peer, 9);
  EXPECT_EQ(Of(worker, 9).last(), TerminalState{.number = 9});
  worker.peer->link().SendTerminalKill(10);
  WaitForState(*worker.peer, 10);
  EXPECT_EQ(Of(worker, 10).last(), TerminalState{.number = 10});
  EXPECT_EQ(Read(worker, 11), (TerminalSnapshot{.number = 11, .tag = 101}));
  EXPECT_TRUE(Of(worker, 8).states.empty());
  Finish(worker);
}

TEST_F(WorkerTerminalsTest, ANumberIsNotStartedTwice) {
  Started worker = StartVerb({"echo"});
  Open(worker, 1, Shell("echo ran >>runs; echo once; exec sleep 1000"));
  WaitForOutput(worker, 1, "once\n");
  Open(worker, 1, Shell("echo ran >>runs; echo twice"));
  WaitFor("the state again", [&] { return Of(worker, 1).states.size() == 2; });
  EXPECT_EQ(Of(worker, 1).states[1].pid, Of(worker, 1).states[0].pid);
  EXPECT_TRUE(IsAlive(Of(worker, 1).last().pid));
  worker.peer->link().SendTerminalKill(1);
  WaitForEnd(worker, 1);
  ExpectEnd(worker, 1, true, SIGTERM);
  // Nor when it has ended.
  Open(worker, 1, Shell("echo ran >>runs; echo thrice"));
  WaitFor("the state again", [&] { return Of(worker, 1).states.size() == 4; });
  ExpectEnd(worker, 1, true, SIGTERM);
  EXPECT_EQ(Of(worker, 1).out, "once\n");
  EXPECT_EQ(std::filesystem::file_size(folder_ + "/runs"), 4u);
  Finish(worker);
}

TEST_F(WorkerTerminalsTest, OnlyTheEndOfTheOutputIsKept) {
  constexpr size_t kSize = 6 << 20;
  const std::string all = BurstPattern(kSize);
  struct Case {
    uint64_t limit;
    size_t kept;
  };
  const std::vector<Case> cases = {
      {0, 0}, {1, 1}, {1000, 1000}, {300'000, 300'000}, {UINT64_MAX, 4 << 20}};
  Started worker = StartVerb({"echo"});
  for (size_t i = 0; i < cases.size(); ++i) {
    const uint64_t number = i + 1;
    Open(worker, number, Verb({"burst", std::to_string(kSize)}), cases[i].limit);
    WaitForEnd(worker, number);
    const TerminalSnapshot snapshot = Read(worker, number);
    EXPECT_EQ(snapshot.end, kSize);
    EXPECT_EQ(snapshot.first_kept, kSize - cases[i].kept);
    EXPECT_TRUE(snapshot.bytes == all.substr(kSize - cases[i].kept)) << cases[i].limit;
    EXPECT_EQ(Of(worker, number).last().first_kept, kSize - cases[i].kept);
  }
  Finish(worker);
}

TEST_F(WorkerTerminalsTest, AReaderSeesMoreThanTheLimitKeeps) {
  Started worker = StartVerb({"echo"});
  Open(worker, 1, Verb({"burst", "200000"}), /*limit=*/10);
  WaitForEnd(worker, 1);
  ExpectEnd(worker, 1, false, 0);
  EXPECT_EQ(Of(worker, 1).gaps, 0u);
  EXPECT_TRUE(Of(worker, 1).out == BurstPattern(200'000));
  EXPECT_EQ(Read(worker, 1).bytes, BurstPattern(200'000).substr(199'990));
  const std::vector<size_t> frames = Of(worker, 1).frames;
  EXPECT_LE(*std::max_element(frames.begin(), frames.end()), size_t{32} << 10);
  Finish(worker);
}

TEST_F(WorkerTerminalsTest, ManyLittleLinesAreFewFrames) {
  Started worker = StartVerb({"echo"});
  const auto before = std::chrono::steady_clock::now();
  Open(worker, 1,
       Shell("i=0; while [ $i -lt 300 ]; do echo line $i; sleep 0.005; i=$((i+1)); done"));
  WaitForEnd(worker, 1);
  const auto took =
      std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - before);
  std::string all;
  for (int i = 0; i < 300; ++i) all += "line " + std::to_string(i) + "\n";
  EXPECT_EQ(Of(worker, 1).out, all);
  // The first, one each 50 ms, and the last.
  EXPECT_LE(Of(worker, 1).frames.size(), static_cast<size_t>(took.count() / 50) + 2);
  // And each comes in time, not all at the end.
  EXPECT_GE(Of(worker, 1).frames.size(), 5u);
  Finish(worker);
}

TEST_F(WorkerTerminalsTest, ThereAreAtMostSixtyFour) {
  constexpr uint64_t kMost = 64;
  Started worker = StartVerb({"echo"});
  for (uint64_t number = 1; number <= kMost + 1; ++number) {
    Open(worker, number, Command({"sleep", "1000"}));
  }
  for (uint64_t number = 1; number <= kMost + 1; ++number) WaitForState(*worker.peer, number);
  for (uint64_t number = 1; number <= kMost; ++number) EXPECT_TRUE(Of(worker, number).last().known);
  const TerminalState refused = Of(worker, kMost + 1).last();
  EXPECT_FALSE(refused.known);
  EXPECT_EQ(refused.pid, 0);
  EXPECT_EQ(refused.start_errno, EAGAIN);
  EXPECT_NE(refused.start_error.find("too many terminals"), std::string::npos);

  const int64_t first = Of(worker, 1).last().pid;
  worker.peer->link().SendTerminalRelease(1);
  WaitForGone(first);
  WaitFor("room for another", [&] {
    Open(worker, kMost + 1, Command({"true"}));
    const size_t before = Of(worker, kMost + 1).states.size();
    WaitFor("a state", [&] { return Of(worker, kMost + 1).states.size() > before; });
    return Of(worker, kMost + 1).last().known;
  });
  Finish(worker);
}

}  // namespace
}  // namespace acpd::acp
