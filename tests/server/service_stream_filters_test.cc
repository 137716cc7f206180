// What a stream leaves out, and where it ends: filters, turns, replacements.
#include "tests/server/service_stream_harness.h"

namespace acpd::server {
namespace {

TEST_F(StreamTest, FiltersByKindUpdateKindAndTurn) {
  store_.Append("s", {Say("a", "t1"), Say("plan", "t1", "plan"), TurnEnd("t1"), Say("b", "t2"),
                      TurnEnd("t2")});
  auto request = FromStart(Session("s"));
  request.set_replay_only(true);
  request.add_event_kinds(v1::EVENT_KIND_TURN_ENDED);
  TestReader kinds;
  Subscribe(kinds, request);
  EXPECT_EQ(kinds.Rest(), "subscription_started turn_ended turn_ended caught_up ");
  request.clear_event_kinds();
  request.add_update_kinds("plan");
  TestReader updates;
  Subscribe(updates, request);
  EXPECT_EQ(updates.Rest(), "subscription_started plan@2 turn_ended turn_ended caught_up ");
  request.clear_update_kinds();
  request.set_turn_id("t2");
  TestReader turn;
  Subscribe(turn, request);
  EXPECT_EQ(turn.Rest(), "subscription_started b@4 turn_ended caught_up ");
  request.set_turn_id("nothing");
  TestReader none;
  Subscribe(none, request);
  none.Next();
  EXPECT_EQ(none.Next().position(), newest()) << "a filtered reader's cursor moves too";
}

TEST_F(StreamTest, FiltersByLabels) {
  store_.Make("a", "p", {{"team", "red"}, {"env", "x"}});
  store_.Make("b", "p", {{"team", "blue"}});
  store_.Append("a", {Say("a1")});
  store_.Append("b", {Say("b1")});
  auto request = FromStart(Project("p"));
  (*request.mutable_labels())["team"] = "red";
  TestReader reader;
  Subscribe(reader, request);
  EXPECT_EQ(reader.Lines(3), "subscription_started a1@1 caught_up ");
  store_.Append("b", {Say("b2")});
  store_.Append("a", {Say("a2")});
  EXPECT_EQ(reader.Lines(1), "a2@2 ");
}

TEST_F(StreamTest, LeavesJsonOutWhereTextSaysItAll) {
  store_.Append("s", {Say("a"), Say("plan", "", "plan")});
  auto request = FromStart(Session("s"));
  request.set_omit_json(true);
  TestReader reader;
  Subscribe(reader, request);
  reader.Next();
  const v1::ProgressEvent chunk = reader.Next(), plan = reader.Next();
  EXPECT_EQ(chunk.session_update().json(), "");
  EXPECT_EQ(chunk.session_update().text(), "a");
  EXPECT_EQ(chunk.position(), 1u);
  EXPECT_NE(plan.session_update().json(), "");
}

TEST_F(StreamTest, EndsAfterTheTurn) {
  store_.Append("s", {Say("a", "t"), TurnEnd("t"), Say("b")});
  auto request = FromStart(Session("s"));
  request.set_until_turn_id("t");
  TestReader past;
  Subscribe(past, request);
  EXPECT_EQ(past.Rest(), "subscription_started a@1 turn_ended ");
  EXPECT_TRUE(past.Finish().ok());
  EXPECT_EQ(past.Trailer("acpd-position"), "2");

  // Filters do not hide its end from the stream.
  request.add_event_kinds(v1::EVENT_KIND_SESSION_UPDATE);
  TestReader filtered;
  Subscribe(filtered, request);
  EXPECT_EQ(filtered.Rest(), "subscription_started a@1 ");

  request.clear_event_kinds();
  request.set_until_turn_id("u");
  request.set_after_position(newest());
  TestReader live;
  Subscribe(live, request);
  EXPECT_EQ(live.Lines(2), "subscription_started caught_up ");
  store_.Append("s", {Say("c", "u"), TurnEnd("u"), Say("d")});
  EXPECT_EQ(live.Rest(), "c@4 turn_ended ");
  EXPECT_TRUE(live.Finish().ok());
}

TEST_F(StreamTest, EndsAtOnceWhenTheTurnEndedBeforeTheCursor) {
  store_.Append("s", {TurnEnd("t"), Say("b")});
  answers_.plan.until_turn_ended = true;
  auto request = Session("s");
  request.set_until_turn_id("t");
  TestReader now;
  Subscribe(now, request);
  EXPECT_EQ(now.Rest(), "subscription_started caught_up ");
  EXPECT_TRUE(now.Finish().ok());
  request.set_after_seq(1);
  TestReader behind;
  Subscribe(behind, request);
  EXPECT_EQ(behind.Rest(), "subscription_started b@2 caught_up ");
}

// The manager learns of a commit a moment after the readers.
TEST_F(StreamTest, SeesAnEndThatThePlanDoesNotKnowYet) {
  store_.Append("s", {TurnEnd("t")});
  store_.PutTurn("s", "t", session::TurnState::kEnded);
  answers_.plan.until_turn_ended = false;
  auto request = Session("s");
  request.set_until_turn_id("t");
  TestReader reader;
  Subscribe(reader, request);
  EXPECT_EQ(reader.Rest(), "subscription_started caught_up ");
}

TEST_F(StreamTest, FollowsAReplacementInThePast) {
  store_.Append("old", {Say("a", "t")});
  store_.Replace("old", "new", {Say("b", "t"), Say("c", "t")});
  store_.Append("new", {TurnEnd("t")});
  auto request = FromStart(Session("old"));
  request.set_until_turn_id("t");
  TestReader reader;
  Subscribe(reader, request);
  EXPECT_EQ(reader.Rest(), "subscription_started a@1 session_replaced b@1 c@2 turn_ended ");
  EXPECT_TRUE(reader.Finish().ok());
}

TEST_F(StreamTest, FollowsAReplacementInThePresent) {
  store_.Append("old", {Say("a")});
  TestReader reader;
  Subscribe(reader, FromStart(Session("old")));
  EXPECT_EQ(reader.Lines(3), "subscription_started a@1 caught_up ");
  store_.Replace("old", "new", {Say("b")});
  EXPECT_EQ(reader.Lines(2), "session_replaced b@1 ");
  store_.Replace("new", "newer", {Say("c")});
  EXPECT_EQ(reader.Lines(2), "session_replaced c@1 ");
}

TEST_F(StreamTest, APositionIsGoodAcrossAReplacement) {
  store_.Append("old", {Say("a")});
  store_.Replace("old", "new", {Say("b"), Say("c")});
  auto request = Session("old");
  request.set_after_position(newest() - 1);
  request.set_replay_only(true);
  TestReader reader;
  Subscribe(reader, request);
  EXPECT_EQ(reader.Rest(), "subscription_started c@2 caught_up ");
}

TEST_F(StreamTest, WithoutACursorOnlyTheSuccessorsNow) {
  store_.Append("old", {Say("a")});
  store_.Replace("old", "new", {Say("b")});
  for (const bool resolved : {false, true}) {
    answers_.keep_scope = !resolved;
    answers_.plan.scope = {Kind::kSession, "new"};
    TestReader reader;
    Subscribe(reader, Session("old"));
    EXPECT_EQ(reader.Next().subscription_started().newest_seq(), resolved ? 2u : 1u);
    EXPECT_EQ(reader.Lines(1), "caught_up ");
    store_.Append("new", {Say("c")});
    EXPECT_EQ(reader.Next().session_update().text(), "c");
  }
}

TEST_F(StreamTest, EndsWithADeletedSession) {
  store_.Append("s", {Say("a")});
  store_.Append("other", {Say("x")});
  TestReader session, all;
  Subscribe(session, FromStart(Session("s")));
  EXPECT_EQ(session.Lines(3), "subscription_started a@1 caught_up ");
  auto everything = FromStart(Session(""));
  everything.set_everything(true);
  Subscribe(all, everything);
  EXPECT_EQ(all.Lines(4), "subscription_started a@1 x@1 caught_up ");
  store_.Delete("s");
  EXPECT_EQ(session.Rest(), "session_deleted ");
  EXPECT_TRUE(session.Finish().ok());
  store_.Append("other", {Say("y")});
  EXPECT_EQ(all.Lines(2), "session_deleted y@2 ");
}

}  // namespace
}  // namespace acpd::server
