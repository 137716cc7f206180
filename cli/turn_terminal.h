#ifndef ACPD_CLI_TURN_TERMINAL_H_
#define ACPD_CLI_TURN_TERMINAL_H_

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cli/connection.h"
#include "cli/event_printer.h"

namespace acpd::cli {

// Follows one turn at a terminal: prints its events, asks its permissions at the prompt, and
// cancels the turn on Ctrl-C (a second Ctrl-C leaves at once). The stream is read by a thread of
// its own; everything else happens in Follow.
class TurnTerminal {
 public:
  TurnTerminal(const Settings& settings, SessionService::Stub* stub);
  ~TurnTerminal();

  // Runs ChatStream with `request` to its end. Returns the exit code.
  int Follow(const acpd::v1::ChatStreamRequest& request);

 private:
  struct Feed;  // what the reading thread hands over

  void Handle(const acpd::v1::ProgressEvent& event);
  void OnInterrupt();
  void OnInput();
  void Ask(const acpd::v1::ProgressEvent& event);
  void Answer(const std::string& line);

  Settings settings_;
  SessionService::Stub* stub_;
  EventPrinter printer_;
  grpc::ClientContext context_;
  int signals_ = -1;  // signalfd of SIGINT
  bool interactive_;  // stdin is a terminal
  bool input_open_ = true;
  std::string input_;  // of stdin, not yet a whole line
  int interrupts_ = 0;
  std::string session_id_, turn_id_;
  std::optional<acpd::v1::ProgressEvent> question_;  // open, and asked at the prompt
  std::optional<acpd::v1::TurnResult> result_;
  std::unique_ptr<grpc::ClientContext> cancel_context_;
  std::thread canceller_;  // runs the Cancel of a Ctrl-C
};

}  // namespace acpd::cli

#endif  // ACPD_CLI_TURN_TERMINAL_H_
