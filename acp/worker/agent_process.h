#ifndef ACPD_ACP_WORKER_AGENT_PROCESS_H_
#define ACPD_ACP_WORKER_AGENT_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "acp/link_frames.h"
#include "acp/worker/posix.h"

namespace acpd::worker {

// A started agent, or why there is none. Our ends of its pipes are non-blocking. Loop thread only;
// owned by Worker. Reaping it is AgentTree's.
struct AgentProcess {
  pid_t pid = 0;
  uint64_t start_ticks = 0;
  UniqueFd in, out, err;
  int start_errno = 0;  // not 0: it was not started
  std::string start_error;
};

// Starts the agent of `spec` (child_process.h): a process group of its own, the environment of the
// spec and the worker's mark.
AgentProcess StartAgent(const acp::LaunchSpec& spec);

}  // namespace acpd::worker

#endif  // ACPD_ACP_WORKER_AGENT_PROCESS_H_
