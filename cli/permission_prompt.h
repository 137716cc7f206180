#ifndef ACPD_CLI_PERMISSION_PROMPT_H_
#define ACPD_CLI_PERMISSION_PROMPT_H_

#include <optional>
#include <string>

#include "cli/connection.h"

namespace acpd::cli {

// Asks the person at the terminal which of a permission request's options it is to be, and sends
// the answer. Answers come from a terminal only: what stands in a pipe or a file was not written as
// an answer, nor was what was typed before the question.
class PermissionPrompt {
 public:
  PermissionPrompt(const Settings& settings, SessionService::Stub* stub)
      : settings_(settings), stub_(stub) {}

  // There is somebody to ask: stdin is a terminal, and acpctl is in its foreground.
  bool CanAsk() const;
  // One at a time.
  void Ask(const acpd::v1::ProgressEvent& question);
  bool asking() const { return question_.has_value(); }
  // Readable when something was typed; -1 while nothing is asked.
  int fd() const;
  void OnInput();
  // The question was answered otherwise; nothing happens when it is another one.
  void Withdraw(const acpd::v1::QuestionResolved& resolved);
  // Asks no longer.
  void Drop();

 private:
  void Answer(const std::string& line);
  std::string OptionFor(const std::string& line) const;

  Settings settings_;
  SessionService::Stub* stub_;
  bool closed_ = false;  // the terminal's end was reached
  std::string input_;    // not yet a whole line
  std::optional<acpd::v1::ProgressEvent> question_;
};

}  // namespace acpd::cli

#endif  // ACPD_CLI_PERMISSION_PROMPT_H_
