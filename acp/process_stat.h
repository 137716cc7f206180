#ifndef ACPD_ACP_PROCESS_STAT_H_
#define ACPD_ACP_PROCESS_STAT_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// What /proc says of processes. Plain C++ without libraries, since the worker is built from it too.
// Thread-safe.
namespace acpd::acp {

struct ProcessStat {
  char state = '?';  // 'Z': a zombie
  pid_t parent = 0;
  pid_t group = 0;
  uint64_t start_ticks = 0;  // since boot: with the pid it names one process for ever
};

// Of one process; nullopt when it is gone.
std::optional<ProcessStat> ReadProcessStat(pid_t pid);

// The whole of a file of /proc; empty when it cannot be read.
std::string ReadProcFile(const std::string& path);

// The pids of all processes.
std::vector<pid_t> AllProcesses();

}  // namespace acpd::acp

#endif  // ACPD_ACP_PROCESS_STAT_H_
