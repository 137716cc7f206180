// Which workers of an earlier acpd are gone on with.
#include <gmock/gmock.h>

#include "session/agent_worker.h"

namespace acpd::session {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class AdoptionTest : public ::testing::Test {
 protected:
  AdoptionTest() {
    row_.worker_id = hello_.spec.worker_id = "w-1";
    row_.next_stdin_seq = 5;
    hello_.last_stdin_done = 4;
    row_.consumed_offset = hello_.first_kept_offset = 100;
  }
  std::string Misfit() const { return MisfitOf(row_, hello_); }

  WorkerRow row_;
  acp::Hello hello_;
};

TEST_F(AdoptionTest, WhatTheStoreKnowsOfIsGoneOnWith) {
  EXPECT_THAT(Misfit(), IsEmpty());
  hello_.last_stdin_done = 0;  // the lines are sent again
  hello_.first_kept_offset = 0;
  EXPECT_THAT(Misfit(), IsEmpty());
}

TEST_F(AdoptionTest, EachVersionOfTheLinkThatWeSpeak) {
  hello_.link_version = acp::kOldestLinkVersion;
  EXPECT_THAT(Misfit(), IsEmpty());
  hello_.link_version = acp::kOldestLinkVersion - 1;
  EXPECT_THAT(Misfit(), HasSubstr("version 0 of the worker link"));
  hello_.link_version = acp::kLinkVersion + 1;
  EXPECT_THAT(Misfit(), HasSubstr("of the worker link"));
}

TEST_F(AdoptionTest, AnotherWorkerIsNot) {
  hello_.spec.worker_id = "w-2";
  EXPECT_EQ(Misfit(), "it is another worker");
}

TEST_F(AdoptionTest, AnAgentThatHadLinesTheStoreDoesNotKnowOfIsNot) {
  hello_.last_stdin_done = 5;
  EXPECT_THAT(Misfit(), HasSubstr("has had lines that the store does not know of"));
}

TEST_F(AdoptionTest, AWorkerThatForgotWhatTheStoreHasNotTakenIsNot) {
  hello_.first_kept_offset = 101;
  EXPECT_THAT(Misfit(), HasSubstr("has forgotten output"));
}

}  // namespace
}  // namespace acpd::session
