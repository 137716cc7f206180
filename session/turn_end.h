#ifndef ACPD_SESSION_TURN_END_H_
#define ACPD_SESSION_TURN_END_H_

#include <optional>
#include <string>

#include "session/types.h"

namespace acpd::session {

// Everything that was seen of a turn by the time it ends.
struct TurnEvidence {
  bool prompt_sent = false;
  std::string limit;         // TURN_TIMEOUT, TURN_STALLED or MESSAGE_TOO_LARGE; empty: none struck
  bool cancel_sent = false;  // our cancel was sent before the end came (or the turn was cancelled
                             // before its start)
  std::string cancelled_by, cancel_reason;
  std::optional<std::string> stop_reason;  // the prompt's answer
  std::optional<Failure> agent_error;  // the prompt was answered with an error: code, message, data
  std::optional<std::string> exit_detail;  // the agent exited; what is known of it
  bool worker_lost = false;                // the worker or the host was lost
  std::optional<Failure> start_failure;    // it never started
};

// How a turn ends is decided here and nowhere else; the first row of the table that holds: a limit,
// our cancel, the answer, the exit. Fills outcome, stop_reason, error, prompt_sent, cancelled_by
// and cancel_reason; text and usage are the caller's.
TurnResult DecideTurnEnd(const TurnEvidence& evidence);

}  // namespace acpd::session

#endif  // ACPD_SESSION_TURN_END_H_
