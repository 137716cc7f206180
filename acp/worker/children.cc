#include "acp/worker/children.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

#include "acp/process_stat.h"

namespace acpd::worker {
namespace {

// For kernels that are built without /proc/PID/task/TID/children.
std::vector<pid_t> ChildrenByParent(pid_t self) {
  std::vector<pid_t> children;
  for (pid_t pid : acp::AllProcesses()) {
    auto stat = acp::ReadProcessStat(pid);
    if (stat && stat->parent == self) children.push_back(pid);
  }
  return children;
}

// A group may be signalled as a whole only when it cannot hold strangers: groups do not reach over
// sessions, and with a session of our own every group below us is made of our descendants.
bool OwnSession() { return getsid(0) == getpid(); }

}  // namespace

std::vector<pid_t> Children() {
  std::string self = std::to_string(getpid());
  std::string path = "/proc/self/task/" + self + "/children";
  static const bool has_file = access(path.c_str(), R_OK) == 0;
  if (!has_file) return ChildrenByParent(getpid());
  std::vector<pid_t> children;
  std::string text = acp::ReadProcFile(path);
  for (const char* at = text.c_str(); *at != '\0';) {
    char* end = nullptr;
    long pid = strtol(at, &end, 10);
    if (end == at) break;
    if (pid > 0) children.push_back(static_cast<pid_t>(pid));
    at = *end == ' ' ? end + 1 : end;
  }
  return children;
}

void SignalChildren(int signal) {
  const pid_t own_group = getpgrp();
  for (pid_t pid : Children()) {
    // The group first: a signal to a group cannot be outrun by forking.
    auto stat = acp::ReadProcessStat(pid);
    if (stat && OwnSession() && stat->group > 1 && stat->group != own_group) {
      kill(-stat->group, signal);
    }
    kill(pid, signal);
  }
}

}  // namespace acpd::worker
