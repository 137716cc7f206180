#ifndef ACPD_TESTS_CHAOS_PROCESSES_H_
#define ACPD_TESTS_CHAOS_PROCESSES_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace acpd::chaos {

// Finds and kills processes of one run: those whose environment holds the run's mark or whose
// command line names its folder. Thread-safe.
class Processes {
 public:
  Processes(std::string mark, std::string folder)
      : mark_(std::move(mark)), folder_(std::move(folder)) {}

  // The argument of agents that are not to be killed.
  static constexpr char kSpared[] = "--spared";

  // Those of this program that are not spared; workers of spared agents are spared too.
  std::vector<pid_t> Find(const std::string& program) const;
  // SIGKILL; false: it was no such process any more. A reused pid is never hit.
  bool Kill(pid_t pid, const std::string& program) const;

 private:
  bool IsOurs(pid_t pid, const std::string& program) const;

  std::string mark_;
  std::string folder_;
};

// Resident memory in KiB and open descriptors of a process; 0: there is no such process.
uint64_t ResidentKib(pid_t pid);
uint64_t OpenDescriptors(pid_t pid);

}  // namespace acpd::chaos

#endif  // ACPD_TESTS_CHAOS_PROCESSES_H_
