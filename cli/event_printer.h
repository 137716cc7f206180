#ifndef ACPD_CLI_EVENT_PRINTER_H_
#define ACPD_CLI_EVENT_PRINTER_H_

#include <string>

#include "cli/connection.h"
#include "cli/tool_calls.h"

namespace acpd::cli {

// Shows events to a person: the agent's text on stdout as it comes, everything else as short lines
// on stderr, so that a pipe gets the text alone. With `json`: every event as one JSON object a line
// on stdout.
class EventPrinter {
 public:
  enum class Scope {
    kTurn,      // one turn, whose id is known
    kSession,   // lines about turns name them
    kSessions,  // and lines begin with the session's id, text whenever it is another session's
  };
  EventPrinter(const Settings& settings, Scope scope);

  void Print(const acpd::v1::ProgressEvent& event);
  // A question's options, and the command that answers it. Nothing with `json`.
  void PrintHowToAnswer(const acpd::v1::ProgressEvent& question);
  // Ends an unfinished line of text.
  void EndText();

 private:
  void PrintUpdate(const acpd::v1::ProgressEvent& event);
  void PrintQueued(const acpd::v1::ProgressEvent& event);
  void PrintEnd(const acpd::v1::ProgressEvent& event);
  void PrintPermission(const acpd::v1::ProgressEvent& event);
  void PrintText(const acpd::v1::ProgressEvent& event);
  void Line(const acpd::v1::ProgressEvent& event, const std::string& text);
  void PrintIfAny(const acpd::v1::ProgressEvent& event, const std::string& text);
  // "turn ID " where the turn is not known.
  std::string TurnWord(const acpd::v1::ProgressEvent& event) const;

  bool json_;
  bool at_terminal_;  // stdout is one: the agent's text does not command it
  Scope scope_;
  ToolCalls tool_calls_;
  std::string text_session_;  // whose text stands on stdout without a newline; empty: none
};

}  // namespace acpd::cli

#endif  // ACPD_CLI_EVENT_PRINTER_H_
