#ifndef ACPD_TESTS_ACP_WORKER_TERMINALS_FIXTURE_H_
#define ACPD_TESTS_ACP_WORKER_TERMINALS_FIXTURE_H_

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "worker_test_base.h"

namespace acpd::acp {

// A worker whose agent echoes, and commands beside it.
class WorkerTerminalsTest : public WorkerTest {
 protected:
  static constexpr uint64_t kLimit = 1 << 20;

  TerminalSpec Command(std::vector<std::string> argv) {
    TerminalSpec spec;
    spec.argv = std::move(argv);
    spec.env = {{"PATH", "/usr/bin:/bin"}};
    spec.cwd = folder_;
    return spec;
  }
  TerminalSpec Shell(const std::string& script) { return Command({"sh", "-c", script}); }
  // A verb of worker_test_agent.
  TerminalSpec Verb(std::vector<std::string> args) {
    args.insert(args.begin(), ACPD_WORKER_TEST_AGENT);
    return Command(std::move(args));
  }

  static void Open(Peer& peer, uint64_t number, TerminalSpec spec, uint64_t limit = kLimit) {
    peer.link().SendTerminalOpen({number, limit, std::move(spec)});
  }
  static void Open(Started& worker, uint64_t number, TerminalSpec spec, uint64_t limit = kLimit) {
    Open(*worker.peer, number, std::move(spec), limit);
  }
  // What has come of a terminal; empty before anything has.
  static Peer::Terminal Of(const Peer& peer, uint64_t number) {
    const auto found = peer.seen().terminals.find(number);
    return found == peer.seen().terminals.end() ? Peer::Terminal() : found->second;
  }
  static Peer::Terminal Of(const Started& worker, uint64_t number) {
    return Of(*worker.peer, number);
  }

  void WaitForState(Peer& peer, uint64_t number) {
    WaitFor("a state", [&] { return !Of(peer, number).states.empty(); });
  }
  void WaitForEnd(Peer& peer, uint64_t number) {
    WaitFor("the end of the command", [&] { return Of(peer, number).exited(); });
  }
  void WaitForEnd(Started& worker, uint64_t number) { WaitForEnd(*worker.peer, number); }
  void WaitForOutput(Started& worker, uint64_t number, const std::string& ending) {
    WaitFor(ending, [&] { return Of(worker, number).out.ends_with(ending); });
  }
  void ExpectEnd(const Started& worker, uint64_t number, bool signaled, int value) {
    const Peer::Terminal terminal = Of(worker, number);
    ASSERT_TRUE(terminal.exited());
    EXPECT_EQ(terminal.last().signaled, signaled);
    EXPECT_EQ(terminal.last().value, value);
    EXPECT_FALSE(terminal.overlap);
    EXPECT_FALSE(terminal.late);
  }

  TerminalSnapshot Read(Peer& peer, uint64_t number) {
    const size_t before = peer.seen().snapshots.size();
    peer.link().SendTerminalRead(number, ++last_tag_);
    WaitFor("a snapshot", [&] { return peer.seen().snapshots.size() > before; });
    const TerminalSnapshot snapshot = peer.seen().snapshots.back();
    EXPECT_EQ(snapshot.tag, last_tag_);
    EXPECT_EQ(snapshot.number, number);
    return snapshot;
  }
  TerminalSnapshot Read(Started& worker, uint64_t number) { return Read(*worker.peer, number); }

  // The pids that a tree of worker_test_agent has said, once it stands.
  std::vector<int64_t> TreeIn(const std::string& output) {
    std::vector<int64_t> pids;
    std::istringstream in(output);
    for (std::string line; std::getline(in, line);) {
      if (line != "ready") pids.push_back(std::stoll(line));
    }
    EXPECT_EQ(pids.size(), 4u);
    return pids;
  }
  std::vector<int64_t> TreeOf(Started& worker, uint64_t number) {
    WaitForOutput(worker, number, "ready\n");
    return TreeIn(Of(worker, number).out);
  }
  static size_t Living(const std::vector<int64_t>& pids) {
    size_t count = 0;
    for (int64_t pid : pids) count += IsAlive(pid);
    return count;
  }

 private:
  uint64_t last_tag_ = 100;
};

}  // namespace acpd::acp

#endif  // ACPD_TESTS_ACP_WORKER_TERMINALS_FIXTURE_H_
