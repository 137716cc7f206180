#ifndef ACPD_TESTS_ACP_WORKER_TEST_BASE_H_
#define ACPD_TESTS_ACP_WORKER_TEST_BASE_H_

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "acp/launcher.h"
#include "acp/link_frames.h"
#include "acp/worker_link.h"

namespace acpd::acp {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// Reads a link to its end and records what came, as acpd would. Held by the test.
class Peer {
 public:
  Peer(asio::any_io_executor loop, std::unique_ptr<WorkerLink> link);
  ~Peer();

  WorkerLink& link() { return *link_; }
  void Close();

  // What came of one terminal.
  struct Terminal {
    std::vector<TerminalState> states;
    std::vector<size_t> frames;  // sizes
    std::string out;             // what came of the output, one behind the other
    uint64_t out_start = 0;      // offset of its first byte
    uint64_t next = 0;           // offset after its last byte
    size_t gaps = 0;             // bytes that were left out
    bool overlap = false;        // a byte came twice
    bool late = false;           // output came behind the state that says "exited"

    const TerminalState& last() const { return states.back(); }
    bool exited() const { return !states.empty() && states.back().exited; }
  };
  struct Record {
    std::optional<Hello> hello;
    std::map<uint64_t, Terminal> terminals;
    std::vector<TerminalSnapshot> snapshots;
    std::vector<size_t> order;  // of all that came but stdout: its place in LinkEvent
    std::string out;            // stdout from out_start on
    uint64_t out_start = 0;     // offset of its first byte
    uint64_t last_offset = 0;   // of the last chunk
    size_t longest_chunk = 0;
    bool gap = false;  // a chunk did not follow the one before
    std::string err;
    std::vector<uint64_t> done;
    std::optional<WorkerExit> exit;
    absl::Status end;  // what Read ended with

    uint64_t next() const { return out_start + out.size(); }
    std::vector<std::string> Lines() const;
  };
  const Record& seen() const { return *record_; }
  void set_auto_ack(bool on) { *auto_ack_ = on; }

 private:
  std::unique_ptr<WorkerLink> link_;
  std::shared_ptr<Record> record_ = std::make_shared<Record>();
  std::shared_ptr<bool> auto_ack_ = std::make_shared<bool>(false);
};

// A folder, a loop, a pool and a launcher; after the test every worker must be gone and no zombie
// be left.
class WorkerTest : public testing::Test {
 protected:
  static constexpr milliseconds kPatience{kSanitized ? 60000 : 20000};

  WorkerTest();
  ~WorkerTest() override;

  struct Started {
    std::string socket;
    int64_t pid = 0;
    uint64_t start_ticks = 0;
    std::unique_ptr<Peer> peer;
  };

  // The spec of worker_test_agent with `args`.
  LaunchSpec Spec(std::vector<std::string> args);
  absl::StatusOr<Started> TryStart(LaunchSpec spec);
  // Starts it and attaches from 0 with generation 1.
  Started Start(LaunchSpec spec, uint64_t window = 34u << 20);
  Started StartVerb(std::vector<std::string> args) { return Start(Spec(std::move(args))); }
  // A further connection to a worker.
  std::unique_ptr<Peer> Connect(const std::string& socket);
  std::unique_ptr<Peer> Attach(const std::string& socket, uint64_t generation, uint64_t from,
                               uint64_t window = 34u << 20);

  // Runs the loop until `condition` holds. False, with a test failure, when it does not in time.
  bool WaitFor(const std::string& what, const std::function<bool()>& condition);
  bool WaitForGone(int64_t pid);
  bool WaitForExit(Started& worker);
  // STOP(0), waits for EXIT, acknowledges it, and waits until the worker has left.
  void Finish(Started& worker);

  template <typename T>
  T Await(awaitable<T> work);

  std::string folder_;
  std::string program_;
  asio::io_context io_{1};
  asio::thread_pool pool_{4};
  std::unique_ptr<Launcher> launcher_;
  int next_socket_ = 0;
};

template <typename T>
T WorkerTest::Await(awaitable<T> work) {
  auto result = std::make_shared<std::optional<T>>();
  asio::co_spawn(io_, std::move(work), [result](std::exception_ptr error, T value) {
    if (!error) *result = std::move(value);
  });
  WaitFor("a coroutine to end", [result] { return result->has_value(); });
  return std::move(**result);
}

bool IsAlive(int64_t pid);  // a zombie is not
// Memory of a process that no other one shares.
size_t PrivateBytes(int64_t pid);
// The bytes that worker_test_agent's burst writes.
std::string BurstPattern(size_t size);
// Those that carry the mark of a worker in their environment.
std::vector<int64_t> MarkedProcesses(const std::string& worker_id);
// Children of this process that have ended and were not reaped, and those that live.
std::vector<int64_t> OwnChildren();

}  // namespace acpd::acp

#endif  // ACPD_TESTS_ACP_WORKER_TEST_BASE_H_
