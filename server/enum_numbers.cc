#include "acpd/v1/session_service.pb.h"
#include "session/types.h"

// The enums of session/types.h have the numbers of the API, so that server/convert.cc and
// server/requests.cc are casts. Nothing but the compiler looks at this file.
namespace acpd {
namespace {

#define ACPD_SAME(domain, proto) \
  static_assert(static_cast<int>(session::domain) == static_cast<int>(v1::proto))
ACPD_SAME(TurnState::kUnspecified, TURN_STATE_UNSPECIFIED);
ACPD_SAME(TurnState::kQueued, TURN_STATE_QUEUED);
ACPD_SAME(TurnState::kStarting, TURN_STATE_STARTING);
ACPD_SAME(TurnState::kRunning, TURN_STATE_RUNNING);
ACPD_SAME(TurnState::kWaiting, TURN_STATE_WAITING);
ACPD_SAME(TurnState::kCancelling, TURN_STATE_CANCELLING);
ACPD_SAME(TurnState::kEnded, TURN_STATE_ENDED);
ACPD_SAME(Outcome::kCompleted, TurnResult::OUTCOME_COMPLETED);
ACPD_SAME(Outcome::kTruncated, TurnResult::OUTCOME_TRUNCATED);
ACPD_SAME(Outcome::kRefused, TurnResult::OUTCOME_REFUSED);
ACPD_SAME(Outcome::kCancelled, TurnResult::OUTCOME_CANCELLED);
ACPD_SAME(Outcome::kFailed, TurnResult::OUTCOME_FAILED);
ACPD_SAME(Outcome::kInterrupted, TurnResult::OUTCOME_INTERRUPTED);
ACPD_SAME(CancelOutcome::kCancelled, CancelResponse::OUTCOME_CANCELLED);
ACPD_SAME(CancelOutcome::kNotStarted, CancelResponse::OUTCOME_NOT_STARTED);
ACPD_SAME(CancelOutcome::kForced, CancelResponse::OUTCOME_FORCED);
ACPD_SAME(CancelOutcome::kNothingRunning, CancelResponse::OUTCOME_NOTHING_RUNNING);
ACPD_SAME(CancelOutcome::kAlreadyEnded, CancelResponse::OUTCOME_ALREADY_ENDED);
ACPD_SAME(CancelOutcome::kPending, CancelResponse::OUTCOME_PENDING);
ACPD_SAME(OriginKind::kNew, SessionOrigin::KIND_NEW);
ACPD_SAME(OriginKind::kLive, SessionOrigin::KIND_LIVE);
ACPD_SAME(OriginKind::kResumed, SessionOrigin::KIND_RESUMED);
ACPD_SAME(OriginKind::kFallback, SessionOrigin::KIND_FALLBACK);
ACPD_SAME(OriginKind::kForked, SessionOrigin::KIND_FORKED);
ACPD_SAME(ResumeMethod::kMeta, SessionOrigin::METHOD_META);
ACPD_SAME(ResumeMethod::kSessionResume, SessionOrigin::METHOD_SESSION_RESUME);
ACPD_SAME(ResumeMethod::kSessionLoad, SessionOrigin::METHOD_SESSION_LOAD);
ACPD_SAME(ResumeMode::kFallbackToNew, ResumePolicy::MODE_FALLBACK_TO_NEW);
ACPD_SAME(ResumeMode::kFallbackWithTranscript, ResumePolicy::MODE_FALLBACK_WITH_TRANSCRIPT);
ACPD_SAME(ResumeMode::kRequire, ResumePolicy::MODE_REQUIRE);
ACPD_SAME(BusyPolicy::kQueue, BUSY_POLICY_QUEUE);
ACPD_SAME(BusyPolicy::kReject, BUSY_POLICY_REJECT);
ACPD_SAME(BusyPolicy::kInterrupt, BUSY_POLICY_INTERRUPT);
ACPD_SAME(WaitFor::kAccepted, WAIT_FOR_ACCEPTED);
ACPD_SAME(WaitFor::kStarted, WAIT_FOR_STARTED);
ACPD_SAME(WaitFor::kFinished, WAIT_FOR_FINISHED);
ACPD_SAME(PermissionMode::kAsk, PERMISSION_MODE_ASK);
ACPD_SAME(PermissionMode::kAllow, PERMISSION_MODE_ALLOW);
ACPD_SAME(PermissionMode::kDeny, PERMISSION_MODE_DENY);
ACPD_SAME(OptionKind::kAllowOnce, PERMISSION_OPTION_KIND_ALLOW_ONCE);
ACPD_SAME(OptionKind::kAllowAlways, PERMISSION_OPTION_KIND_ALLOW_ALWAYS);
ACPD_SAME(OptionKind::kRejectOnce, PERMISSION_OPTION_KIND_REJECT_ONCE);
ACPD_SAME(OptionKind::kRejectAlways, PERMISSION_OPTION_KIND_REJECT_ALWAYS);
ACPD_SAME(SessionState::kStarting, Session::STATE_STARTING);
ACPD_SAME(SessionState::kIdle, Session::STATE_IDLE);
ACPD_SAME(SessionState::kBusy, Session::STATE_BUSY);
ACPD_SAME(SessionState::kDormant, Session::STATE_DORMANT);
ACPD_SAME(SessionState::kReplaced, Session::STATE_REPLACED);
ACPD_SAME(SessionState::kWaiting, Session::STATE_WAITING);
ACPD_SAME(QuestionOutcome::kSelected, QuestionResolved::OUTCOME_SELECTED);
ACPD_SAME(QuestionOutcome::kCancelled, QuestionResolved::OUTCOME_CANCELLED);
ACPD_SAME(QuestionOutcome::kAccepted, QuestionResolved::OUTCOME_ACCEPTED);
ACPD_SAME(QuestionOutcome::kDeclined, QuestionResolved::OUTCOME_DECLINED);
ACPD_SAME(ResolvedBy::kCaller, QuestionResolved::BY_CALLER);
ACPD_SAME(ResolvedBy::kPolicy, QuestionResolved::BY_POLICY);
ACPD_SAME(ResolvedBy::kTimeout, QuestionResolved::BY_TIMEOUT);
ACPD_SAME(ResolvedBy::kCancel, QuestionResolved::BY_CANCEL);
ACPD_SAME(ResolvedBy::kAgent, QuestionResolved::BY_AGENT);
ACPD_SAME(ResolvedBy::kExit, QuestionResolved::BY_EXIT);
ACPD_SAME(ResolvedBy::kTurnEnd, QuestionResolved::BY_TURN_END);
ACPD_SAME(CloseReason::kCaller, SessionClosed::REASON_CALLER);
ACPD_SAME(CloseReason::kIdle, SessionClosed::REASON_IDLE);
ACPD_SAME(CloseReason::kLimit, SessionClosed::REASON_LIMIT);
ACPD_SAME(CloseReason::kShutdown, SessionClosed::REASON_SHUTDOWN);
ACPD_SAME(Severity::kInfo, Notice::SEVERITY_INFO);
ACPD_SAME(Severity::kWarning, Notice::SEVERITY_WARNING);
ACPD_SAME(Severity::kError, Notice::SEVERITY_ERROR);
#undef ACPD_SAME

}  // namespace
}  // namespace acpd
