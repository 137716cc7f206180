#ifndef ACPD_ACP_LAUNCHER_H_
#define ACPD_ACP_LAUNCHER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "acp/asio.h"
#include "acp/worker_link.h"

namespace acpd::acp {

struct LaunchedWorker {
  int64_t pid = 0;           // of acpd-worker
  uint64_t start_ticks = 0;  // field 22 of its /proc/PID/stat
  std::unique_ptr<WorkerLink> link;
};

// Starts acpd-worker processes. An interface, so that session/ can be tested without processes.
// Loop thread only.
class Launcher {
 public:
  virtual ~Launcher() = default;

  // Starts a worker that listens on `socket_path` (below runtime_dir) with `spec`, and connects to
  // it. The spawn itself is done on the blocking pool. Returns when connected (the first event of
  // the link is HELLO after SendAttach); UNAVAILABLE with a sentence when the worker cannot be
  // started or does not listen before `deadline`: it is killed then.
  virtual awaitable<absl::StatusOr<LaunchedWorker>> Launch(LaunchSpec spec, std::string socket_path,
                                                           SteadyTime deadline) = 0;

  // Kills what a dead or lost worker left: the process `worker_pid` if its start time is still
  // `start_ticks` (0: unknown pid), and every process whose environment holds
  // ACPD_WORKER_ID=worker_id, until none is left or `deadline` comes. Works on the blocking pool.
  // Returns true when nothing is left. It never signals a process without the mark or the start
  // time.
  virtual awaitable<bool> KillLeftovers(std::string worker_id, int64_t worker_pid,
                                        uint64_t start_ticks, SteadyTime deadline) = 0;
};

// The real one. `worker_program` is the path of acpd-worker; `pool` runs what blocks.
std::unique_ptr<Launcher> MakeLauncher(asio::any_io_executor loop, asio::thread_pool& pool,
                                       std::string worker_program);

}  // namespace acpd::acp

#endif  // ACPD_ACP_LAUNCHER_H_
