#include "session/errors.h"

#include <array>
#include <charconv>

#include "absl/strings/cord.h"

namespace acpd::session {
namespace {

using absl::StatusCode;

constexpr std::string_view kReasonUrl = "acpd/reason";
constexpr std::string_view kSessionIdUrl = "acpd/session-id";
constexpr std::string_view kTurnIdUrl = "acpd/turn-id";
constexpr std::string_view kAgentCodeUrl = "acpd/agent-code";
constexpr std::string_view kAgentDataUrl = "acpd/agent-data";
constexpr std::string_view kRetryAfterUrl = "acpd/retry-after-ms";

struct ReasonRow {
  std::string_view reason;
  StatusCode code;
  bool retryable;  // the same request can succeed later without anybody changing something
};

constexpr std::array kReasons = {
    ReasonRow{"INVALID_PROJECT_ID", StatusCode::kInvalidArgument, false},
    ReasonRow{"INVALID_SESSION_ID", StatusCode::kInvalidArgument, false},
    ReasonRow{"INVALID_CURSOR", StatusCode::kInvalidArgument, false},
    ReasonRow{"INVALID_PAGE_TOKEN", StatusCode::kInvalidArgument, false},
    ReasonRow{"INVALID_ANSWER", StatusCode::kInvalidArgument, false},
    ReasonRow{"INVALID_REQUEST", StatusCode::kInvalidArgument, false},
    ReasonRow{"EMPTY_PROMPT", StatusCode::kInvalidArgument, false},
    ReasonRow{"UNSUPPORTED_CONTENT", StatusCode::kInvalidArgument, false},
    ReasonRow{"CWD_NOT_ALLOWED", StatusCode::kInvalidArgument, false},
    ReasonRow{"CWD_NOT_FOUND", StatusCode::kInvalidArgument, false},
    ReasonRow{"SCOPE_MISMATCH", StatusCode::kInvalidArgument, false},

    ReasonRow{"SESSION_NOT_FOUND", StatusCode::kNotFound, false},
    ReasonRow{"AGENT_NOT_FOUND", StatusCode::kNotFound, false},
    ReasonRow{"TURN_NOT_FOUND", StatusCode::kNotFound, false},
    ReasonRow{"QUESTION_NOT_FOUND", StatusCode::kNotFound, false},
    ReasonRow{"SESSION_NOT_RESUMABLE", StatusCode::kNotFound, false},

    // A busy session becomes free by itself.
    ReasonRow{"SESSION_BUSY", StatusCode::kFailedPrecondition, true},
    ReasonRow{"CWD_MISMATCH", StatusCode::kFailedPrecondition, false},
    ReasonRow{"AGENT_MISMATCH", StatusCode::kFailedPrecondition, false},
    ReasonRow{"AGENT_AUTH_REQUIRED", StatusCode::kFailedPrecondition, false},
    // The key is no part of a request's content: the same request that brings it is a new try.
    ReasonRow{"CREDENTIALS_NEEDED", StatusCode::kFailedPrecondition, true},
    ReasonRow{"NOT_SUPPORTED_BY_AGENT", StatusCode::kFailedPrecondition, false},
    ReasonRow{"ALREADY_ANSWERED", StatusCode::kFailedPrecondition, false},
    ReasonRow{"SESSION_REPLACED", StatusCode::kFailedPrecondition, false},
    // As it stands here: no such command, not executable. An agent that exited makes it
    // UNAVAILABLE.
    ReasonRow{"AGENT_START_FAILED", StatusCode::kFailedPrecondition, false},
    ReasonRow{"PROTOCOL_MISMATCH", StatusCode::kFailedPrecondition, false},
    ReasonRow{"RESUME_IGNORED", StatusCode::kFailedPrecondition, false},
    ReasonRow{"RESUME_UNSUPPORTED", StatusCode::kFailedPrecondition, false},

    ReasonRow{"REQUEST_ID_REUSED", StatusCode::kAlreadyExists, false},
    ReasonRow{"CURSOR_AHEAD", StatusCode::kOutOfRange, false},

    ReasonRow{"QUEUE_FULL", StatusCode::kResourceExhausted, true},
    ReasonRow{"TOO_MANY_WORKERS", StatusCode::kResourceExhausted, true},
    ReasonRow{"MESSAGE_TOO_LARGE", StatusCode::kResourceExhausted, false},

    ReasonRow{"START_TIMEOUT", StatusCode::kUnavailable, true},
    ReasonRow{"AGENT_EXITED", StatusCode::kUnavailable, true},
    ReasonRow{"WORKER_LOST", StatusCode::kUnavailable, true},
    ReasonRow{"RESUME_TIMEOUT", StatusCode::kUnavailable, true},
    ReasonRow{"RESUME_FAILED", StatusCode::kUnavailable, true},
    ReasonRow{"STORE_UNAVAILABLE", StatusCode::kUnavailable, true},
    ReasonRow{"SHUTTING_DOWN", StatusCode::kUnavailable, true},
    ReasonRow{"DRAINING", StatusCode::kUnavailable, true},
    // Of a prompt that was sent: nobody knows whether sending it again does good. As the status of
    // a call it means that the set-up failed and the prompt was not sent: then trying again costs
    // nothing.
    ReasonRow{"AGENT_ERROR", StatusCode::kUnavailable, false},

    // Only ever in TurnResult.error.
    ReasonRow{"TURN_TIMEOUT", StatusCode::kDeadlineExceeded, false},
    ReasonRow{"TURN_STALLED", StatusCode::kDeadlineExceeded, true},

    ReasonRow{"UNAUTHENTICATED", StatusCode::kUnauthenticated, false},
    ReasonRow{"PERMISSION_DENIED", StatusCode::kPermissionDenied, false},
    ReasonRow{"UNIMPLEMENTED", StatusCode::kUnimplemented, false},
    ReasonRow{"INTERNAL", StatusCode::kInternal, false},
};

const ReasonRow* FindReason(std::string_view reason) {
  for (const ReasonRow& row : kReasons) {
    if (row.reason == reason) return &row;
  }
  return nullptr;
}

StatusCode CodeOf(std::string_view reason) {
  const ReasonRow* row = FindReason(reason);
  return row ? row->code : StatusCode::kInternal;
}

// Debian's Abseil has a string_view of its own.
absl::string_view Abseil(std::string_view text) { return {text.data(), text.size()}; }

void SetPayload(absl::Status& status, std::string_view url, std::string_view value) {
  if (!value.empty()) status.SetPayload(Abseil(url), absl::Cord(Abseil(value)));
}

std::string PayloadOf(const absl::Status& status, std::string_view url) {
  const auto payload = status.GetPayload(Abseil(url));
  return payload ? std::string(*payload) : std::string();
}

int64_t NumberOf(const absl::Status& status, std::string_view url) {
  const std::string text = PayloadOf(status, url);
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

absl::Status MakeError(std::string_view reason, std::string_view message) {
  return MakeError(CodeOf(reason), reason, message);
}

absl::Status MakeError(absl::StatusCode code, std::string_view reason, std::string_view message) {
  absl::Status status(code, Abseil(message));
  SetPayload(status, kReasonUrl, reason);
  return status;
}

std::string ReasonOf(const absl::Status& status) { return PayloadOf(status, kReasonUrl); }

bool IsRetryable(std::string_view reason) {
  const ReasonRow* row = FindReason(reason);
  return row && row->retryable;
}

bool IsKnownReason(std::string_view reason) { return FindReason(reason) != nullptr; }

void AttachIds(absl::Status& status, std::string_view session_id, std::string_view turn_id) {
  SetPayload(status, kSessionIdUrl, session_id);
  SetPayload(status, kTurnIdUrl, turn_id);
}

std::string SessionIdOf(const absl::Status& status) { return PayloadOf(status, kSessionIdUrl); }

std::string TurnIdOf(const absl::Status& status) { return PayloadOf(status, kTurnIdUrl); }

void AttachRetryAfter(absl::Status& status, milliseconds time) {
  SetPayload(status, kRetryAfterUrl, std::to_string(time.count()));
}

Failure ToFailure(const absl::Status& status) {
  if (status.ok()) return {};
  Failure failure;
  failure.reason = ReasonOf(status);
  if (failure.reason.empty()) failure.reason = "INTERNAL";
  failure.message = std::string(status.message());
  failure.agent_code = static_cast<int32_t>(NumberOf(status, kAgentCodeUrl));
  failure.agent_data = PayloadOf(status, kAgentDataUrl);
  // One reason can have two statuses; the status then says more than the reason.
  failure.retryable = IsRetryable(failure.reason) || absl::IsUnavailable(status);
  failure.retry_after = milliseconds(NumberOf(status, kRetryAfterUrl));
  return failure;
}

absl::Status ToStatus(const Failure& failure) {
  if (failure.reason.empty()) return absl::OkStatus();
  // The way back of ToFailure: what can be tried again though its reason alone does not say so was
  // UNAVAILABLE.
  const bool unavailable = failure.retryable && !IsRetryable(failure.reason);
  absl::Status status = MakeError(unavailable ? StatusCode::kUnavailable : CodeOf(failure.reason),
                                  failure.reason, failure.message);
  if (failure.agent_code != 0) {
    SetPayload(status, kAgentCodeUrl, std::to_string(failure.agent_code));
  }
  SetPayload(status, kAgentDataUrl, failure.agent_data);
  if (failure.retry_after.count() > 0) {
    SetPayload(status, kRetryAfterUrl, std::to_string(failure.retry_after.count()));
  }
  return status;
}

}  // namespace acpd::session
