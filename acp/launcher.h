#ifndef ACPD_ACP_LAUNCHER_H_
#define ACPD_ACP_LAUNCHER_H_

#include <memory>
#include <string>
#include <vector>

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

  // Connects to a worker that an earlier acpd launched. The process that listens on `socket_path`
  // must be ours, `worker_pid` and of that start time; while its queue of connections is full this
  // tries again until `deadline`. Where no worker listens any more but one that gave up waiting has
  // left its spool, the link reads that as if the worker still sent it, and removes it at
  // SendAckExit. UNAVAILABLE with a sentence: there is neither, or another process listens there,
  // or the spool cannot be read (a torn one is found by Read).
  virtual awaitable<absl::StatusOr<std::unique_ptr<WorkerLink>>> Attach(std::string socket_path,
                                                                        std::string worker_id,
                                                                        int64_t worker_pid,
                                                                        uint64_t start_ticks,
                                                                        SteadyTime deadline) = 0;

  // Ends the workers in `folder` whose sockets the store does not know: attaches with `generation`,
  // kills the agent's tree and lets the worker leave, all of them at once. Removes sockets that
  // nobody listens on and spools, whole or unfinished, that no known worker left. Another user's
  // process is left alone. Returns at `deadline` at the latest; what is left then is for the next
  // start.
  virtual awaitable<void> EndStrays(std::string folder, std::vector<std::string> known_sockets,
                                    uint64_t generation, SteadyTime deadline) = 0;

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
