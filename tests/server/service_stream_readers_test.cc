// How a stream lives: silence, slow readers, leaving readers, shutdown, ChatStream.
#include "tests/server/service_stream_harness.h"

namespace acpd::server {
namespace {

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
