#include <grpcpp/support/byte_buffer.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "server/event_scan.h"
#include "server/service.h"
#include "server/subscription.h"
#include "tests/server/service_harness.h"

namespace acpd::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Kind = session::LogScope::Kind;

// What the session manager would answer.
struct Answers {
  absl::Status plan_error;
  session::SubscriptionPlan plan;
  bool keep_scope = true;  // the plan's scope is the one asked for
  absl::StatusOr<session::ChatReply> chat = absl::UnknownError("no chat");
};

awaitable<absl::StatusOr<session::SubscriptionPlan>> Plan(const Answers* answers,
                                                          session::SubscriptionQuery query) {
  if (!answers->plan_error.ok()) co_return answers->plan_error;
  session::SubscriptionPlan plan = answers->plan;
  if (answers->keep_scope) plan.scope = query.scope;
  co_return plan;
}

awaitable<absl::StatusOr<session::ChatReply>> AnswerChat(
    const Answers* answers, session::ChatRequest request,
    std::function<void(const session::ChatReply&)> accepted) {
  EXPECT_EQ(request.wait_for, session::WaitFor::kAccepted);
  if (answers->chat.ok()) accepted(*answers->chat);
  co_return answers->chat;
}

// The service's two streams, over the answers.
class StreamService final : public ServiceBase {
 public:
  StreamService(TestStore* store, const Answers* answers) : answers_(answers) {
    streams_.calls.loop = store->loop().executor();
    streams_.calls.leave = [this](const session::CallPtr&) { ++left; };
    streams_.calls.active = &active;
    streams_.sources.log = store->log();
    streams_.sources.epoch = "this-epoch";
    streams_.sources.plan = [answers](session::CallPtr, session::SubscriptionQuery query) {
      return Plan(answers, query);
    };
    streams_.sources.turn_ended = [store](const std::string& turn_id,
                                          std::function<void(bool)> done) {
      store->store()->FindTurn({turn_id, "", ""}, [done](std::optional<session::FoundTurn> turn) {
        done(turn && turn->row.state == session::TurnState::kEnded);
      });
    };
    streams_.chat = [answers](session::CallPtr, session::ChatRequest request,
                              std::function<void(const session::ChatReply&)> accepted) {
      return AnswerChat(answers, std::move(request), std::move(accepted));
    };
  }
  grpc::ServerWriteReactor<grpc::ByteBuffer>* SubscribeProgress(
      grpc::CallbackServerContext* context, const grpc::ByteBuffer* bytes) override {
    grpc::ByteBuffer copy(*bytes);
    v1::SubscribeProgressRequest request;
    // Without a message: the caller left before it came.
    if (!grpc::SerializationTraits<v1::SubscribeProgressRequest>::Deserialize(&copy, &request)
             .ok()) {
      return Subscription::Refuse(context, absl::CancelledError("no request came"));
    }
    auto params = SubscribeFrom(request);
    if (!params.ok()) return Subscription::Refuse(context, params.status());
    return Subscription::Start(streams_, context, *params);
  }
  grpc::ServerWriteReactor<grpc::ByteBuffer>* ChatStream(grpc::CallbackServerContext* context,
                                                         const grpc::ByteBuffer*) override {
    SubscribeParams params;
    params.heartbeat = seconds(15);
    return Subscription::StartChat(streams_, context, session::ChatRequest(), params);
  }

  ActiveCalls active;
  std::atomic<int> left{0};

 private:
  const Answers* const answers_;
  Subscription::Surroundings streams_;
};

class StreamTest : public ::testing::Test {
 protected:
  ~StreamTest() override {
    service_.active.Drain();
    server_.Stop(milliseconds(500));
    EXPECT_TRUE(service_.active.AwaitNone(std::chrono::steady_clock::now() + kPatience))
        << "a stream was left behind";
  }
  static v1::SubscribeProgressRequest Session(const std::string& session_id) {
    v1::SubscribeProgressRequest request;
    request.set_session_id(session_id);
    return request;
  }
  static v1::SubscribeProgressRequest FromStart(v1::SubscribeProgressRequest request) {
    request.set_after_position(0);
    return request;
  }
  static v1::SubscribeProgressRequest Project(const std::string& project_id) {
    v1::SubscribeProgressRequest request;
    request.set_project_id(project_id);
    return request;
  }
  void Subscribe(TestReader& reader, const v1::SubscribeProgressRequest& request) {
    reader.Subscribe(server_.stub(), request);
  }
  uint64_t newest() { return store_.log()->newest_position(); }

