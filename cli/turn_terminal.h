#ifndef ACPD_CLI_TURN_TERMINAL_H_
#define ACPD_CLI_TURN_TERMINAL_H_

#include <future>
#include <memory>
#include <optional>
#include <string>

#include "cli/connection.h"
#include "cli/event_printer.h"
#include "cli/interrupts.h"
#include "cli/open_questions.h"
#include "cli/question_prompt.h"

namespace acpd::cli {

// Follows one turn at a terminal: prints its events, asks its questions at the prompt, and
// cancels the turn on Ctrl-C, be it pressed before the turn has its id (a second Ctrl-C leaves at
// once). Everything but the reading of the stream and the Cancel happens in Follow.
class TurnTerminal {
 public:
  // `interrupts` is older than `stub`, see there.
  TurnTerminal(const Settings& settings, Interrupts* interrupts, SessionService::Stub* stub);
  ~TurnTerminal();

  // Runs ChatStream with `request` to its end. Returns the exit code.
  int Follow(const acpd::v1::ChatStreamRequest& request);

 private:
  void Handle(const acpd::v1::ProgressEvent& event);
  void AskNext();
  void OnInterrupt();
  void CancelTurn();
  int ExitCode(const grpc::Status& status) const;

  Settings settings_;
  Interrupts* interrupts_;
  SessionService::Stub* stub_;
  EventPrinter printer_;
  OpenQuestions questions_;
  QuestionPrompt prompt_;
  grpc::ClientContext context_;
  bool cancelling_ = false;  // Ctrl-C was pressed
  bool leaving_ = false;     // twice
  std::string turn_id_;      // empty: not accepted yet
  std::string session_id_;   // with it
  uint64_t position_ = 0;    // seen so far
  std::optional<acpd::v1::TurnResult> result_;
  std::unique_ptr<grpc::ClientContext> cancel_context_;
  std::future<void> cancel_;  // the Cancel of a Ctrl-C
};

}  // namespace acpd::cli

#endif  // ACPD_CLI_TURN_TERMINAL_H_
