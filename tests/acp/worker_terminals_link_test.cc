#include <unistd.h>

#include <algorithm>
#include <boost/asio/local/stream_protocol.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "acp/process_stat.h"
#include "acp/socket_link.h"
#include "worker_terminals_fixture.h"

// What acpd is told of terminals when it comes again, and when it is slow.
namespace acpd::acp {
namespace {

constexpr size_t kStateEvent = 5;  // its place in LinkEvent

class WorkerTerminalsLinkTest : public WorkerTerminalsTest {
 protected:
  // Lets a `read x <go` of the folder go on.
  void Go() { std::ofstream(folder_ + "/go") << "x\n"; }
  // A connection that is served, and from which nobody reads yet.
  std::unique_ptr<WorkerLink> Unread(const Started& worker, uint64_t generation) {
    asio::local::stream_protocol::socket socket(io_);
    socket.connect(asio::local::stream_protocol::endpoint(worker.socket));
    auto link = MakeWorkerLink(std::move(socket));
    link->SendAttach({generation, 0, 34u << 20});
    return link;
  }
  // A frame with half a number in it.
  static std::string Malformed(FrameType type) {
    const std::string whole = EncodeNumbered(type, 0);
    std::string frame = whole.substr(0, 5) + "1234";
    frame[0] = 5;
    return frame;
  }
  // What a process has written in its life.
  uint64_t Written(int64_t pid) {
    std::istringstream in(ReadProcFile("/proc/" + std::to_string(pid) + "/io"));
    for (std::string name; in >> name;) {
      uint64_t value = 0;
      in >> value;
      if (name == "wchar:") return value;
    }
    return 0;
  }
};

TEST_F(WorkerTerminalsLinkTest, WhoComesAgainIsToldTheStatesAndGoesOnWhereItWas) {
  Started worker = StartVerb({"echo"});
  Open(worker, 1, Shell("mkfifo go; echo first; read x <go; echo second; exit 3"));
  Open(worker, 2, Shell("echo done; exit 2"));
  WaitForOutput(worker, 1, "first\n");
  WaitForEnd(worker, 2);
  const TerminalState before = Of(worker, 1).last();
  worker.peer->Close();
  Go();

  auto second = Attach(worker.socket, 2, 0);
  WaitFor("the states", [&] { return second->seen().terminals.size() == 2; });
  ASSERT_GE(second->seen().order.size(), 3u);
  EXPECT_EQ(second->seen().order[0], 0u) << "HELLO comes first";
  EXPECT_EQ(second->seen().order[1], kStateEvent);
  EXPECT_EQ(second->seen().order[2], kStateEvent);
  EXPECT_EQ(Of(*second, 1).states[0].pid, before.pid);
  EXPECT_TRUE(Of(*second, 2).states[0].exited);
  EXPECT_EQ(Of(*second, 2).states[0].value, 2);
  EXPECT_EQ(Of(*second, 2).states[0].end, 5u);
  // Nothing is watched before it asks, not even by opening again.
  Open(*second, 1, Shell("echo again"));
  WaitForEnd(*second, 1);
  EXPECT_EQ(Of(*second, 1).out, "");
  EXPECT_EQ(Of(*second, 1).last().end, 13u);
  // Two ways there and back: what was due has been told.
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Read(*second, 1).end, 13u);
  const size_t states = Of(*second, 1).states.size();
  second->link().SendTerminalWatch(1, 6);
  WaitFor("the end once more", [&] { return Of(*second, 1).states.size() == states + 1; });
  EXPECT_EQ(Of(*second, 1).out, "second\n");
  EXPECT_EQ(Of(*second, 1).out_start, 6u);
  EXPECT_TRUE(Of(*second, 1).exited());
  EXPECT_EQ(Of(*second, 1).last().value, 3);
  // From beyond the end and from the start.
  second->link().SendTerminalWatch(2, 1000);
  WaitFor("the end of 2", [&] { return Of(*second, 2).states.size() == 2; });
  EXPECT_EQ(Of(*second, 2).out, "");
  second->link().SendTerminalWatch(2, 0);
  WaitFor("all of 2", [&] { return Of(*second, 2).states.size() == 3; });
  EXPECT_EQ(Of(*second, 2).out, "done\n");
  worker.peer = std::move(second);
  Finish(worker);
}

TEST_F(WorkerTerminalsLinkTest, AWatchThatGoesOnHasEveryByteOnce) {
  Started worker = StartVerb({"echo"});
  Open(worker, 1,
       Shell("i=0; while [ $i -lt 200 ]; do echo line $i; sleep 0.005; i=$((i+1)); done"));
  std::string all;
  for (int i = 0; i < 200; ++i) all += "line " + std::to_string(i) + "\n";
  std::string seen;
  uint64_t generation = 1;
  do {
    const size_t had = seen.size();
    WaitFor("more", [&] { return !Of(worker, 1).out.empty(); });
    const Peer::Terminal terminal = Of(worker, 1);
    EXPECT_EQ(terminal.out_start, had);
    EXPECT_FALSE(terminal.overlap);
    EXPECT_EQ(terminal.gaps, 0u);
    seen += terminal.out;
    worker.peer->Close();
    worker.peer = Attach(worker.socket, ++generation, 0);
    worker.peer->link().SendTerminalWatch(1, seen.size());
  } while (seen.size() < all.size() && !HasFailure());
  EXPECT_EQ(seen, all);
  EXPECT_GT(generation, 3u);
  Finish(worker);
}

TEST_F(WorkerTerminalsLinkTest, AWatchFromWhatIsNoLongerKeptBeginsAtTheFirstByteThatIs) {
  Started worker = StartVerb({"echo"});
  Open(worker, 1, Verb({"burst", "1000000"}), /*limit=*/1000);
  WaitForEnd(worker, 1);
  worker.peer->Close();
  auto second = Attach(worker.socket, 2, 0);
  second->link().SendTerminalWatch(1, 17);
  WaitFor("the end", [&] { return Of(*second, 1).states.size() == 2; });
  EXPECT_EQ(Of(*second, 1).out_start, 999'000u);
  EXPECT_TRUE(Of(*second, 1).out == BurstPattern(1'000'000).substr(999'000));
  worker.peer = std::move(second);
  Finish(worker);
}

TEST_F(WorkerTerminalsLinkTest, AFloodThatNobodyReadsCostsNoMoreThanTheLimit) {
  constexpr uint64_t kFlood = 200 << 20;
  Started worker = StartVerb({"echo"});
  worker.peer->Close();
  auto link = Unread(worker, 2);
  link->SendTerminalOpen({1, 1 << 20, Command({"yes"})});
  std::vector<int64_t> commands;
  WaitFor("the command", [&] {
    const std::string mark = worker.peer->seen().hello->spec.worker_id;
    commands = MarkedProcesses(mark);
    std::erase_if(commands, [&](int64_t pid) {
      return ReadProcFile("/proc/" + std::to_string(pid) + "/comm") != "yes\n";
    });
    return commands.size() == 1;
  });
  size_t most = 0;
  WaitFor("the flood", [&] {
    most = std::max(most, PrivateBytes(worker.pid));
    return Written(commands[0]) > kFlood;
  });
  // The limit, a chunk at each end of it, what waits to be sent, and what a worker is at rest.
  if (!kSanitized) {
    EXPECT_LT(most, size_t{3} << 20);
  }
  EXPECT_GT(most, size_t{1} << 20) << "the limit is kept";

  // Who reads at last is told what is still there, and that something is missing.
  worker.peer = std::make_unique<Peer>(io_.get_executor(), std::move(link));
  WaitFor("the new end", [&] { return Of(worker, 1).next > kFlood; });
  EXPECT_GT(Of(worker, 1).gaps, 0u);
  EXPECT_FALSE(Of(worker, 1).overlap);
  const TerminalSnapshot snapshot = Read(worker, 1);
  EXPECT_EQ(snapshot.bytes.size(), size_t{1} << 20);
  EXPECT_EQ(snapshot.end - snapshot.first_kept, uint64_t{1} << 20);
  EXPECT_FALSE(snapshot.exited);
  // Beside it the agent is heard.
  worker.peer->link().SendStdin(1, "still there?");
  WaitFor("the echo", [&] { return worker.peer->seen().out == "still there?\n"; });
  worker.peer->link().SendTerminalKill(1);
  WaitForEnd(worker, 1);
  ExpectEnd(worker, 1, true, SIGTERM);
  Finish(worker);
}

TEST_F(WorkerTerminalsLinkTest, MemoryGoesBackWithTheTerminal) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory counts";
  Started worker = StartVerb({"echo"});
  for (uint64_t number = 1; number <= 4; ++number) {
    Open(worker, number, Verb({"burst", std::to_string(5 << 20)}), 4 << 20);
  }
  for (uint64_t number = 1; number <= 4; ++number) WaitForEnd(worker, number);
  EXPECT_GT(PrivateBytes(worker.pid), size_t{16} << 20);
  for (uint64_t number = 1; number <= 4; ++number) worker.peer->link().SendTerminalRelease(number);
  WaitFor("the memory", [&] { return PrivateBytes(worker.pid) < size_t{1} << 20; });
  Finish(worker);
}

TEST_F(WorkerTerminalsLinkTest, ManySnapshotsAreAnsweredInTurnAndDoNotPileUp) {
  constexpr uint64_t kReads = 100;
  Started worker = StartVerb({"echo"});
  Open(worker, 1, Verb({"burst", std::to_string(2 << 20)}), 2 << 20);
  WaitForEnd(worker, 1);
  worker.peer->Close();
  auto link = Unread(worker, 2);
  for (uint64_t tag = 1; tag <= kReads; ++tag) link->SendTerminalRead(1, tag);
  link->SendTerminalOpen({2, 100, Shell("echo >made")});  // after all of them
  WaitFor("the other command", [&] { return std::filesystem::exists(folder_ + "/made"); });
  if (!kSanitized) {
    EXPECT_LT(PrivateBytes(worker.pid), size_t{8} << 20);
  }
  worker.peer = std::make_unique<Peer>(io_.get_executor(), std::move(link));
  WaitFor("all", [&] { return worker.peer->seen().snapshots.size() == kReads; });
  for (uint64_t i = 0; i < kReads; ++i) {
    EXPECT_EQ(worker.peer->seen().snapshots[i].tag, i + 1);
    EXPECT_EQ(worker.peer->seen().snapshots[i].bytes.size(), size_t{2} << 20);
  }
  WaitForEnd(worker, 2);
  ExpectEnd(worker, 2, false, 0);
  Finish(worker);
}

TEST_F(WorkerTerminalsLinkTest, AMalformedFrameEndsTheConnectionAndNothingElse) {
  Started worker = StartVerb({"echo"});
  Open(worker, 1, Command({"sleep", "1000"}));
  WaitForState(*worker.peer, 1);
  uint64_t generation = 1;
  for (FrameType type :
       {FrameType::kTerminalOpen, FrameType::kTerminalWatch, FrameType::kTerminalRead,
        FrameType::kTerminalKill, FrameType::kTerminalRelease}) {
    asio::local::stream_protocol::socket socket(io_);
    socket.connect(asio::local::stream_protocol::endpoint(worker.socket));
    const int raw = dup(socket.native_handle());
    Peer peer(io_.get_executor(), MakeWorkerLink(std::move(socket)));
    peer.link().SendAttach({++generation, 0, 1 << 20});
    WaitFor("HELLO", [&] { return peer.seen().hello.has_value(); });
    const std::string frame = Malformed(type);
    EXPECT_EQ(write(raw, frame.data(), frame.size()), static_cast<ssize_t>(frame.size()));
    close(raw);
    WaitFor("the end of the connection", [&] { return !peer.seen().end.ok(); });
  }
  worker.peer = Attach(worker.socket, ++generation, 0);
  WaitForState(*worker.peer, 1);
  EXPECT_TRUE(IsAlive(Of(worker, 1).last().pid));
  Finish(worker);
}

}  // namespace
}  // namespace acpd::acp
