#ifndef ACPD_ACP_WORKER_CHILDREN_H_
#define ACPD_ACP_WORKER_CHILDREN_H_

#include <sys/types.h>

#include <vector>

// The worker's own children: those it started and those it inherited as the subreaper. Loop thread
// only.
namespace acpd::worker {

std::vector<pid_t> Children();

// Sends `signal` to every child and to the group it is in.
void SignalChildren(int signal);

}  // namespace acpd::worker

#endif  // ACPD_ACP_WORKER_CHILDREN_H_
