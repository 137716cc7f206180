#ifndef ACPD_ACP_PROCESS_MARKS_H_
#define ACPD_ACP_PROCESS_MARKS_H_

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "acp/asio.h"

namespace acpd::acp {

// The name under which a worker and all that descends from its agent carry the worker's id in their
// environment.
inline constexpr char kWorkerMark[] = "ACPD_WORKER_ID";

// Kills every process that carries the mark of `worker_id`, and process `worker_pid` if it started
// at `start_ticks` (pid 0: unknown), until none is left; true then, false when `deadline` came
// first. No other process is ever signalled: each is held by a pidfd before it is looked at, so
// that its pid cannot pass to another meanwhile; nor is the caller itself. An empty id marks
// nothing. Blocks: for the pool. Thread-safe.
bool KillMarked(const std::string& worker_id, pid_t worker_pid, uint64_t start_ticks,
                SteadyTime deadline);

}  // namespace acpd::acp

#endif  // ACPD_ACP_PROCESS_MARKS_H_
