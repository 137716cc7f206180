#ifndef ACPD_ACP_SPAWN_WORKER_H_
#define ACPD_ACP_SPAWN_WORKER_H_

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "acp/link_frames.h"

namespace acpd::acp {

struct SpawnedWorker {
  pid_t pid = 0;
  uint64_t start_ticks = 0;
};

// Starts `program` with `socket_path` as its argument and `spec` on fd 3: a session of its own, the
// signals as the system has them, the worker's mark and next to nothing else in its environment,
// stderr shared with ours. No fork of ours runs in the child (posix_spawn), and of our fds only
// those get there. The caller reaps it. Blocks: for the pool. Thread-safe.
absl::StatusOr<SpawnedWorker> SpawnWorker(const std::string& program,
                                          const std::string& socket_path, const LaunchSpec& spec);

}  // namespace acpd::acp

#endif  // ACPD_ACP_SPAWN_WORKER_H_
