// A stream can be cut anywhere and taken up again: every event once, in order.

#include <random>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using ::testing::IsEmpty;
using Code = grpc::StatusCode;

class CursorsTest : public TurnsTest {
 protected:
  // Reads up to `count` stored events of the stream, or until the turn's end; then cuts it.
  std::vector<Event> ReadSome(const api::SubscribeProgressRequest& request, size_t count,
                              const std::string& until_turn = "") {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    const auto reader = client().stub()->SubscribeProgress(&context, request);
    std::vector<Event> events;
    for (Event event; events.size() < count && reader->Read(&event);) {
      if (event.seq() == 0) continue;
      events.push_back(event);
      if (event.has_turn_ended() && event.turn_id() == until_turn) break;
    }
    context.TryCancel();
    return events;
  }
  Code CodeOf(const api::SubscribeProgressRequest& request, const std::string& reason) {
    const auto stream = client().Subscribe(request);
    const auto end = stream->WaitForEnd();
    EXPECT_TRUE(end);
    EXPECT_EQ(stream->Trailer("acpd-reason"), reason);
    return end ? end->error_code() : Code::OK;
  }
};

TEST_F(CursorsTest, TwoHundredCutsLoseAndRepeatNothing) {
  constexpr int kUpdates = 20'000, kCuts = 200;
  StartDaemon();
  const auto chat = client().Begin(
      kProject, "",
      Scripted(Steps(Step("burst", json::array({kUpdates / 2, 32})), Step("sleep_ms", 200),
                     Step("burst", json::array({kUpdates / 2, 32})))));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const std::string id = chat.response.session_id();
  std::mt19937 random(59);
  std::uniform_int_distribution<size_t> length(1, 150);
  std::vector<Event> seen;
  api::SubscribeProgressRequest request;
  request.set_session_id(id);
  for (int cut = 0; cut < kCuts; ++cut) {
    if (cut % 2 == 0) {
      request.set_after_seq(seen.empty() ? 0 : seen.back().seq());
    } else {
      request.set_after_position(seen.empty() ? 0 : seen.back().position());
    }
    const std::vector<Event> more = ReadSome(request, length(random), chat.response.turn_id());
    ASSERT_FALSE(more.empty());
    seen.insert(seen.end(), more.begin(), more.end());
    if (seen.back().has_turn_ended()) break;
  }
  if (!seen.back().has_turn_ended()) {
    request.set_after_seq(seen.back().seq());
    const std::vector<Event> rest =
        ReadSome(request, static_cast<size_t>(2 * kUpdates), chat.response.turn_id());
    seen.insert(seen.end(), rest.begin(), rest.end());
  }
  EXPECT_TRUE(seen.back().has_turn_ended());
  EXPECT_EQ(seen.front().seq(), 1u);
  EXPECT_THAT(CheckNoHoleNoRepeat(seen), IsEmpty());
  int next[] = {0, 0}, half = 0;
  for (const Event& event : seen) {
    if (!event.has_session_update()) continue;
    if (next[half] == kUpdates / 2) ++half;
    ASSERT_LT(half, 2);
    ASSERT_EQ(std::stoi(event.session_update().text()), next[half]++);
  }
  EXPECT_EQ(next[0] + next[1], kUpdates);
}

