#include <gtest/gtest.h>

#include <string>

#include "session/turn_end.h"

namespace acpd::session {
namespace {

TurnEvidence Sent() {
  TurnEvidence evidence;
  evidence.prompt_sent = true;
  return evidence;
}

TurnEvidence Answered(const std::string& stop_reason) {
  TurnEvidence evidence = Sent();
  evidence.stop_reason = stop_reason;
  return evidence;
}

Failure AgentSaid() {
  Failure failure;
  failure.message = "API Error: 400";
  failure.agent_code = -32603;
  failure.agent_data = R"({"errorKind":"unknown"})";
  return failure;
}

Failure StartFailed() {
  Failure failure;
  failure.reason = "AGENT_START_FAILED";
  failure.message = "No such command.";
  return failure;
}

// Everything at once but a limit and our cancel.
TurnEvidence EverythingElse() {
  TurnEvidence evidence = Answered("end_turn");
  evidence.agent_error = AgentSaid();
  evidence.exit_detail = "it exited with code 3";
  evidence.worker_lost = true;
  evidence.start_failure = StartFailed();
  return evidence;
}

TEST(TurnEnd, ALimitGoesBeforeEverything) {
  for (const std::string limit : {"TURN_TIMEOUT", "TURN_STALLED", "MESSAGE_TOO_LARGE"}) {
    TurnEvidence evidence = EverythingElse();
    evidence.limit = limit;
    evidence.cancel_sent = true;
    evidence.cancelled_by = "anna";
    const TurnResult result = DecideTurnEnd(evidence);
    EXPECT_EQ(result.outcome, Outcome::kFailed);
    EXPECT_EQ(result.error.reason, limit);
    EXPECT_FALSE(result.error.message.empty());
    EXPECT_EQ(result.error.retryable, limit == "TURN_STALLED");
    EXPECT_EQ(result.cancelled_by, "");
  }
}

TEST(TurnEnd, OurCancelGoesBeforeAnyAnswerAndExit) {
  for (const std::string answer : {"end_turn", "cancelled", "refusal", "max_tokens"}) {
    TurnEvidence evidence = Answered(answer);
    evidence.cancel_sent = true;
    evidence.cancelled_by = "anna";
    evidence.cancel_reason = "wrong branch";
    evidence.exit_detail = "killed";
    const TurnResult result = DecideTurnEnd(evidence);
    EXPECT_EQ(result.outcome, Outcome::kCancelled);
    EXPECT_EQ(result.stop_reason, answer);
    EXPECT_EQ(result.cancelled_by, "anna");
    EXPECT_EQ(result.cancel_reason, "wrong branch");
    EXPECT_TRUE(result.prompt_sent);
    EXPECT_EQ(result.error, Failure{});
  }
}

TEST(TurnEnd, CancelAnsweredWithAnErrorKeepsTheAgentsWords) {
  TurnEvidence evidence = Sent();
  evidence.cancel_sent = true;
  evidence.agent_error = AgentSaid();
  const TurnResult result = DecideTurnEnd(evidence);
  EXPECT_EQ(result.outcome, Outcome::kCancelled);
  EXPECT_EQ(result.error.reason, "AGENT_ERROR");
  EXPECT_EQ(result.error.agent_code, -32603);
}

TEST(TurnEnd, CancelEndedByAForcedKillIsCancelled) {
  TurnEvidence evidence = Sent();
  evidence.cancel_sent = true;
  evidence.exit_detail = "signal 9";
  EXPECT_EQ(DecideTurnEnd(evidence).outcome, Outcome::kCancelled);
  evidence.exit_detail.reset();
  evidence.worker_lost = true;
  EXPECT_EQ(DecideTurnEnd(evidence).outcome, Outcome::kCancelled);
}

TEST(TurnEnd, CancelBeforeTheStart) {
  TurnEvidence evidence;
  evidence.cancel_sent = true;
  evidence.cancelled_by = "close";
  const TurnResult result = DecideTurnEnd(evidence);
  EXPECT_EQ(result.outcome, Outcome::kCancelled);
  EXPECT_EQ(result.cancelled_by, "close");
  EXPECT_FALSE(result.prompt_sent);
}

struct StopRow {
  const char* word;
  Outcome outcome;
};

class StopReasons : public testing::TestWithParam<StopRow> {};

TEST_P(StopReasons, DecideAndStayVerbatim) {
  TurnEvidence evidence = Answered(GetParam().word);
  evidence.exit_detail = "it exited right after";
  const TurnResult result = DecideTurnEnd(evidence);
  EXPECT_EQ(result.outcome, GetParam().outcome);
  EXPECT_EQ(result.stop_reason, GetParam().word);
  EXPECT_EQ(result.error, Failure{});
}

INSTANTIATE_TEST_SUITE_P(Rows, StopReasons,
                         testing::Values(StopRow{"end_turn", Outcome::kCompleted},
                                         StopRow{"max_tokens", Outcome::kTruncated},
                                         StopRow{"max_turn_requests", Outcome::kTruncated},
                                         StopRow{"refusal", Outcome::kRefused},
                                         StopRow{"cancelled", Outcome::kCancelled},
                                         StopRow{"a_word_of_2030", Outcome::kCompleted},
                                         StopRow{"END_TURN", Outcome::kCompleted}));

TEST(TurnEnd, CancelledWithoutACancelOfOursIsTheAgents) {
  EXPECT_EQ(DecideTurnEnd(Answered("cancelled")).cancelled_by, "agent");
  EXPECT_EQ(DecideTurnEnd(Answered("end_turn")).cancelled_by, "");
}

TEST(TurnEnd, AnErrorAnswerIsFailedWithCodeMessageAndData) {
  TurnEvidence evidence = Sent();
  evidence.agent_error = AgentSaid();
  evidence.exit_detail = "it exited right after";
  const TurnResult result = DecideTurnEnd(evidence);
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  EXPECT_EQ(result.error.reason, "AGENT_ERROR");
  EXPECT_EQ(result.error.agent_code, -32603);
  EXPECT_EQ(result.error.agent_data, R"({"errorKind":"unknown"})");
  EXPECT_NE(result.error.message.find("API Error: 400"), std::string::npos);
  EXPECT_FALSE(result.error.retryable);
  EXPECT_EQ(result.stop_reason, "");
}

TEST(TurnEnd, AnExitIsInterruptedAndSaysWhatIsKnown) {
  TurnEvidence evidence = Sent();
  evidence.exit_detail = "it exited with code 3: out of memory";
  evidence.worker_lost = true;
  const TurnResult result = DecideTurnEnd(evidence);
  EXPECT_EQ(result.outcome, Outcome::kInterrupted);
  EXPECT_EQ(result.error.reason, "AGENT_EXITED");
  EXPECT_NE(result.error.message.find("code 3: out of memory"), std::string::npos);
  EXPECT_TRUE(result.error.retryable);
}

TEST(TurnEnd, ALostWorkerIsInterrupted) {
  TurnEvidence evidence = Sent();
  evidence.worker_lost = true;
  const TurnResult result = DecideTurnEnd(evidence);
  EXPECT_EQ(result.outcome, Outcome::kInterrupted);
  EXPECT_EQ(result.error.reason, "WORKER_LOST");
  EXPECT_TRUE(result.error.retryable);
  EXPECT_TRUE(result.prompt_sent);
}

TEST(TurnEnd, ATurnThatNeverStartedHasTheStartsReason) {
  TurnEvidence evidence;
  evidence.start_failure = StartFailed();
  evidence.exit_detail = "it exited with code 127";
  const TurnResult result = DecideTurnEnd(evidence);
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  EXPECT_EQ(result.error, StartFailed());
  EXPECT_FALSE(result.prompt_sent);
}

TEST(TurnEnd, AnExitAfterThePromptGoesBeforeAStartsReason) {
  TurnEvidence evidence = Sent();
  evidence.start_failure = StartFailed();
  EXPECT_EQ(DecideTurnEnd(evidence).error, StartFailed());
  evidence.exit_detail = "";
  EXPECT_EQ(DecideTurnEnd(evidence).error.reason, "AGENT_EXITED");
}

TEST(TurnEnd, WithoutAnyEvidenceItIsOurDefectAndNotCompleted) {
  const TurnResult result = DecideTurnEnd(Sent());
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  EXPECT_EQ(result.error.reason, "INTERNAL");
}

}  // namespace
}  // namespace acpd::session
