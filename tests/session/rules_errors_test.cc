#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include "session/errors.h"

namespace acpd::session {
namespace {

using absl::StatusCode;

struct Row {
  const char* reason;
  StatusCode code;
  bool retryable;
};

// The table of the design's chapter on errors, a second time and by hand.
constexpr Row kRows[] = {
    {"INVALID_PROJECT_ID", StatusCode::kInvalidArgument, false},
    {"INVALID_SESSION_ID", StatusCode::kInvalidArgument, false},
    {"INVALID_CURSOR", StatusCode::kInvalidArgument, false},
    {"INVALID_PAGE_TOKEN", StatusCode::kInvalidArgument, false},
    {"INVALID_ANSWER", StatusCode::kInvalidArgument, false},
    {"EMPTY_PROMPT", StatusCode::kInvalidArgument, false},
    {"UNSUPPORTED_CONTENT", StatusCode::kInvalidArgument, false},
    {"CWD_NOT_ALLOWED", StatusCode::kInvalidArgument, false},
    {"CWD_NOT_FOUND", StatusCode::kInvalidArgument, false},
    {"SCOPE_MISMATCH", StatusCode::kInvalidArgument, false},
    {"INVALID_REQUEST", StatusCode::kInvalidArgument, false},
    {"SESSION_NOT_FOUND", StatusCode::kNotFound, false},
    {"AGENT_NOT_FOUND", StatusCode::kNotFound, false},
    {"TURN_NOT_FOUND", StatusCode::kNotFound, false},
    {"QUESTION_NOT_FOUND", StatusCode::kNotFound, false},
    {"SESSION_NOT_RESUMABLE", StatusCode::kNotFound, false},
    {"SESSION_BUSY", StatusCode::kFailedPrecondition, true},
    {"CWD_MISMATCH", StatusCode::kFailedPrecondition, false},
    {"AGENT_MISMATCH", StatusCode::kFailedPrecondition, false},
    {"AGENT_AUTH_REQUIRED", StatusCode::kFailedPrecondition, false},
    {"CREDENTIALS_NEEDED", StatusCode::kFailedPrecondition, true},
    {"NOT_SUPPORTED_BY_AGENT", StatusCode::kFailedPrecondition, false},
    {"ALREADY_ANSWERED", StatusCode::kFailedPrecondition, false},
    {"SESSION_REPLACED", StatusCode::kFailedPrecondition, false},
    {"AGENT_START_FAILED", StatusCode::kFailedPrecondition, false},
    {"PROTOCOL_MISMATCH", StatusCode::kFailedPrecondition, false},
    {"RESUME_IGNORED", StatusCode::kFailedPrecondition, false},
    {"RESUME_UNSUPPORTED", StatusCode::kFailedPrecondition, false},
    {"REQUEST_ID_REUSED", StatusCode::kAlreadyExists, false},
    {"CURSOR_AHEAD", StatusCode::kOutOfRange, false},
    {"QUEUE_FULL", StatusCode::kResourceExhausted, true},
    {"TOO_MANY_WORKERS", StatusCode::kResourceExhausted, true},
    {"MESSAGE_TOO_LARGE", StatusCode::kResourceExhausted, false},
    {"START_TIMEOUT", StatusCode::kUnavailable, true},
    {"AGENT_EXITED", StatusCode::kUnavailable, true},
    {"WORKER_LOST", StatusCode::kUnavailable, true},
    {"RESUME_TIMEOUT", StatusCode::kUnavailable, true},
    {"RESUME_FAILED", StatusCode::kUnavailable, true},
    {"STORE_UNAVAILABLE", StatusCode::kUnavailable, true},
    {"SHUTTING_DOWN", StatusCode::kUnavailable, true},
    {"DRAINING", StatusCode::kUnavailable, true},
    {"AGENT_ERROR", StatusCode::kUnavailable, false},
    {"TURN_TIMEOUT", StatusCode::kDeadlineExceeded, false},
    {"TURN_STALLED", StatusCode::kDeadlineExceeded, true},
    {"UNAUTHENTICATED", StatusCode::kUnauthenticated, false},
    {"PERMISSION_DENIED", StatusCode::kPermissionDenied, false},
    {"UNIMPLEMENTED", StatusCode::kUnimplemented, false},
    {"INTERNAL", StatusCode::kInternal, false},
};

class ErrorTable : public testing::TestWithParam<Row> {};

TEST_P(ErrorTable, HasStatusReasonAndRetryability) {
  const Row& row = GetParam();
  const absl::Status status = MakeError(row.reason, "Do this.");
  EXPECT_EQ(status.code(), row.code);
  EXPECT_EQ(status.message(), "Do this.");
  EXPECT_EQ(ReasonOf(status), row.reason);
  EXPECT_EQ(IsRetryable(row.reason), row.retryable);
  EXPECT_TRUE(IsKnownReason(row.reason));
}

INSTANTIATE_TEST_SUITE_P(Reasons, ErrorTable, testing::ValuesIn(kRows),
                         [](const auto& info) { return std::string(info.param.reason); });

// The names of enum ErrorReason: lines of the form "  ERROR_REASON_NAME = 7;".
std::set<std::string> ReasonsOfProto() {
  std::ifstream file(ACPD_PROTO_FILE);
  EXPECT_TRUE(file.is_open()) << ACPD_PROTO_FILE;
  const std::string prefix = "  ERROR_REASON_";
  std::set<std::string> reasons;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(prefix)) continue;
    reasons.insert(line.substr(prefix.size(), line.find(" = ") - prefix.size()));
  }
  EXPECT_EQ(reasons.erase("UNSPECIFIED"), 1u);
  return reasons;
}

