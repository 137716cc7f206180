#include <signal.h>

#include <algorithm>

#include "worker_test_base.h"

namespace acpd::acp {
namespace {

using std::chrono::steady_clock;

// What "well under a second" is on a loaded machine, and under a sanitizer.
constexpr milliseconds kSoon{kSanitized ? 8000 : 1000};

class WorkerStopTest : public WorkerTest {
 protected:
  // Waits until the agent has said that its tree stands, and returns the pids that it said.
  std::vector<int64_t> TreeOf(Started& worker) {
    WaitFor("the tree", [&] { return worker.peer->seen().out.ends_with("ready\n"); });
    std::vector<int64_t> pids;
    for (const std::string& line : worker.peer->seen().Lines()) {
      if (line != "ready") pids.push_back(std::stoll(line));
    }
    return pids;
  }
  void ExpectGone(const std::vector<int64_t>& pids) {
    EXPECT_FALSE(pids.empty());
    for (int64_t pid : pids) EXPECT_FALSE(IsAlive(pid)) << pid;
  }
  void ExpectExit(const Started& worker, bool signaled, int value) {
    ASSERT_TRUE(worker.peer->seen().exit.has_value());
    EXPECT_EQ(worker.peer->seen().exit->signaled, signaled);
    EXPECT_EQ(worker.peer->seen().exit->value, value);
    EXPECT_EQ(worker.peer->seen().exit->end_offset, worker.peer->seen().next());
  }
  milliseconds Since(steady_clock::time_point start) {
    return std::chrono::duration_cast<milliseconds>(steady_clock::now() - start);
  }
};

TEST_F(WorkerStopTest, AnAgentThatExitsIsToldAtOnceWithCodeOutputAndStderr) {
  const auto before = steady_clock::now();
  Started worker = StartVerb({"exit", "3"});
  WaitForExit(worker);
  EXPECT_LT(Since(before), kSoon);
  ExpectExit(worker, false, 3);
  EXPECT_EQ(worker.peer->seen().out, "bye\n");
  EXPECT_EQ(worker.peer->seen().exit->stderr_tail, "why it left\n");
  Finish(worker);
}

TEST_F(WorkerStopTest, ASignalIsToldFromAnExitCode) {
  Started killed = StartVerb({"die", "9"});
  WaitForExit(killed);
  ExpectExit(killed, true, SIGKILL);
  Started crashed = StartVerb({"die", "11"});
  WaitForExit(crashed);
  ExpectExit(crashed, true, SIGSEGV);
  Started left = StartVerb({"exit", "9"});
  WaitForExit(left);
  ExpectExit(left, false, 9);
  for (Started* worker : {&killed, &crashed, &left}) Finish(*worker);
}

TEST_F(WorkerStopTest, ExitIsToldAgainToWhoeverComesUntilItIsAcknowledged) {
  Started worker = StartVerb({"exit", "5"});
  WaitForExit(worker);
  worker.peer->Close();
  auto second = Attach(worker.socket, 2, 0);
  WaitFor("EXIT again", [&] { return second->seen().exit.has_value(); });
  EXPECT_TRUE(second->seen().hello->agent_exited);
  EXPECT_EQ(second->seen().out, "bye\n");
  EXPECT_EQ(second->seen().exit->value, 5);
  worker.peer = std::move(second);
  Finish(worker);
}

TEST_F(WorkerStopTest, AllOutputComesBeforeExitAlsoThroughASmallWindow) {
  LaunchSpec spec = Spec({});
  spec.argv = {"/bin/sh", "-c", "head -c 40000 /dev/zero; exit 4"};
  Started worker = Start(spec, /*window=*/1000);
  worker.peer->set_auto_ack(true);
  worker.peer->link().SendAck(worker.peer->seen().next());
  WaitForExit(worker);
  EXPECT_EQ(worker.peer->seen().out, std::string(40000, '\0'));
  ExpectExit(worker, false, 4);
  Finish(worker);
}

TEST_F(WorkerStopTest, TheTreeOfAnAgentThatExitedIsKilled) {
  Started worker = StartVerb({"leave-tree", "7"});
  std::vector<int64_t> pids = TreeOf(worker);
  EXPECT_EQ(pids.size(), 4u);
  const auto before = steady_clock::now();
  WaitForExit(worker);
  EXPECT_LT(Since(before), kSoon);
  ExpectExit(worker, false, 7);
  ExpectGone(pids);
  Finish(worker);
}

TEST_F(WorkerStopTest, APoliteAgentLeavesAtTheEndOfItsInput) {
  Started worker = StartVerb({"polite", "0"});
  TreeOf(worker);
  const auto before = steady_clock::now();
  worker.peer->link().SendStop(kPatience);
  WaitForExit(worker);
  EXPECT_LT(Since(before), kSoon);
  ExpectExit(worker, false, 0);
  Finish(worker);
}

TEST_F(WorkerStopTest, OneThatIgnoresTheEndOfItsInputGetsSigtermAfterTheGrace) {
  constexpr milliseconds kGrace{200};
  Started worker = StartVerb({"ends-on-term", "11"});
  TreeOf(worker);
  const auto before = steady_clock::now();
  worker.peer->link().SendStop(kGrace);
  WaitForExit(worker);
  EXPECT_GE(Since(before), kGrace);
  EXPECT_LT(Since(before), kGrace + kSoon);
  ExpectExit(worker, false, 11);
  Finish(worker);
}

TEST_F(WorkerStopTest, OneThatIgnoresAllOfItGetsSigkillAndSoDoesItsTree) {
  constexpr milliseconds kGrace{150};
  Started worker = StartVerb({"stubborn"});
  std::vector<int64_t> pids = TreeOf(worker);
  EXPECT_EQ(pids.size(), 4u);
  const auto before = steady_clock::now();
  worker.peer->link().SendStop(kGrace);
  WaitForExit(worker);
  EXPECT_GE(Since(before), 2 * kGrace);
  EXPECT_LT(Since(before), 2 * kGrace + kSoon);
  ExpectExit(worker, true, SIGKILL);
  ExpectGone(pids);
  Finish(worker);
}

TEST_F(WorkerStopTest, WhatAPoliteAgentLeavesBehindIsKilledToo) {
  Started worker = StartVerb({"polite-tree"});
  std::vector<int64_t> pids = TreeOf(worker);
  worker.peer->link().SendStop(milliseconds(300));
  WaitForExit(worker);
  ExpectExit(worker, false, 0);
  ExpectGone(pids);
  Finish(worker);
}

TEST_F(WorkerStopTest, StopZeroKillsTheTreeAtOnce) {
  Started worker = StartVerb({"stubborn"});
  std::vector<int64_t> pids = TreeOf(worker);
  const auto before = steady_clock::now();
  worker.peer->link().SendStop(milliseconds(0));
  WaitForExit(worker);
  EXPECT_LT(Since(before), kSoon);
  ExpectExit(worker, true, SIGKILL);
  ExpectGone(pids);
  Finish(worker);
}

TEST_F(WorkerStopTest, AShorterGraceOvertakesALongerOne) {
  Started worker = StartVerb({"stubborn"});
  std::vector<int64_t> pids = TreeOf(worker);
  const auto before = steady_clock::now();
  worker.peer->link().SendStop(std::chrono::hours(1));
  worker.peer->link().SendStop(milliseconds(100));
  worker.peer->link().SendStop(std::chrono::hours(1));
  WaitForExit(worker);
  EXPECT_LT(Since(before), milliseconds(200) + kSoon);
  ExpectGone(pids);
  Finish(worker);

  Started other = StartVerb({"stubborn"});
  TreeOf(other);
  other.peer->link().SendStop(std::chrono::hours(1));
  other.peer->link().SendStop(milliseconds(0));
  WaitForExit(other);
  Finish(other);
}

TEST_F(WorkerStopTest, AnAgentThatClosesItsStdoutCountsAsExited) {
  Started worker = StartVerb({"close-stdout"});
  const auto before = steady_clock::now();
  WaitForExit(worker);
  EXPECT_LT(Since(before), kSoon);
  EXPECT_EQ(worker.peer->seen().out, "closing\n");
  ExpectExit(worker, true, SIGKILL);
  Finish(worker);
}

TEST_F(WorkerStopTest, AForkingTreeIsOutrun) {
  LaunchSpec spec = Spec({});
  spec.argv = {"/bin/sh", "-c",
               "f() { (trap '' TERM; sleep 0.01; f) & }; trap '' TERM; f; f; echo ready; cat"};
  Started worker = Start(spec);
  WaitFor("the tree", [&] { return worker.peer->seen().out == "ready\n"; });
  EXPECT_GT(MarkedProcesses(spec.worker_id).size(), 2u);
  worker.peer->link().SendStop(milliseconds(0));
  WaitForExit(worker);
  EXPECT_EQ(MarkedProcesses(spec.worker_id), std::vector<int64_t>{worker.pid});
  Finish(worker);
}

TEST_F(WorkerStopTest, TwentyStopTogetherInTheTimeOfOne) {
  constexpr int kWorkers = 20;
  constexpr milliseconds kGrace{500};
  std::vector<Started> workers;
  std::vector<int64_t> pids;
  for (int i = 0; i < kWorkers; ++i) workers.push_back(StartVerb({"stubborn"}));
  for (Started& worker : workers) {
    for (int64_t pid : TreeOf(worker)) pids.push_back(pid);
  }
  EXPECT_EQ(pids.size(), 4u * kWorkers);
  const auto before = steady_clock::now();
  for (Started& worker : workers) worker.peer->link().SendStop(kGrace);
  for (Started& worker : workers) WaitForExit(worker);
  // One takes two graces; twenty one after the other would take forty.
  EXPECT_LT(Since(before), 2 * kGrace + 2 * kSoon);
  ExpectGone(pids);
  for (Started& worker : workers) Finish(worker);
}

}  // namespace
}  // namespace acpd::acp
