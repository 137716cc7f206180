#include "session/manager_errors.h"

#include "session/errors.h"

namespace acpd::session {

absl::Status ShuttingDown() {
  return MakeError("SHUTTING_DOWN", "acpd is stopping; send the call again when it is back.");
}

absl::Status StoreLate() {
  return MakeError(absl::StatusCode::kUnavailable, "STORE_UNAVAILABLE",
                   "The store did not answer in time; look at the disk of state_dir. GetTurn by "
                   "request_id tells whether a "
                   "turn was accepted.");
}

absl::Status NoSuchSession(const std::string& session_id) {
  return MakeError("SESSION_NOT_FOUND", "There is no session \"" + session_id +
                                            "\"; ListSessions shows those that exist.");
}

absl::Status NoSuchTurn() {
  return MakeError("TURN_NOT_FOUND", "There is no such turn; ListTurns shows those that exist.");
}

}  // namespace acpd::session