TEST_F(CursorsTest, TheStreamsFrame) {
  StartDaemon();
  const auto chat = client().Say(kProject, "", "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const auto stream = client().SubscribeSession(chat.response.session_id());
  ASSERT_TRUE(stream->WaitFor(HasCaughtUp()));
  const std::vector<Event> events = stream->Events();
  ASSERT_TRUE(events.front().has_subscription_started());
  const api::SubscriptionStarted& started = events.front().subscription_started();
  EXPECT_EQ(started.oldest_seq(), 1u);
  EXPECT_EQ(started.newest_seq(), stream->Stored().back().seq());
  EXPECT_EQ(started.newest_position(), stream->Stored().back().position());
  EXPECT_EQ(started.epoch(), chat.response.epoch());
  EXPECT_TRUE(events.back().has_caught_up());
  EXPECT_EQ(events.back().position(), stream->Stored().back().position());
  EXPECT_EQ(events.back().seq(), 0u);
  const auto next = client().Say(kProject, chat.response.session_id(), "more");
  ASSERT_TRUE(stream->WaitFor(EndOf(next.response.turn_id())));
  EXPECT_THAT(CheckNoHoleNoRepeat(stream->Events()), IsEmpty());
}

TEST_F(CursorsTest, AStreamFromNowHasNoPast) {
  StartDaemon();
  const auto first = client().Say(kProject, "", "one");
  ASSERT_TRUE(first.ok()) << first.ToString();
  api::SubscribeProgressRequest request;
  request.set_session_id(first.response.session_id());
  const auto stream = client().Subscribe(request);
  ASSERT_TRUE(stream->WaitFor(HasCaughtUp()));
  const auto second = client().Say(kProject, first.response.session_id(), "two");
  ASSERT_TRUE(stream->WaitFor(EndOf(second.response.turn_id())));
  for (const Event& event : stream->Stored()) {
    EXPECT_GT(event.seq(), second.response.after_seq());
  }
  EXPECT_EQ(TextOf(stream->Stored()), "two");
}

TEST_F(CursorsTest, AfterSeqOfAnAnswerShowsTheWholeTurn) {
  StartDaemon();
  const auto first = client().Say(kProject, "", "one");
  const auto second = client().Say(kProject, first.response.session_id(), "two");
  ASSERT_TRUE(second.ok()) << second.ToString();
  const auto by_seq =
      client().SubscribeSession(first.response.session_id(), second.response.after_seq());
  ASSERT_TRUE(by_seq->WaitFor(HasCaughtUp()));
  ASSERT_FALSE(by_seq->Stored().empty());
  EXPECT_TRUE(by_seq->Stored().front().has_turn_queued());
  EXPECT_EQ(by_seq->Stored().front().turn_id(), second.response.turn_id());
  api::SubscribeProgressRequest request;
  request.set_everything(true);
  request.set_after_position(second.response.after_position());
  const auto by_position = client().Subscribe(request);
  ASSERT_TRUE(by_position->WaitFor(HasCaughtUp()));
  ASSERT_FALSE(by_position->Stored().empty());
  EXPECT_EQ(by_position->Stored().front().seq(), by_seq->Stored().front().seq());
}

TEST_F(CursorsTest, BadCursorsAreRefused) {
  StartDaemon();
  const auto chat = client().Say(kProject, "", "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  api::SubscribeProgressRequest request;
  request.set_session_id(chat.response.session_id());
  request.set_after_seq(1000);
  EXPECT_EQ(CodeOf(request, "CURSOR_AHEAD"), Code::OUT_OF_RANGE);
  request.set_after_position(100'000);
  EXPECT_EQ(CodeOf(request, "CURSOR_AHEAD"), Code::OUT_OF_RANGE);
  request.set_project_id(kProject);
  request.set_after_seq(1);
  EXPECT_EQ(CodeOf(request, "INVALID_CURSOR"), Code::INVALID_ARGUMENT);
  request.Clear();
  EXPECT_EQ(CodeOf(request, "INVALID_REQUEST"), Code::INVALID_ARGUMENT);
  request.set_session_id("no-such-session");
  EXPECT_EQ(CodeOf(request, "SESSION_NOT_FOUND"), Code::NOT_FOUND);
  EXPECT_EQ(AllSessions().size(), 1u);
}

TEST_F(CursorsTest, ManyReadersSeeTheSame) {
  StartDaemon();
  const api::ChatResponse running = BeginAt("hold");
  std::vector<std::unique_ptr<Subscription>> streams;
  for (int i = 0; i < 8; ++i) {
    streams.push_back(client().SubscribeSession(running.session_id()));
  }
  const std::string next =
      Accept(running.session_id(), Steps(Step("burst", json::array({500, 16}))));
  barriers().Release("hold");
  std::vector<uint64_t> first;
  for (const auto& stream : streams) {
    ASSERT_TRUE(stream->WaitFor(EndOf(next)));
    EXPECT_THAT(CheckNoHoleNoRepeat(stream->Stored()), IsEmpty());
    std::vector<uint64_t> positions;
    for (const Event& event : stream->Stored()) positions.push_back(event.position());
    if (first.empty()) first = positions;
    EXPECT_EQ(positions, first);
  }
}

}  // namespace
}  // namespace acpd::e2e