  TestStore store_;
  Answers answers_;
  StreamService service_{&store_, &answers_};
  TestServer server_{&service_};
};

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

TEST_F(StreamTest, HeartbeatsInSilence) {
  store_.Make("a", "p1");
  store_.Make("b", "p2");
  store_.Append("a", {Say("a")});
  auto request = Project("p1");
  request.mutable_heartbeat()->set_seconds(1);
  TestReader reader;
  Subscribe(reader, request);
  EXPECT_EQ(reader.Lines(2), "subscription_started caught_up ");
  store_.Append("b", {Say("b"), Say("c")});
  const v1::ProgressEvent beat = reader.Next();
  EXPECT_TRUE(beat.has_heartbeat());
  EXPECT_EQ(beat.seq(), 0u);
  EXPECT_EQ(beat.position(), newest()) << "what other projects do moves the cursor";
  store_.Append("a", {Say("d")});
  EXPECT_EQ(reader.Lines(1), "d@2 ");
  EXPECT_EQ(reader.Lines(1), "heartbeat ");
}

// More than sockets and gRPC can hold, unread; other readers and the store do not feel it, and
// nothing is lost.
TEST_F(StreamTest, ASlowReaderLosesNothing) {
  constexpr int kEvents = 96;
  TestReader slow, quick;
  store_.Append("s", {Say("first")});
  Subscribe(slow, FromStart(Session("s")));
  Subscribe(quick, FromStart(Session("s")));
  EXPECT_EQ(slow.Lines(1), "subscription_started ");
  EXPECT_EQ(quick.Lines(3), "subscription_started first@1 caught_up ");
  for (int i = 0; i < kEvents; ++i) {
    store_.Append("s", {Say(std::string(1 << 20, static_cast<char>('a' + i % 26)))});
    EXPECT_EQ(quick.Next().session_update().text().size(), 1u << 20);
  }
  EXPECT_EQ(slow.Lines(2), "first@1 caught_up ");
  for (int i = 0; i < kEvents; ++i) {
    const v1::ProgressEvent event = slow.Next();
    ASSERT_EQ(event.seq(), static_cast<uint64_t>(i) + 2);
    ASSERT_EQ(event.session_update().text(), std::string(1 << 20, static_cast<char>('a' + i % 26)));
  }
}

TEST_F(StreamTest, ManySmallEventsInOrder) {
  constexpr int kRecords = 100, kEach = 200;
  TestReader reader;
  store_.Append("s", {Say("first")});
  Subscribe(reader, FromStart(Session("s")));
  EXPECT_EQ(reader.Lines(3), "subscription_started first@1 caught_up ");
  std::thread writer([&] {
    for (int i = 0; i < kRecords; ++i) store_.Append("s", std::vector<TestEvent>(kEach, Say("x")));
  });
  uint64_t position = 1;
  for (uint64_t seq = 2; seq <= 1 + kRecords * kEach; ++seq) {
    const v1::ProgressEvent event = reader.Next();
    ASSERT_EQ(event.seq(), seq);
    ASSERT_GT(event.position(), std::exchange(position, event.position()));
  }
  writer.join();
}

TEST_F(StreamTest, AReaderThatLeavesIsFreed) {
  store_.Append("s", {Say("a")});
  {
    TestReader waiting, planning;
    Subscribe(waiting, FromStart(Session("s")));
    EXPECT_EQ(waiting.Lines(3), "subscription_started a@1 caught_up ");
    waiting.Cancel();
    EXPECT_EQ(waiting.Finish().error_code(), grpc::CANCELLED);
    Subscribe(planning, FromStart(Session("s")));
    planning.Cancel();
    planning.Rest();
    EXPECT_EQ(planning.Finish().error_code(), grpc::CANCELLED);
  }
  EXPECT_TRUE(service_.active.AwaitNone(std::chrono::steady_clock::now() + kPatience));
  store_.Append("s", {Say("b")});  // wakes nobody
}

TEST_F(StreamTest, AReaderThatLeavesInTheMiddleOfAWriteIsFreed) {
  TestReader stuck;
  store_.Append("s", {Say("first")});
  Subscribe(stuck, FromStart(Session("s")));
  EXPECT_EQ(stuck.Lines(3), "subscription_started first@1 caught_up ");
  for (int i = 0; i < 64; ++i) store_.Append("s", {Say(std::string(1 << 20, 'x'))});
  stuck.Cancel();
  EXPECT_TRUE(service_.active.AwaitNone(std::chrono::steady_clock::now() + kPatience));
  EXPECT_TRUE(store_.loop().Call([] {}, kPatience)) << "what was posted before has run";
  EXPECT_GE(service_.left, 1) << "the domain was told";
  stuck.Finish();
}