TEST(Errors, TableHasTheReasonsOfTheApiAndNoOthers) {
  std::set<std::string> reasons;
  for (const Row& row : kRows) reasons.insert(row.reason);
  EXPECT_EQ(ReasonsOfProto(), reasons);
}

TEST(Errors, UnknownReasonIsInternal) {
  EXPECT_EQ(MakeError("NO_SUCH_REASON", "x").code(), StatusCode::kInternal);
  EXPECT_EQ(ReasonOf(MakeError("NO_SUCH_REASON", "x")), "NO_SUCH_REASON");
  EXPECT_FALSE(IsKnownReason("NO_SUCH_REASON"));
  EXPECT_FALSE(IsKnownReason(""));
  EXPECT_FALSE(IsRetryable("NO_SUCH_REASON"));
}

TEST(Errors, ReasonOfAForeignStatusIsEmpty) {
  EXPECT_EQ(ReasonOf(absl::OkStatus()), "");
  EXPECT_EQ(ReasonOf(absl::InternalError("x")), "");
}

TEST(Errors, IdsTravelWithTheStatus) {
  absl::Status status = MakeError("SESSION_BUSY", "x");
  EXPECT_EQ(SessionIdOf(status), "");
  EXPECT_EQ(TurnIdOf(status), "");
  AttachIds(status, "s1", "");
  EXPECT_EQ(SessionIdOf(status), "s1");
  EXPECT_EQ(TurnIdOf(status), "");
  AttachIds(status, "s2", "t2");
  EXPECT_EQ(SessionIdOf(status), "s2");
  EXPECT_EQ(TurnIdOf(status), "t2");
  EXPECT_EQ(ReasonOf(status), "SESSION_BUSY");
}

TEST(Errors, FailureSurvivesTheWayThroughAStatus) {
  Failure failure;
  failure.reason = "AGENT_ERROR";
  failure.message = "It said no.";
  failure.agent_code = -32603;
  failure.agent_data = R"({"details":"no"})";
  failure.retryable = true;
  failure.retry_after = milliseconds(1500);
  EXPECT_EQ(ToFailure(ToStatus(failure)), failure);
}

TEST(Errors, StatusOfAFailure) {
  EXPECT_TRUE(ToStatus(Failure{}).ok());
  EXPECT_EQ(ToFailure(absl::OkStatus()), Failure{});
  EXPECT_EQ(ToFailure(absl::InternalError("odd")).reason, "INTERNAL");
  EXPECT_EQ(ToFailure(absl::InternalError("odd")).message, "odd");
}

TEST(Errors, AgentThatExitedAtItsStartCanBeTriedAgain) {
  const absl::Status exited =
      MakeError(StatusCode::kUnavailable, "AGENT_START_FAILED", "It exited with code 3.");
  const Failure failure = ToFailure(exited);
  EXPECT_TRUE(failure.retryable);
  EXPECT_EQ(ToStatus(failure).code(), StatusCode::kUnavailable);
  EXPECT_EQ(ReasonOf(ToStatus(failure)), "AGENT_START_FAILED");

  const Failure missing = ToFailure(MakeError("AGENT_START_FAILED", "No such command."));
  EXPECT_FALSE(missing.retryable);
  EXPECT_EQ(ToStatus(missing).code(), StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace acpd::session
