// Where a stream begins: cursors, scopes, refusals.
#include "tests/server/service_stream_harness.h"

namespace acpd::server {
namespace {

TEST_F(StreamTest, ThePastThenThePresent) {
  store_.Append("s", {Say("a"), Say("b")});
  store_.Append("other", {Say("x")});
  store_.Append("s", {Say("c")});
  TestReader reader;
  Subscribe(reader, FromStart(Session("s")));
  const v1::ProgressEvent started = reader.Next();
  ASSERT_TRUE(started.has_subscription_started());
  EXPECT_EQ(started.subscription_started().epoch(), "this-epoch");
  EXPECT_EQ(started.subscription_started().oldest_seq(), 1u);
  EXPECT_EQ(started.subscription_started().newest_seq(), 3u);
  EXPECT_EQ(started.seq(), 0u);
  uint64_t position = 0;
  for (const char* text : {"a", "b", "c"}) {
    const v1::ProgressEvent event = reader.Next();
    EXPECT_EQ(event.session_update().text(), text);
    EXPECT_EQ(event.session_id(), "s");
    EXPECT_GT(event.position(), position);
    position = event.position();
  }
  const v1::ProgressEvent caught_up = reader.Next();
  EXPECT_TRUE(caught_up.has_caught_up());
  EXPECT_GE(caught_up.position(), position);
  store_.Append("s", {Say("d"), Say("e")});
  EXPECT_EQ(reader.Lines(2), "d@4 e@5 ");
}

// Every position is a good cursor, in every scope, and so is every seq.
TEST_F(StreamTest, GoesOnFromAnyCursor) {
  store_.Append("s", {Say("a"), Say("b"), Say("c")});
  store_.Append("t", {Say("x")});
  const char* rest[] = {"a@1 b@2 c@3 ", "b@2 c@3 ", "c@3 ", ""};
  for (uint64_t after = 0; after <= 3; ++after) {
    TestReader by_seq, by_position;
    auto request = Session("s");
    request.set_replay_only(true);
    request.set_after_seq(after);
    Subscribe(by_seq, request);
    EXPECT_EQ(by_seq.Rest(), "subscription_started " + std::string(rest[after]) + "caught_up ");
    EXPECT_TRUE(by_seq.Finish().ok());
    request.set_after_position(after);
    Subscribe(by_position, request);
    EXPECT_EQ(by_position.Rest(),
              "subscription_started " + std::string(rest[after]) + "caught_up ");
  }
}

TEST_F(StreamTest, ProjectsAndEverything) {
  store_.Make("a", "p1");
  store_.Make("b", "p2");
  store_.Append("a", {Say("a1")});
  store_.Append("b", {Say("b1")});
  store_.Append("a", {Say("a2")});
  TestReader project, all;
  auto request = FromStart(Project("p1"));
  request.set_replay_only(true);
  Subscribe(project, request);
  EXPECT_EQ(project.Rest(), "subscription_started a1@1 a2@2 caught_up ");
  request.set_everything(true);
  Subscribe(all, request);
  EXPECT_EQ(all.Rest(), "subscription_started a1@1 b1@1 a2@2 caught_up ");
}

TEST_F(StreamTest, BeginsNowWithOpenQuestions) {
  session::PermissionRequestedEvent question;
  question.question_id = "q";
  store_.Append("s", {Say("a"), Of(question, "turn"), Say("b")});
  answers_.plan.open_questions = {{"s", 2}};
  TestReader reader;
  Subscribe(reader, Session("s"));
  const v1::ProgressEvent started = reader.Next();
  EXPECT_EQ(started.position(), newest());
  const v1::ProgressEvent resent = reader.Next();
  EXPECT_TRUE(resent.resent());
  EXPECT_EQ(resent.permission_requested().question_id(), "q");
  EXPECT_EQ(resent.seq(), 2u);
  EXPECT_EQ(resent.position(), 2u);
  EXPECT_EQ(reader.Next().position(), newest()) << "CaughtUp: the cursor has not gone back";
  store_.Append("s", {Say("c")});
  EXPECT_EQ(reader.Lines(1), "c@4 ");
}

TEST_F(StreamTest, FiltersApplyToRepeatedQuestionsToo) {
  store_.Append("s", {Of(session::PermissionRequestedEvent{}, "turn"),
                      Of(session::PermissionRequestedEvent{}, "other")});
  answers_.plan.open_questions = {{"s", 1}, {"s", 2}, {"s", 99}};
  TestReader reader;
  auto request = Session("s");
  request.set_turn_id("other");
  Subscribe(reader, request);
  EXPECT_EQ(reader.Lines(3), "subscription_started permission_requested(resent) caught_up ");
}

TEST_F(StreamTest, RefusesCursorsBehindTheEnd) {
  store_.Append("s", {Say("a")});
  auto by_position = Session("s"), by_seq = Session("s");
  by_position.set_after_position(newest() + 1);
  by_seq.set_after_seq(2);
  for (const auto& request : {by_position, by_seq}) {
    TestReader reader;
    Subscribe(reader, request);
    EXPECT_EQ(reader.Rest(), "") << "nothing before the error";
    const grpc::Status status = reader.Finish();
    EXPECT_EQ(status.error_code(), grpc::OUT_OF_RANGE);
    EXPECT_EQ(reader.Trailer("acpd-reason"), "CURSOR_AHEAD");
    EXPECT_EQ(reader.Trailer("acpd-position"), "");
  }
  TestReader at_the_end;
  by_seq.set_after_seq(1);
  by_seq.set_replay_only(true);
  Subscribe(at_the_end, by_seq);
  EXPECT_EQ(at_the_end.Rest(), "subscription_started caught_up ");
}

TEST_F(StreamTest, RefusesWhatThePlanRefuses) {
  answers_.plan_error = session::MakeError("SESSION_NOT_FOUND", "no such session");
  session::AttachIds(answers_.plan_error, "s", "");
  TestReader reader;
  Subscribe(reader, Session("s"));
  EXPECT_EQ(reader.Rest(), "");
  EXPECT_EQ(reader.Finish().error_code(), grpc::NOT_FOUND);
  EXPECT_EQ(reader.Trailer("acpd-reason"), "SESSION_NOT_FOUND");
  EXPECT_EQ(reader.Trailer("acpd-session-id"), "s");
}

TEST_F(StreamTest, RefusesBadRequestsBeforeThePlan) {
  TestReader reader;
  auto request = Project("p");
  request.set_after_seq(1);
  Subscribe(reader, request);
  EXPECT_EQ(reader.Finish().error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(reader.Trailer("acpd-reason"), "INVALID_CURSOR");
}

TEST_F(StreamTest, AnotherEpochsCursorGetsAGap) {
  store_.Append("s", {Say("a"), Say("b")});
  auto request = Session("s");
  request.set_epoch("older");
  request.set_replay_only(true);
  request.set_after_position(1);
  TestReader known;
  Subscribe(known, request);
  known.Next();
  v1::ProgressEvent gap = known.Next();
  EXPECT_EQ(gap.gap().reason(), v1::Gap::REASON_EPOCH_CHANGED);
  EXPECT_EQ(gap.gap().next_position(), 2u);
  EXPECT_EQ(known.Rest(), "b@2 caught_up ");

  request.set_after_position(1000);
  TestReader beyond;
  Subscribe(beyond, request);
  EXPECT_EQ(beyond.Rest(), "subscription_started gap a@1 b@2 caught_up ");
  request.set_after_seq(1000);
  TestReader beyond_seq;
  Subscribe(beyond_seq, request);
  EXPECT_EQ(beyond_seq.Rest(), "subscription_started gap a@1 b@2 caught_up ");

  request.set_epoch("this-epoch");
  request.set_after_seq(1);
  TestReader same;
  Subscribe(same, request);
  EXPECT_EQ(same.Rest(), "subscription_started b@2 caught_up ");
}

}  // namespace
}  // namespace acpd::server
