#ifndef ACPD_TESTS_E2E_HARNESS_LEFTOVERS_H_
#define ACPD_TESTS_E2E_HARNESS_LEFTOVERS_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "tests/e2e/harness/wait.h"

namespace acpd::e2e {

// Finds what a test left behind. A process is the test's when its environment holds
// ACPD_TEST_MARK=<mark> or its command line names the test's folder; the test itself is not looked
// at.
class Leftovers {
 public:
  static constexpr char kMarkName[] = "ACPD_TEST_MARK";

  // A mark that no other test has.
  static std::string NewMark();

  Leftovers(std::string mark, std::string folder)
      : mark_(std::move(mark)), folder_(std::move(folder)) {}

  // The living processes of the test, as "PID command line".
  std::vector<std::string> Processes() const;
  // Waits until there is none; what there still is.
  std::vector<std::string> WaitForNone(milliseconds patience = kPatience) const;
  // Kills what is left, so that a failed test does not disturb the next one.
  void Kill() const;

 private:
  std::vector<pid_t> Pids() const;

  std::string mark_;
  std::string folder_;
};

// The children of `parent` that are dead and were not reaped.
std::vector<pid_t> ZombiesOf(pid_t parent);
// Whether there is such a process and it is no zombie.
bool IsAlive(pid_t pid);

}  // namespace acpd::e2e

#endif  // ACPD_TESTS_E2E_HARNESS_LEFTOVERS_H_
