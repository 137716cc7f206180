#ifndef ACPD_CLI_QUESTION_PROMPT_H_
#define ACPD_CLI_QUESTION_PROMPT_H_

#include <optional>
#include <string>

#include "cli/connection.h"
#include "cli/question_forms.h"

namespace acpd::cli {

// Asks the person at the terminal what the agent wants to know, and sends the answer: which of a
// permission request's options it is to be, a form (see QuestionForm), or whether a page was
// opened. Answers come from a terminal only: what stands in a pipe or a file was not written as an
// answer, nor was what was typed before the question.
class QuestionPrompt {
 public:
  QuestionPrompt(const Settings& settings, SessionService::Stub* stub)
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
  void AskPermission();
  void AskForm();
  void AskPage();
  // Which agent asks: that is not in the question.
  std::string AgentName();
  void TakeLine(const std::string& line);
  void TakeOption(const std::string& line);
  void TakeFormLine(const std::string& line);
  void TakePage(const std::string& line);
  std::string OptionFor(const std::string& line) const;
  // Sends `respond` with the question's ids filled in. A refused answer is asked for again, a few
  // times.
  void Send(acpd::v1::RespondRequest respond);
  void AskAgain(const std::string& refusal);
  void LeaveOpen();

  Settings settings_;
  SessionService::Stub* stub_;
  std::string agent_;    // see AgentName
  bool closed_ = false;  // the terminal's end was reached
  std::string input_;    // not yet a whole line
  std::optional<acpd::v1::ProgressEvent> question_;
  std::optional<QuestionForm> form_;  // of a question with one
  int refusals_ = 0;                  // of answers to the question
};

}  // namespace acpd::cli

#endif  // ACPD_CLI_QUESTION_PROMPT_H_
