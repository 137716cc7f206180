#include "session/manager_errors.h"

#include "session/errors.h"

namespace acpd::session {

absl::Status ShuttingDown() {
  return MakeError("SHUTTING_DOWN", "acpd is stopping; send the call again when it is back.");
}

absl::Status ShuttingDownWith(const std::string& what_is_kept, const std::string& session_id,
                              const std::string& turn_id) {
  absl::Status status = MakeError("SHUTTING_DOWN", "acpd is stopping; " + what_is_kept);
  AttachIds(status, session_id, turn_id);
  return status;
}

absl::Status OfSession(absl::Status status, const std::string& session_id) {
  if (!status.ok() && SessionIdOf(status).empty()) AttachIds(status, session_id, "");
  return status;
}

absl::Status StoreRefused(const absl::Status& why) {
  return MakeError(absl::StatusCode::kUnavailable, "STORE_UNAVAILABLE",
                   "The store refused the turn (" + std::string(why.message()) +
                       "): it was not accepted. Look at the disk of state_dir and at acpd's log, "
                       "then send the call again.");
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
