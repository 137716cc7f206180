#include "acp/worker/descendants.h"

#include <unistd.h>

#include "acp/worker/child_process.h"

namespace acpd::worker {
namespace {

std::string TerminalOf(pid_t pid) {
  // Entries end in NUL; a leading one makes the first an entry like the others.
  const std::string environment =
      '\0' + acp::ReadProcFile("/proc/" + std::to_string(pid) + "/environ");
  const std::string name = '\0' + std::string(kTerminalMark) + "=";
  const size_t at = environment.find(name);
  return at == std::string::npos ? "" : environment.c_str() + at + name.size();
}

}  // namespace

const Descendants::Map& Descendants::Get() {
  if (known_) return map_;
  known_ = true;
  map_.clear();
  for (pid_t pid : acp::AllProcesses()) {
    if (auto stat = acp::ReadProcessStat(pid)) map_[pid].stat = *stat;
  }
  std::erase_if(
      map_, [all = map_](const auto& entry) { return !DescendsFrom(all, entry.first, getpid()); });
  for (auto& [pid, descendant] : map_) descendant.terminal = TerminalOf(pid);
  return map_;
}

bool DescendsFrom(const Descendants::Map& descendants, pid_t pid, pid_t ancestor) {
  // Read one by one, what was read may even hold a circle.
  for (size_t steps = 0; steps < descendants.size(); ++steps) {
    const auto at = descendants.find(pid);
    if (at == descendants.end() || at->second.stat.parent <= 1) return false;
    pid = at->second.stat.parent;
    if (pid == ancestor) return true;
  }
  return false;
}

}  // namespace acpd::worker
