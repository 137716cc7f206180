#ifndef ACPD_SESSION_MANAGER_ERRORS_H_
#define ACPD_SESSION_MANAGER_ERRORS_H_

#include <string>

#include "absl/status/status.h"

namespace acpd::session {

// The errors that several of the manager's calls have.
absl::Status ShuttingDown();
absl::Status StoreLate();  // a commit or a look-up did not come in time
absl::Status NoSuchSession(const std::string& session_id);
absl::Status NoSuchTurn();

}  // namespace acpd::session

#endif  // ACPD_SESSION_MANAGER_ERRORS_H_
