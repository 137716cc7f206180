#include <filesystem>

#include "worker_test_base.h"

namespace acpd::acp {
namespace {

class WorkerRelayTest : public WorkerTest {};

TEST_F(WorkerRelayTest, LinesGoThroughTheAgentAndBack) {
  Started worker = StartVerb({"echo"});
  const Hello& hello = *worker.peer->seen().hello;
  EXPECT_TRUE(IsAlive(hello.agent_pid));
  EXPECT_GT(hello.agent_start_ticks, 0u);
  EXPECT_EQ(hello.start_error, "");
  EXPECT_FALSE(hello.agent_exited);
  EXPECT_EQ(hello.first_kept_offset, 0u);
  EXPECT_EQ(hello.last_stdin_done, 0u);
  EXPECT_EQ(hello.spec.argv.back(), "echo");
  EXPECT_EQ(hello.spec.cwd, folder_);

  worker.peer->link().SendStdin(1, "one");
  worker.peer->link().SendStdin(2, "");
  worker.peer->link().SendStdin(3, "three");
  WaitFor("the echo", [&] { return worker.peer->seen().out == "one\n\nthree\n"; });
  EXPECT_EQ(worker.peer->seen().done, (std::vector<uint64_t>{1, 2, 3}));
  Finish(worker);
  EXPECT_EQ(worker.peer->seen().exit->end_offset, 11u);
}

TEST_F(WorkerRelayTest, HugeLinesBothWays) {
  Started worker = StartVerb({"echo"});
  worker.peer->set_auto_ack(true);
  std::string line = BurstPattern(32 << 20);
  worker.peer->link().SendStdin(1, line);
  WaitFor("32 MiB back", [&] { return worker.peer->seen().out.size() == line.size() + 1; });
  EXPECT_TRUE(worker.peer->seen().out == line + "\n");
  EXPECT_EQ(worker.peer->seen().done, std::vector<uint64_t>{1});
  EXPECT_LE(worker.peer->seen().longest_chunk, 256u << 10);
  EXPECT_FALSE(worker.peer->seen().gap);
  Finish(worker);
}

TEST_F(WorkerRelayTest, AFullWindowStopsTheAgentAndAckLetsItGoOn) {
  constexpr size_t kWindow = 100'000, kSize = 1'000'000;
  Started worker = Start(Spec({"burst-when-told", std::to_string(kSize)}), kWindow);
  worker.peer->link().SendStdin(1, "go");
  WaitFor("a full window", [&] { return worker.peer->seen().out.size() == kWindow; });
  // The agent is blocked; the worker serves us all the same, and does not send what it must not
  // keep.
  worker.peer->link().SendStdin(2, "to the blocked agent");
  WaitFor("STDIN_DONE", [&] { return worker.peer->seen().done.size() == 2; });
  EXPECT_EQ(worker.peer->seen().out.size(), kWindow);
  worker.peer->link().SendAck(1);
  WaitFor("one more byte", [&] { return worker.peer->seen().out.size() > kWindow; });
  EXPECT_EQ(worker.peer->seen().out.size(), kWindow + 1);
  worker.peer->set_auto_ack(true);
  worker.peer->link().SendAck(kWindow + 1);
  std::string expected = BurstPattern(kSize) + "to the blocked agent\n";
  WaitFor("the rest", [&] { return worker.peer->seen().out.size() == expected.size(); });
  EXPECT_TRUE(worker.peer->seen().out == expected);
  Finish(worker);
}

TEST_F(WorkerRelayTest, AnAgentThatNeverReadsDoesNotDelayAckAndStop) {
  constexpr size_t kWindow = 10'000;
  Started worker = Start(Spec({"deaf", "1000000"}), kWindow);
  worker.peer->link().SendStdin(1, "go");
  WaitFor("a full window", [&] { return worker.peer->seen().out.size() == kWindow; });
  worker.peer->link().SendStdin(2, std::string(8 << 20, 'x'));
  worker.peer->link().SendAck(kWindow);
  WaitFor("the effect of ACK", [&] { return worker.peer->seen().out.size() == 2 * kWindow; });
  const auto before = std::chrono::steady_clock::now();
  worker.peer->link().SendStop(milliseconds(0));
  worker.peer->set_auto_ack(true);
  worker.peer->link().SendAck(2 * kWindow);
  WaitForExit(worker);
  EXPECT_LT(std::chrono::steady_clock::now() - before, milliseconds(kSanitized ? 8000 : 1000));
  EXPECT_EQ(worker.peer->seen().done.size(), 1u);
  Finish(worker);
}

TEST_F(WorkerRelayTest, AnAgentThatClosedItsStdinIsNoTrouble) {
  Started worker = StartVerb({"close-stdin"});
  WaitFor("its line", [&] { return worker.peer->seen().out == "ready\n"; });
  worker.peer->link().SendStdin(1, "nobody reads this");
  auto second = Attach(worker.socket, 2, 6);
  WaitFor("HELLO", [&] { return second->seen().hello.has_value(); });
  EXPECT_EQ(second->seen().hello->last_stdin_done, 0u);
  worker.peer = std::move(second);
  Finish(worker);
}

TEST_F(WorkerRelayTest, MuchStderrBlocksNothingAndItsTailIsKept) {
  Started worker = StartVerb({"noise", std::to_string(8 << 20)});
  WaitFor("the agent after its noise", [&] { return worker.peer->seen().out == "noise made\n"; });
  EXPECT_FALSE(worker.peer->seen().err.empty());
  Finish(worker);
  const std::string& tail = worker.peer->seen().exit->stderr_tail;
  EXPECT_EQ(tail.size(), 64u << 10);
  EXPECT_TRUE(
      tail.ends_with("eee"
                     "the last words\n"));
}

TEST_F(WorkerRelayTest, StderrIsDrainedWhileNobodyReadsTheLink) {
  LaunchSpec spec = Spec({});
  spec.argv = {"/bin/sh", "-c",
               "head -c 8000000 /dev/zero >&2; echo end >&2; touch made; exec cat"};
  const std::string socket = folder_ + "/s";
  absl::StatusOr<LaunchedWorker> launched =
      Await(launcher_->Launch(spec, socket, std::chrono::steady_clock::now() + kPatience));
  ASSERT_TRUE(launched.ok()) << launched.status();
  launched->link->SendAttach({1, 0, 1 << 20});
  // Attached and never read: the relay of stderr must not hold the agent up.
  WaitFor("the agent after its noise",
          [this] { return std::filesystem::exists(folder_ + "/made"); });
  Started worker{socket, launched->pid, launched->start_ticks, Attach(socket, 2, 0)};
  Finish(worker);
  const std::string& tail = worker.peer->seen().exit->stderr_tail;
  EXPECT_EQ(tail.size(), 64u << 10);
  EXPECT_TRUE(tail.ends_with(std::string("\0end\n", 5)));
}

}  // namespace
}  // namespace acpd::acp
