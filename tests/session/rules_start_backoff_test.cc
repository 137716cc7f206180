// How long an agent that fails to start is left alone.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "session/errors.h"
#include "session/start_backoff.h"

namespace acpd::session {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr SteadyTime kStart = SteadyTime(std::chrono::hours(100));
constexpr milliseconds kMoment{1};
constexpr char kWhat[] = "what is started";

absl::Status Broken() {
  return MakeError(absl::StatusCode::kUnavailable, "AGENT_START_FAILED", "exit code 3");
}

class StartBackoffTest : public ::testing::Test {
 protected:
  // Refused until just before `until`, and not any more then.
  void ExpectHeldUntil(SteadyTime until) {
    EXPECT_FALSE(backoff_.Check(kWhat, until - kMoment).ok());
    EXPECT_TRUE(backoff_.Check(kWhat, until).ok());
    EXPECT_TRUE(backoff_.Check(kWhat, until + kMoment).ok());
  }
  StartBackoff backoff_{{seconds(1), seconds(60)}};
};

TEST_F(StartBackoffTest, GrowsFromTheFirstFailureToTheLongestAndStaysThere) {
  SteadyTime now = kStart;
  EXPECT_TRUE(backoff_.Check(kWhat, now).ok());
  for (const int pause : {1, 2, 4, 8, 16, 32, 60, 60, 60}) {
    EXPECT_EQ(backoff_.Failed(kWhat, Broken(), now), seconds(pause));
    ExpectHeldUntil(now + seconds(pause));
    now += seconds(pause);
  }
}

TEST_F(StartBackoffTest, TheRefusalHasTheReasonAndWhenToTryAgain) {
  backoff_.Failed(kWhat, MakeError("PROTOCOL_MISMATCH", "It speaks ACP 7."), kStart);
  backoff_.Failed(kWhat, MakeError("START_TIMEOUT", "It did not answer."), kStart);
  const absl::Status refused = backoff_.Check(kWhat, kStart + milliseconds(500));
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ReasonOf(refused), "START_TIMEOUT");
  EXPECT_THAT(std::string(refused.message()), HasSubstr("2 time(s)"));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("for 2 s"));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("It did not answer."));
  EXPECT_EQ(ToFailure(refused).retry_after, milliseconds(1500));
  EXPECT_TRUE(ToFailure(refused).retryable);
}

TEST_F(StartBackoffTest, ASuccessEndsItAndSoDoesTime) {
  backoff_.Failed(kWhat, Broken(), kStart);
  backoff_.Failed(kWhat, Broken(), kStart);
  backoff_.Succeeded(kWhat);
  EXPECT_TRUE(backoff_.empty());
  EXPECT_EQ(backoff_.Failed(kWhat, Broken(), kStart), seconds(1));
  // Failures that lie far apart are no row of them.
  EXPECT_EQ(backoff_.Failed(kWhat, Broken(), kStart + seconds(61)), seconds(2));
  EXPECT_EQ(backoff_.Failed(kWhat, Broken(), kStart + seconds(63 + 60) + kMoment), seconds(1));
}

TEST_F(StartBackoffTest, EachAgentProjectAndLaunchHasItsOwn) {
  const std::string failed = StartBackoff::KeyOf("claude", "f1", "shop");
  backoff_.Failed(failed, Broken(), kStart);
  EXPECT_FALSE(backoff_.Check(failed, kStart).ok());
  EXPECT_TRUE(backoff_.Check(StartBackoff::KeyOf("codex", "f1", "shop"), kStart).ok());
  EXPECT_TRUE(backoff_.Check(StartBackoff::KeyOf("claude", "f2", "shop"), kStart).ok());
  EXPECT_TRUE(backoff_.Check(StartBackoff::KeyOf("claude", "f1", "bank"), kStart).ok());
}

TEST_F(StartBackoffTest, OnlyAStartThatFailedCounts) {
  for (const char* reason : {"AGENT_START_FAILED", "START_TIMEOUT", "PROTOCOL_MISMATCH"}) {
    EXPECT_TRUE(StartBackoff::Counts(MakeError(reason, "x"))) << reason;
  }
  for (const char* reason : {"AGENT_AUTH_REQUIRED", "CREDENTIALS_NEEDED", "SHUTTING_DOWN",
                             "TOO_MANY_WORKERS", "RESUME_FAILED", "CWD_NOT_FOUND"}) {
    EXPECT_FALSE(StartBackoff::Counts(MakeError(reason, "x"))) << reason;
  }
  EXPECT_FALSE(StartBackoff::Counts(absl::OkStatus()));
}

TEST_F(StartBackoffTest, TheTableIsBoundedAndForgetsTheOldest) {
  for (int i = 0; i < 1024; ++i) {
    backoff_.Failed(std::to_string(i), Broken(), kStart + milliseconds(i));
  }
  const SteadyTime now = kStart + milliseconds(100);
  EXPECT_EQ(backoff_.size(), 1024u);
  EXPECT_FALSE(backoff_.Check("0", now).ok());
  backoff_.Failed("1023", Broken(), now);  // known already
  EXPECT_FALSE(backoff_.Check("0", now).ok());
  backoff_.Failed("one more", Broken(), now);
  EXPECT_EQ(backoff_.size(), 1024u);
  EXPECT_TRUE(backoff_.Check("0", now).ok());
  EXPECT_FALSE(backoff_.Check("1", now).ok());
  EXPECT_FALSE(backoff_.Check("one more", now).ok());
}

TEST(StartBackoffPolicyTest, ZeroIsNone) {
  StartBackoff none({milliseconds(0), seconds(60)});
  EXPECT_EQ(none.Failed(kWhat, Broken(), kStart), milliseconds(0));
  EXPECT_TRUE(none.Check(kWhat, kStart).ok());
  EXPECT_TRUE(none.empty());
}

TEST(StartBackoffPolicyTest, TheLongestIsNeverShorterThanTheFirst) {
  StartBackoff odd({seconds(5), seconds(1)});
  EXPECT_EQ(odd.Failed(kWhat, Broken(), kStart), seconds(5));
  EXPECT_EQ(odd.Failed(kWhat, Broken(), kStart), seconds(5));
}

}  // namespace
}  // namespace acpd::session
