// The watch over a turn's silence, with times that the test gives.

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "session/turn_watch.h"

namespace acpd::session {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using Verdict = TurnWatch::Verdict;

constexpr SteadyTime kBegin = SteadyTime(std::chrono::hours(100));
constexpr milliseconds kTick{1};

SteadyTime After(std::chrono::nanoseconds time) {
  return kBegin + std::chrono::duration_cast<SteadyTime::duration>(time);
}

class TurnWatchTest : public ::testing::Test {
 protected:
  TurnWatch watch_{{minutes(5), minutes(30), minutes(60)}, kBegin};
};

TEST_F(TurnWatchTest, ASilenceIsToldOnceAtItsLimit) {
  EXPECT_EQ(watch_.Next(), After(minutes(5)));
  EXPECT_EQ(watch_.Check(After(minutes(5) - kTick)), Verdict::kFine);
  EXPECT_EQ(watch_.Check(After(minutes(5))), Verdict::kSilent);
  EXPECT_EQ(watch_.Check(After(minutes(5) + kTick)), Verdict::kFine);
  EXPECT_EQ(watch_.Next(), After(minutes(30)));
}

TEST_F(TurnWatchTest, TheTurnIsGivenUpAtItsLimit) {
  EXPECT_EQ(watch_.Check(After(minutes(6))), Verdict::kSilent);
  EXPECT_EQ(watch_.Check(After(minutes(30) - kTick)), Verdict::kFine);
  EXPECT_EQ(watch_.Check(After(minutes(30))), Verdict::kStalled);
  EXPECT_EQ(watch_.Check(After(minutes(31))), Verdict::kStalled);
}

TEST_F(TurnWatchTest, WhateverTheAgentSaysBeginsANewSilence) {
  EXPECT_EQ(watch_.Check(After(minutes(5))), Verdict::kSilent);
  watch_.Heard(After(minutes(20)));
  watch_.Heard(After(minutes(10)));  // what is known already
  EXPECT_EQ(watch_.Next(), After(minutes(25)));
  EXPECT_EQ(watch_.Check(After(minutes(25) - kTick)), Verdict::kFine);
  EXPECT_EQ(watch_.Check(After(minutes(25))), Verdict::kSilent);
  EXPECT_EQ(watch_.Check(After(minutes(50) - kTick)), Verdict::kFine);
  EXPECT_EQ(watch_.Check(After(minutes(50))), Verdict::kStalled);
}

TEST_F(TurnWatchTest, AnOpenQuestionHoldsItOffAndItsAnswerBeginsASilence) {
  watch_.SetAsking(true, After(minutes(1)));
  EXPECT_EQ(watch_.Next(), SteadyTime::max());
  EXPECT_EQ(watch_.Check(After(minutes(600))), Verdict::kFine);
  watch_.SetAsking(true, After(minutes(600)));  // one more, or the same still
  watch_.SetAsking(false, After(minutes(700)));
  EXPECT_EQ(watch_.Next(), After(minutes(705)));
  watch_.SetAsking(false, After(minutes(704)));
  EXPECT_EQ(watch_.Check(After(minutes(705) - kTick)), Verdict::kFine);
  EXPECT_EQ(watch_.Check(After(minutes(705))), Verdict::kSilent);
}

TEST_F(TurnWatchTest, AToolCallHoldsItOffForItsTimeFromItsLastSign) {
  EXPECT_FALSE(watch_.OnToolCall("a", "pending", true, After(minutes(1))));
  EXPECT_FALSE(watch_.OnToolCall("a", "in_progress", false, After(minutes(2))));
  EXPECT_EQ(watch_.Check(After(minutes(62))), Verdict::kFine);
  EXPECT_EQ(watch_.Next(), After(minutes(67)));
  EXPECT_EQ(watch_.Check(After(minutes(67) - kTick)), Verdict::kFine);
  EXPECT_EQ(watch_.Check(After(minutes(67))), Verdict::kSilent);
  EXPECT_EQ(watch_.Check(After(minutes(92) - kTick)), Verdict::kFine);
  EXPECT_EQ(watch_.Check(After(minutes(92))), Verdict::kStalled);
}

TEST_F(TurnWatchTest, ASignOfATooLateToolCallHoldsItOffAgain) {
  watch_.OnToolCall("a", "", true, After(minutes(0)));  // no status: pending
  EXPECT_EQ(watch_.Check(After(minutes(65))), Verdict::kSilent);
  EXPECT_FALSE(watch_.OnToolCall("a", "", false, After(minutes(70))));
  EXPECT_EQ(watch_.Next(), After(minutes(135)));
}

TEST_F(TurnWatchTest, TheEndOfTheLastToolCallIsTheEndOfTheHold) {
  watch_.OnToolCall("a", "pending", true, After(minutes(1)));
  watch_.OnToolCall("b", "pending", true, After(minutes(2)));
  EXPECT_FALSE(watch_.OnToolCall("a", "completed", false, After(minutes(3))));
  EXPECT_EQ(watch_.Check(After(minutes(40))), Verdict::kFine);
  EXPECT_TRUE(watch_.OnToolCall("b", "failed", false, After(minutes(50))));
  EXPECT_EQ(watch_.Next(), After(minutes(55)));
  // Some agents add to a call that has ended: it is not under way again.
  EXPECT_FALSE(watch_.OnToolCall("b", "", false, After(minutes(51))));
  EXPECT_FALSE(watch_.OnToolCall("b", "completed", false, After(minutes(51))));
  EXPECT_EQ(watch_.Next(), After(minutes(56)));
}

TEST_F(TurnWatchTest, AToolCallThatIsTakenUpAgainIsUnderWay) {
  watch_.OnToolCall("a", "completed", true, After(minutes(1)));
  EXPECT_EQ(watch_.Next(), After(minutes(6)));
  watch_.OnToolCall("a", "in_progress", false, After(minutes(2)));
  EXPECT_EQ(watch_.Next(), After(minutes(67)));
}

TEST_F(TurnWatchTest, OfTooManyToolCallsTheOldestIsForgotten) {
  for (int i = 0; i <= 1024; ++i) {
    watch_.OnToolCall(std::to_string(i), "pending", true, After(seconds(i)));
  }
  for (int i = 1; i < 1024; ++i) {
    EXPECT_FALSE(watch_.OnToolCall(std::to_string(i), "completed", false, After(seconds(2000))));
  }
  EXPECT_TRUE(watch_.OnToolCall("1024", "completed", false, After(seconds(2000))));
}

TEST(TurnWatchLimitsTest, ZeroIsNever) {
  TurnWatch untold({milliseconds(0), minutes(30), minutes(60)}, kBegin);
  EXPECT_EQ(untold.Next(), After(minutes(30)));
  EXPECT_EQ(untold.Check(After(minutes(29))), Verdict::kFine);
  TurnWatch endless({minutes(5), milliseconds(0), minutes(60)}, kBegin);
  EXPECT_EQ(endless.Check(After(minutes(5))), Verdict::kSilent);
  EXPECT_EQ(endless.Next(), SteadyTime::max());
  EXPECT_EQ(endless.Check(After(minutes(50'000))), Verdict::kFine);
  TurnWatch patient({minutes(5), minutes(30), milliseconds(0)}, kBegin);
  patient.OnToolCall("a", "pending", true, kBegin);
  EXPECT_EQ(patient.Next(), SteadyTime::max());
  EXPECT_EQ(patient.Check(After(minutes(50'000))), Verdict::kFine);
}

TEST(ReadingClockTest, StandsWhileNothingIsRead) {
  ReadingClock clock;
  EXPECT_EQ(clock.At(kBegin), kBegin);
  clock.Stop(After(seconds(10)));
  clock.Stop(After(seconds(12)));
  EXPECT_TRUE(clock.stopped());
  EXPECT_EQ(clock.At(After(seconds(40))), After(seconds(10)));
  clock.Go(After(seconds(50)));
  EXPECT_FALSE(clock.stopped());
  EXPECT_EQ(clock.At(After(seconds(60))), After(seconds(20)));
  clock.Go(After(seconds(60)));
  clock.Stop(After(seconds(70)));
  clock.Go(After(seconds(80)));
  EXPECT_EQ(clock.At(After(seconds(90))), After(seconds(40)));
}

}  // namespace
}  // namespace acpd::session
