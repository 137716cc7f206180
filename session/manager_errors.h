#ifndef ACPD_SESSION_MANAGER_ERRORS_H_
#define ACPD_SESSION_MANAGER_ERRORS_H_

#include <string>

#include "absl/status/status.h"

namespace acpd::session {

// The errors that several of the manager's calls have.
absl::Status ShuttingDown();  // of a call that has changed nothing
// Of a call whose turn was accepted and is kept: sending it again could run it twice.
absl::Status ShuttingDownWith(const std::string& what_is_kept, const std::string& session_id,
                              const std::string& turn_id);
absl::Status StoreLate();  // a commit or a look-up did not come in time
absl::Status StoreRefused(const absl::Status& why);
// `status` with the id, unless it has one.
absl::Status OfSession(absl::Status status, const std::string& session_id);
absl::Status NoSuchSession(const std::string& session_id);
absl::Status NoSuchTurn();

}  // namespace acpd::session

#endif  // ACPD_SESSION_MANAGER_ERRORS_H_
