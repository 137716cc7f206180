#ifndef ACPD_ACP_WORKER_CHILD_PROCESS_H_
#define ACPD_ACP_WORKER_CHILD_PROCESS_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "acp/byte_codec.h"
#include "acp/worker/posix.h"

// Starts the worker's children: its agent and the commands of terminals. Each has only fds 0, 1 and
// 2, all signals as the system has them, and SIGKILL from the kernel should the worker die first.
// Reaping them is AgentTree's. Loop thread only.
namespace acpd::worker {

// The name under which all that descends from the worker carries its id in the environment.
inline constexpr char kWorkerMark[] = "ACPD_WORKER_ID";
// And the one under which the command of a terminal, and what it starts, says whose it is.
inline constexpr char kTerminalMark[] = "ACPD_TERMINAL_ID";

struct ChildPlan {
  std::vector<std::string> argv;  // not empty; argv[0] is looked up in PATH of the environment
  acp::TextPairs env;             // the whole environment
  acp::TextPairs marks;           // set in it, whatever it says of them itself
  std::string cwd;                // empty: the worker's own
  int in = -1, out = -1, err = -1;
  bool own_session = false;  // else a process group of its own
};

struct StartFailure {
  int error = 0;    // errno; 0: the program runs
  std::string why;  // "cannot run foo: No such file or directory"
};

// A child that is on its way into its program.
struct ForkedChild {
  pid_t pid = 0;    // 0: there is none, and `failure` says why
  UniqueFd status;  // can be read as soon as it is known whether the program runs
  StartFailure failure;
};

struct Pipe {
  UniqueFd read_end, write_end;

  bool Open();  // false, with errno
};

ForkedChild ForkChild(const ChildPlan& plan);

// What has become of the start, by its `status`; nullopt when that is non-blocking and says nothing
// yet.
std::optional<StartFailure> ReadStartFailure(int status, const ChildPlan& plan);

// That no process could be made, for the reason in errno.
StartFailure NoProcess();

}  // namespace acpd::worker

#endif  // ACPD_ACP_WORKER_CHILD_PROCESS_H_
