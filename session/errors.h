#ifndef ACPD_SESSION_ERRORS_H_
#define ACPD_SESSION_ERRORS_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "session/types.h"

// Errors across folders are absl::Status with a stable reason code as payload; server/ turns them
// into gRPC statuses with the trailer `acpd-reason`. One table says which status each reason has
// and whether trying again can help.
namespace acpd::session {

// The reason codes are the names of ErrorReason in proto/acpd/v1 without their prefix, e.g.
// "SESSION_NOT_FOUND". `message`: one sentence that says what to do. The status code comes from the
// table; an unknown reason is INTERNAL.
absl::Status MakeError(std::string_view reason, std::string_view message);
// The same with another status than the table's (AGENT_START_FAILED is UNAVAILABLE when the agent
// exited).
absl::Status MakeError(absl::StatusCode code, std::string_view reason, std::string_view message);
// "" for a status without one.
std::string ReasonOf(const absl::Status& status);
bool IsRetryable(std::string_view reason);
bool IsKnownReason(std::string_view reason);

// Ids that belong to an error travel with it, into the trailers acpd-session-id and acpd-turn-id.
void AttachIds(absl::Status& status, std::string_view session_id, std::string_view turn_id);
std::string SessionIdOf(const absl::Status& status);
std::string TurnIdOf(const absl::Status& status);

// When trying again can help; it travels as grpc-retry-pushback-ms and Failure.retry_after.
void AttachRetryAfter(absl::Status& status, milliseconds time);

Failure ToFailure(const absl::Status& status);
absl::Status ToStatus(const Failure& failure);

}  // namespace acpd::session

#endif  // ACPD_SESSION_ERRORS_H_
