#ifndef ACPD_TESTS_CLI_ACPCTL_H_
#define ACPD_TESTS_CLI_ACPCTL_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/cli/terminal.h"
#include "tests/e2e/harness/e2e_test.h"
#include "tests/e2e/harness/process.h"

namespace acpd::cli {

namespace api = ::acpd::v1;
using e2e::ExitStatus;
using e2e::json;
using e2e::Scripted;

struct AcpctlOptions {
  std::map<std::string, std::string> env = {};  // added to ACPD_ADDRESS
  const Terminal* terminal = nullptr;           // its stdin
  int stdin_fd = -1;                            // without a terminal; -1: /dev/null
  std::string stdout_file = {};                 // empty: one of its own, see Out
};

// A running acpctl. Killed when it goes out of scope.
class Acpctl {
 public:
  // Its output goes to `base`.out and `base`.err.
  Acpctl(const std::string& base, const std::string& address, std::vector<std::string> args,
         const AcpctlOptions& options);

  std::string Out() const { return e2e::ReadFile(base_ + ".out"); }
  std::string Err() const { return e2e::ReadFile(base_ + ".err"); }
  // Until the text stands there; false: it did not come in time.
  bool WaitForOut(const std::string& text) const;
  bool WaitForErr(const std::string& text) const;
  // What stands behind `label` on stderr, up to the next space or newline; empty: it did not come.
  std::string WordAfter(const std::string& label) const;
  // {-1, SIGKILL}: it did not end in time.
  ExitStatus Wait();
  pid_t pid() const { return process_->pid(); }

 private:
  std::string base_;
  std::unique_ptr<e2e::Process> process_;
};

class CliTest : public e2e::E2eTest {
 protected:
  std::unique_ptr<Acpctl> Start(std::vector<std::string> args, const AcpctlOptions& options = {});
  // At the terminal.
  std::unique_ptr<Acpctl> StartAt(const Terminal& terminal, std::vector<std::string> args);
  // Runs it to its end and expects that exit code.
  std::unique_ptr<Acpctl> Run(int exit_code, std::vector<std::string> args,
                              const AcpctlOptions& options = {});

  // The turn that this `acpctl chat` has told of.
  api::Turn TurnOf(const Acpctl& chat);
  bool WaitForState(const std::string& turn_id, api::TurnState state);

 private:
  int runs_ = 0;
};

inline ExitStatus Exited(int code) { return {code, 0}; }
// A prompt for the fake agent: it asks for a permission, with options `yes` (allow_once) and `no`
// (reject_once), and says the chosen kind.
std::string AskingPrompt();
// The lines of a text, without their ends.
std::vector<std::string> LinesOf(const std::string& text);

}  // namespace acpd::cli

#endif  // ACPD_TESTS_CLI_ACPCTL_H_
