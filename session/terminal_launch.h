#ifndef ACPD_SESSION_TERMINAL_LAUNCH_H_
#define ACPD_SESSION_TERMINAL_LAUNCH_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "acp/agent_requests.h"
#include "acp/terminal_frames.h"

namespace acpd::session {

// What the commands of an agent's terminals are started with.
struct TerminalRules {
  std::vector<std::string> roots;                        // absolute; the first is the session's cwd
  std::vector<std::pair<std::string, std::string>> env;  // what the agent itself was started with
};

// The command of a terminal/create as the worker is to start it: in a folder whose real path lies
// below a root, with the agent's environment and what the request adds to it. Some agents send a
// whole line as `command` ("ls -l | wc", without args): where that is no program's name, the shell
// gets it. INVALID_ARGUMENT with a sentence for the agent. Blocking: call it on the pool.
absl::StatusOr<acp::TerminalSpec> PlanTerminal(const acp::CreateTerminalRequest& request,
                                               const TerminalRules& rules);

// The command as people are shown it, at most a few KiB.
std::string ShownCommand(const acp::CreateTerminalRequest& request);
// "SIGKILL"; of a number without a name "SIG64".
std::string SignalName(int number);

}  // namespace acpd::session

#endif  // ACPD_SESSION_TERMINAL_LAUNCH_H_
