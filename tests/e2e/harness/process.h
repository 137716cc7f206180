#ifndef ACPD_TESTS_E2E_HARNESS_PROCESS_H_
#define ACPD_TESTS_E2E_HARNESS_PROCESS_H_

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/e2e/harness/wait.h"

namespace acpd::e2e {

// How a process ended.
struct ExitStatus {
  int code = -1;   // -1: it was ended by a signal
  int signal = 0;  // 0: it exited
  bool operator==(const ExitStatus&) const = default;
};

// A program of the build, by name: all of them lie in the folder of the running test.
std::string ProgramPath(const std::string& name);

// A child process of the test. Not thread-safe. Killed and reaped when it goes out of scope.
class Process {
 public:
  struct Options {
    std::string program;  // a path
    std::vector<std::string> args;
    std::map<std::string, std::string> env;  // added to the test's own; nothing else is changed
    int stdin_fd = -1;                       // -1: /dev/null
    int stdout_fd = -1;                      // -1: the test's own
    std::string stderr_file;                 // appended to; empty: the test's own
    // A terminal's path: stdin of the child, which leads a session of its own in it. SIGINT is as
    // it is there, even where the tests run in the background.
    std::string terminal = {};
  };
  // Throws std::runtime_error when it cannot be started. The child gets no other descriptor than 0,
  // 1 and 2.
  explicit Process(const Options& options);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  // Nothing happens once it was reaped.
  void Signal(int number);
  // Reaps it; nullopt: it was still running at the end of `patience`.
  std::optional<ExitStatus> Wait(milliseconds patience = kPatience);

 private:
  bool Reap();

  pid_t pid_ = -1;
  std::optional<ExitStatus> status_;
};

}  // namespace acpd::e2e

#endif  // ACPD_TESTS_E2E_HARNESS_PROCESS_H_
