#include "session/turn_end.h"

#include <string_view>
#include <utility>

#include "session/errors.h"

namespace acpd::session {
namespace {

struct StopReasonRow {
  std::string_view word;
  Outcome outcome;
};

// https://agentclientprotocol.com/protocol/prompt-turn#stop-reasons. What is not here is an end all
// the same: COMPLETED.
constexpr StopReasonRow kStopReasons[] = {
    {"end_turn", Outcome::kCompleted},          {"max_tokens", Outcome::kTruncated},
    {"max_turn_requests", Outcome::kTruncated}, {"refusal", Outcome::kRefused},
    {"cancelled", Outcome::kCancelled},
};

Outcome OutcomeOf(std::string_view stop_reason) {
  for (const StopReasonRow& row : kStopReasons) {
    if (row.word == stop_reason) return row.outcome;
  }
  return Outcome::kCompleted;
}

struct LimitRow {
  std::string_view reason;
  std::string_view message;
};

constexpr LimitRow kLimits[] = {
    {"TURN_TIMEOUT",
     "The turn ran longer than its turn_timeout and was ended; what it did so far stands in the "
     "events. Ask for less in one turn or raise turn_timeout."},
    {"TURN_STALLED",
     "The agent said nothing for too long (turn_stall) and the turn was ended; look at the agent's "
     "stderr and its model provider, then send the prompt again."},
    {"MESSAGE_TOO_LARGE",
     "The agent's answer to the prompt was longer than limits.max_line and was thrown away; ask "
     "for "
     "less output or raise limits.max_line."},
};

Failure MakeFailure(std::string_view reason, std::string message) {
  Failure failure;
  failure.reason = reason;
  failure.message = std::move(message);
  failure.retryable = IsRetryable(reason);
  return failure;
}

Failure LimitFailure(const std::string& reason) {
  for (const LimitRow& row : kLimits) {
    if (row.reason == reason) return MakeFailure(reason, std::string(row.message));
  }
  return MakeFailure(reason, "The turn hit the limit " + reason + " and was ended.");
}

Failure AgentFailure(const Failure& said) {
  std::string message = "The agent answered the prompt with an error";
  if (said.agent_code != 0) message += " (code " + std::to_string(said.agent_code) + ")";
  // A login that it wants is said with what to do.
  const bool plain = said.reason.empty();
  Failure failure = plain ? MakeFailure("AGENT_ERROR", message + ": " + said.message)
                          : MakeFailure(said.reason, said.message);
  failure.agent_code = said.agent_code;
  failure.agent_data = said.agent_data;
  return failure;
}

Failure ExitFailure(const std::string& detail) {
  std::string message = "The agent exited before it had answered the prompt";
  if (!detail.empty()) message += ": " + detail;
  return MakeFailure("AGENT_EXITED", std::move(message));
}

Failure LostFailure() {
  return MakeFailure(
      "WORKER_LOST",
      "The agent's worker was lost (a crash of it, of acpd or of the host) before the "
      "end of the turn was seen; the next Chat resumes the session.");
}

void FillCancelled(const TurnEvidence& evidence, TurnResult& result) {
  result.outcome = Outcome::kCancelled;
  result.cancelled_by = evidence.cancelled_by;
  result.cancel_reason = evidence.cancel_reason;
  // The agent's own words are kept beside the outcome; they do not change it.
  if (evidence.agent_error) result.error = AgentFailure(*evidence.agent_error);
}

void FillStopped(const TurnEvidence& evidence, TurnResult& result) {
  result.outcome = OutcomeOf(*evidence.stop_reason);
  // `cancelled` without a cancel of ours: some agents end so when a permission is refused, others
  // when a person stops them in a window of their own. The turn did not do its work, so it is
  // CANCELLED, by the agent.
  if (result.outcome == Outcome::kCancelled) result.cancelled_by = "agent";
}

void FillFailed(Outcome outcome, Failure failure, TurnResult& result) {
  result.outcome = outcome;
  result.error = std::move(failure);
}

}  // namespace

TurnResult DecideTurnEnd(const TurnEvidence& evidence) {
  TurnResult result;
  result.prompt_sent = evidence.prompt_sent;
  result.stop_reason = evidence.stop_reason.value_or("");
  if (!evidence.limit.empty()) {
    FillFailed(Outcome::kFailed, LimitFailure(evidence.limit), result);
  } else if (evidence.cancel_sent) {
    FillCancelled(evidence, result);
  } else if (evidence.stop_reason) {
    FillStopped(evidence, result);
  } else if (evidence.agent_error) {
    FillFailed(Outcome::kFailed, AgentFailure(*evidence.agent_error), result);
  } else if (evidence.start_failure && !evidence.prompt_sent) {
    // A start that failed often ends in an exit too: no turn was under way, so nothing was
    // interrupted.
    FillFailed(Outcome::kFailed, *evidence.start_failure, result);
  } else if (evidence.exit_detail) {
    FillFailed(Outcome::kInterrupted, ExitFailure(*evidence.exit_detail), result);
  } else if (evidence.worker_lost) {
    FillFailed(Outcome::kInterrupted, LostFailure(), result);
  } else if (evidence.start_failure) {
    FillFailed(Outcome::kFailed, *evidence.start_failure, result);
  } else {
    FillFailed(Outcome::kFailed,
               MakeFailure("INTERNAL",
                           "The turn ended for a reason that was not recorded; this is "
                           "a defect of acpd, please report it with its log."),
               result);
  }
  return result;
}

}  // namespace acpd::session
