#include <errno.h>
#include <signal.h>

#include <chrono>

#include "worker_terminals_fixture.h"

// How the commands of terminals end: by KILL, RELEASE, and with their worker and its agent.
namespace acpd::acp {
namespace {

using std::chrono::steady_clock;

class WorkerTerminalsEndTest : public WorkerTerminalsTest {
 protected:
  milliseconds Since(steady_clock::time_point start) {
    return std::chrono::duration_cast<milliseconds>(steady_clock::now() - start);
  }
  void WaitForAllGone(const std::vector<int64_t>& pids) {
    for (int64_t pid : pids) WaitForGone(pid);
  }
  // The command of terminal 1 says its tree, ignores what can be ignored and leaves nothing alone.
  std::vector<int64_t> OpenStubborn(Started& worker) {
    Open(worker, 1, Verb({"stubborn"}));
    std::vector<int64_t> pids = TreeOf(worker, 1);
    pids.push_back(Of(worker, 1).last().pid);
    EXPECT_EQ(Living(pids), 5u);
    return pids;
  }
};

TEST_F(WorkerTerminalsEndTest, KillIsATermFirst) {
  Started worker = StartVerb({"echo"});
  Open(worker, 1, Verb({"ends-on-term", "11"}));
  WaitForOutput(worker, 1, "ready\n");
  const auto before = steady_clock::now();
  worker.peer->link().SendTerminalKill(1);
  WaitForEnd(worker, 1);
  EXPECT_LT(Since(before), kPatience);
  ExpectEnd(worker, 1, false, 11);
  const TerminalSnapshot snapshot = Read(worker, 1);
  EXPECT_TRUE(snapshot.known && snapshot.exited);
  EXPECT_EQ(snapshot.bytes, "ready\n");
  worker.peer->link().SendTerminalKill(1);  // no harm is done
  EXPECT_TRUE(Read(worker, 1).known);
  EXPECT_EQ(Of(worker, 1).states.size(), 2u);
  Finish(worker);
}

TEST_F(WorkerTerminalsEndTest, KillTakesTheWholeTreeAndNothingOfTheAgents) {
  Started worker = StartVerb({"stubborn"});
  WaitFor("the agent's tree", [&] { return worker.peer->seen().out.ends_with("ready\n"); });
  std::vector<int64_t> agents = TreeIn(worker.peer->seen().out);
  agents.push_back(worker.peer->seen().hello->agent_pid);
  Open(worker, 2, Command({"sleep", "1000"}));
  WaitForState(*worker.peer, 2);
  agents.push_back(Of(worker, 2).last().pid);

  const std::vector<int64_t> pids = OpenStubborn(worker);
  const auto before = steady_clock::now();
  worker.peer->link().SendTerminalKill(1);
  WaitForEnd(worker, 1);
  EXPECT_GE(Since(before), milliseconds(1000)) << "it had a second to end by itself";
  ExpectEnd(worker, 1, true, SIGKILL);
  WaitForAllGone(pids);
  EXPECT_EQ(Living(agents), 6u);
  EXPECT_TRUE(Read(worker, 1).known);
  Finish(worker);
}

TEST_F(WorkerTerminalsEndTest, WhatWasLeftInTheBackgroundLivesUntilRelease) {
  Started worker = StartVerb({"echo"});
  Open(worker, 1, Verb({"leave-tree", "7"}));
  WaitForEnd(worker, 1);  // though four hold its output
  ExpectEnd(worker, 1, false, 7);
  const std::vector<int64_t> pids = TreeOf(worker, 1);
  EXPECT_EQ(Living(pids), 4u);
  worker.peer->link().SendTerminalRelease(1);
  WaitForAllGone(pids);
  EXPECT_FALSE(Read(worker, 1).known);
  Finish(worker);
}

// It has no mark, its parent is gone, and its group is all that it shares with the command.
TEST_F(WorkerTerminalsEndTest, WhatWasLeftWithoutAMarkGoesWithItsGroup) {
  Started worker = StartVerb({"echo"});
  Open(worker, 1, Shell("env -i sleep 1000 & echo $!"));
  WaitForEnd(worker, 1);
  ExpectEnd(worker, 1, false, 0);
  const int64_t left = std::stoll(Of(worker, 1).out);
  EXPECT_TRUE(IsAlive(left));
  worker.peer->link().SendTerminalRelease(1);
  WaitForGone(left);
  Finish(worker);
}

TEST_F(WorkerTerminalsEndTest, WhatTheBackgroundSaysAfterTheEndIsNobodysAndHarmsNobody) {
  Started worker = StartVerb({"echo"});
  // It writes when the fifo is opened, which is after the end; were the pipe closed, it would die
  // of it.
  Open(worker, 1,
       Shell("mkfifo go; (read x <go; echo late; echo fine >told; exec sleep 1000) & echo $!"));
  WaitForEnd(worker, 1);
  const int64_t left = std::stoll(Of(worker, 1).out);
  Open(worker, 2, Shell("echo x >go; while ! [ -s told ]; do sleep 0.01; done; cat told"));
  WaitForEnd(worker, 2);
  EXPECT_EQ(Of(worker, 2).out, "fine\n");
  EXPECT_TRUE(IsAlive(left));
  EXPECT_EQ(Read(worker, 1).bytes, std::to_string(left) + "\n");
  EXPECT_FALSE(Of(worker, 1).late);
  Finish(worker);
  EXPECT_FALSE(IsAlive(left));
}

TEST_F(WorkerTerminalsEndTest, ReleaseEndsTheTreeAndForgetsTheNumber) {
  Started worker = StartVerb({"echo"});
  const std::vector<int64_t> pids = OpenStubborn(worker);
  worker.peer->link().SendTerminalRead(1, 7);
  worker.peer->link().SendTerminalRelease(1);
  worker.peer->link().SendTerminalRead(1, 8);
  WaitFor("both answers", [&] { return worker.peer->seen().snapshots.size() == 2; });
  EXPECT_TRUE(worker.peer->seen().snapshots[0].known);
  EXPECT_FALSE(worker.peer->seen().snapshots[1].known);
  WaitForAllGone(pids);
  EXPECT_EQ(Of(worker, 1).states.size(), 1u) << "nothing is said of what is forgotten";
  EXPECT_TRUE(IsAlive(worker.peer->seen().hello->agent_pid));
  Finish(worker);
}

TEST_F(WorkerTerminalsEndTest, TheCommandDiesWithItsWorkerAndTheRestIsFoundByItsMark) {
  LaunchSpec spec = Spec({"echo"});
  Started worker = Start(spec);
  const std::vector<int64_t> pids = OpenStubborn(worker);
  kill(static_cast<pid_t>(worker.pid), SIGKILL);
  WaitForGone(pids.back());
  EXPECT_TRUE(Await(launcher_->KillLeftovers(spec.worker_id, worker.pid, worker.start_ticks,
                                             steady_clock::now() + kPatience)));
  EXPECT_EQ(Living(pids), 0u);
}

TEST_F(WorkerTerminalsEndTest, StopZeroTakesIt) {
  Started worker = StartVerb({"echo"});
  const std::vector<int64_t> pids = OpenStubborn(worker);
  worker.peer->link().SendStop(milliseconds(0));
  WaitForExit(worker);
  EXPECT_EQ(Living(pids), 0u);
  ExpectEnd(worker, 1, true, SIGKILL);
  EXPECT_EQ(worker.peer->seen().order.back(), LinkEvent(WorkerExit()).index());
  Finish(worker);
}

TEST_F(WorkerTerminalsEndTest, StopWithAGraceTakesItAndNoneIsStartedAnyMore) {
  Started worker = StartVerb({"stubborn"});
  WaitFor("the agent's tree", [&] { return worker.peer->seen().out.ends_with("ready\n"); });
  Open(worker, 2, Verb({"ends-on-term", "3"}));
  WaitForOutput(worker, 2, "ready\n");
  const std::vector<int64_t> pids = OpenStubborn(worker);
  worker.peer->link().SendStop(std::chrono::hours(1));
  Open(worker, 3, Command({"true"}));
  WaitForState(*worker.peer, 3);
  EXPECT_FALSE(Of(worker, 3).last().known);
  EXPECT_EQ(Of(worker, 3).last().start_errno, ECANCELED);
  EXPECT_NE(Of(worker, 3).last().start_error.find("the agent has ended"), std::string::npos);
  // The agent has an hour yet, its commands have their second.
  WaitForEnd(worker, 2);
  ExpectEnd(worker, 2, false, 3);
  WaitForEnd(worker, 1);
  WaitForAllGone(pids);
  EXPECT_TRUE(IsAlive(worker.peer->seen().hello->agent_pid));
  Finish(worker);
}

TEST_F(WorkerTerminalsEndTest, TheEndOfTheAgentTakesItAndIsToldLast) {
  LaunchSpec spec = Spec({"polite", "4"});
  Started worker = Start(spec);
  const std::vector<int64_t> pids = OpenStubborn(worker);
  Open(worker, 2, Shell("trap '' TERM; echo some; exec sleep 1000"));
  WaitForOutput(worker, 2, "some\n");
  kill(static_cast<pid_t>(worker.peer->seen().hello->agent_pid), SIGKILL);
  worker.peer->set_auto_ack(true);
  worker.peer->link().SendAck(worker.peer->seen().next());
  WaitForExit(worker);
  EXPECT_EQ(worker.peer->seen().exit->value, SIGKILL);
  EXPECT_EQ(Living(pids), 0u);
  EXPECT_EQ(MarkedProcesses(spec.worker_id), std::vector<int64_t>{worker.pid});
  for (uint64_t number : {1, 2}) ExpectEnd(worker, number, true, SIGKILL);
  EXPECT_EQ(worker.peer->seen().order.back(), LinkEvent(WorkerExit()).index());
  Finish(worker);
}

TEST_F(WorkerTerminalsEndTest, NobodyComes) {
  LaunchSpec spec = Spec({"echo"});
  spec.orphan_timeout_ms = 300;
  Started worker = Start(spec);
  const std::vector<int64_t> pids = OpenStubborn(worker);
  worker.peer->link().Close();
  WaitForGone(worker.pid);
  EXPECT_EQ(Living(pids), 0u);
  EXPECT_TRUE(MarkedProcesses(spec.worker_id).empty());
}

}  // namespace
}  // namespace acpd::acp