TEST_F(StreamTest, ShutdownSaysHowFarItCame) {
  store_.Append("s", {Say("a"), Say("b")});
  TestReader reader, late;
  Subscribe(reader, FromStart(Session("s")));
  EXPECT_EQ(reader.Lines(4), "subscription_started a@1 b@2 caught_up ");
  service_.active.Drain();
  EXPECT_EQ(reader.Rest(), "");
  EXPECT_EQ(reader.Finish().error_code(), grpc::UNAVAILABLE);
  EXPECT_EQ(reader.Trailer("acpd-reason"), "SHUTTING_DOWN");
  EXPECT_EQ(reader.Trailer("acpd-position"), "2");
  Subscribe(late, FromStart(Session("s")));
  EXPECT_EQ(late.Rest(), "");
  EXPECT_EQ(late.Finish().error_code(), grpc::UNAVAILABLE);
  EXPECT_EQ(late.Trailer("acpd-reason"), "SHUTTING_DOWN");
}

// What the reader has is exactly what lies before the position it is told, also when much was in
// hand.
TEST_F(StreamTest, ShutdownInMidStreamLosesNothing) {
  store_.Append("s", std::vector<TestEvent>(3000, Say(std::string(4096, 'x'))));
  TestReader reader;
  Subscribe(reader, FromStart(Session("s")));
  EXPECT_EQ(reader.Lines(1), "subscription_started ");
  service_.active.Drain();
  const std::string rest = reader.Rest();
  const auto position = std::count(rest.begin(), rest.end(), '@');
  EXPECT_EQ(reader.Finish().error_code(), grpc::UNAVAILABLE);
  EXPECT_EQ(reader.Trailer("acpd-position"), std::to_string(position));
}

TEST_F(StreamTest, ShutdownDoesNotWaitForAStuckReader) {
  TestReader stuck;
  store_.Append("s", {Say("first")});
  Subscribe(stuck, FromStart(Session("s")));
  EXPECT_EQ(stuck.Lines(3), "subscription_started first@1 caught_up ");
  for (int i = 0; i < 64; ++i) store_.Append("s", {Say(std::string(1 << 20, 'x'))});
  service_.active.Drain();
  server_.Stop(milliseconds(100));
  EXPECT_TRUE(service_.active.AwaitNone(std::chrono::steady_clock::now() + kPatience));
}

TEST_F(StreamTest, ChatStreamIsChatAndItsEvents) {
  store_.Append("s", {Say("before"), Say("a", "t")});
  session::ChatReply reply;
  reply.turn.turn_id = "t";
  reply.turn.session_id = "s";
  reply.turn.after_position = 1;
  reply.epoch = "this-epoch";
  answers_.chat = reply;
  TestReader reader;
  reader.ChatStream(server_.stub(), v1::ChatStreamRequest());
  const v1::ProgressEvent accepted = reader.Next();
  EXPECT_EQ(accepted.chat_accepted().response().turn_id(), "t");
  EXPECT_EQ(accepted.turn_id(), "t");
  EXPECT_EQ(reader.Header("acpd-turn-id"), "t");
  EXPECT_EQ(reader.Header("acpd-session-id"), "s");
  EXPECT_EQ(reader.Header("acpd-after-position"), "1");
  EXPECT_EQ(reader.Header("acpd-epoch"), "this-epoch");
  EXPECT_EQ(reader.Lines(3), "subscription_started a@2 caught_up ");
  store_.Append("s", {TurnEnd("t"), Say("after")});
  EXPECT_EQ(reader.Rest(), "turn_ended ");
  EXPECT_TRUE(reader.Finish().ok());
  EXPECT_EQ(reader.Trailer("acpd-session-id"), "s");
  EXPECT_EQ(reader.Trailer("acpd-turn-id"), "t");
}

TEST_F(StreamTest, ARefusedChatStreamHasNoEvents) {
  answers_.chat = session::MakeError("QUEUE_FULL", "full");
  TestReader reader;
  reader.ChatStream(server_.stub(), v1::ChatStreamRequest());
  EXPECT_EQ(reader.Rest(), "");
  EXPECT_EQ(reader.Finish().error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_EQ(reader.Trailer("acpd-reason"), "QUEUE_FULL");
}

}  // namespace
}  // namespace acpd::server
