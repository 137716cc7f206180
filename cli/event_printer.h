#ifndef ACPD_CLI_EVENT_PRINTER_H_
#define ACPD_CLI_EVENT_PRINTER_H_

#include <string>

#include "cli/connection.h"

namespace acpd::cli {

// Shows events to a person: the agent's text on stdout as it comes, everything else as short lines
// on stderr, so that a pipe gets the text alone. With `json`: every event as one JSON object a line
// on stdout.
class EventPrinter {
 public:
  // `with_session`: lines begin with the session's id (when several are watched).
  EventPrinter(bool json, bool with_session) : json_(json), with_session_(with_session) {}

  void Print(const acpd::v1::ProgressEvent& event);
  // Ends an unfinished line of text.
  void EndText();

 private:
  void PrintUpdate(const acpd::v1::ProgressEvent& event);
  void Line(const acpd::v1::ProgressEvent& event, const std::string& text);

  bool json_;
  bool with_session_;
  bool in_text_ = false;  // the last thing on stdout was text without a newline
};

// "completed", "failed: AGENT_ERROR: ..." and the like.
std::string DescribeResult(const acpd::v1::TurnResult& result);
int ExitCodeFor(const acpd::v1::TurnResult& result);

}  // namespace acpd::cli

#endif  // ACPD_CLI_EVENT_PRINTER_H_
