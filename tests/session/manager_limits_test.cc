// Limits of the manager, at, under and over their values: queued bytes, a request_id's life, a
// session's labels, and silence while acpd itself does not read.

#include <chrono>
#include <string>

#include "session/errors.h"
#include "tests/session/manager_harness.h"

namespace acpd::session {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::steady_clock;

class ManagerLimitsTest : public ManagerTest {
 protected:
  // A running turn behind which others wait.
  std::string Occupy() {
    const auto running = Chat(Request(R"(![{"barrier":"hold"}])", "", WaitFor::kStarted));
    EXPECT_TRUE(running.ok()) << running.status();
    return running->turn.session_id;
  }
  std::string QueueBytes(const std::string& session_id, size_t bytes) {
    ChatRequest request = Request("x", session_id, WaitFor::kAccepted);
    request.stored_bytes = std::string(bytes, 'x');
    return ReasonOf(Chat(std::move(request)).status());
  }
  void EndAll() {
    barriers().Release("hold");
    CancelQuery all;
    all.everything = true;
    EXPECT_TRUE(Run(manager().Cancel(NewCall(), all)).ok());
  }
};

TEST_F(ManagerLimitsTest, QueuedBytesUpToTheLimit) {
  config().limits.max_queued_bytes = 10'000;
  Begin();
  const std::string id = Occupy();
  EXPECT_EQ(QueueBytes(id, 4'000), "");
  EXPECT_EQ(QueueBytes(id, 6'001), "QUEUE_FULL");
  EXPECT_EQ(QueueBytes(id, 6'000), "");
  EXPECT_EQ(QueueBytes(id, 1), "QUEUE_FULL");
  EXPECT_EQ(QueueBytes("", 1), "QUEUE_FULL");  // of all sessions
  EndAll();
  EXPECT_EQ(QueueBytes("", 10'000), "");
}

TEST_F(ManagerLimitsTest, QueuedTurnsInAllUpToTheLimit) {
  config().limits.max_queued_total = 2;
  Begin();
  const std::string id = Occupy();
  EXPECT_EQ(QueueBytes(id, 1), "");
  EXPECT_EQ(QueueBytes(id, 1), "");
  EXPECT_EQ(QueueBytes(id, 1), "QUEUE_FULL");
  EndAll();
}

TEST_F(ManagerLimitsTest, ARequestIdIsKnownForItsTime) {
  config().limits.request_id_ttl = hours(24);
  Begin();
  ChatRequest request = Request("hello");
  request.request_id = "r1";
  const auto first = Chat(request);
  ASSERT_TRUE(first.ok()) << first.status();
  PassTime(hours(24) - minutes(1));
  const auto under = Chat(request);
  ASSERT_TRUE(under.ok()) << under.status();
  EXPECT_TRUE(under->deduplicated);
  EXPECT_EQ(under->turn.turn_id, first->turn.turn_id);
  PassTime(minutes(2));
  request.content_hash = "other";  // the id is free, for whatever it may be
  const auto over = Chat(request);
  ASSERT_TRUE(over.ok()) << over.status();
  EXPECT_FALSE(over->deduplicated);
  EXPECT_NE(over->turn.turn_id, first->turn.turn_id);
  // From now on it is this turn's.
  PassTime(hours(23));
  const auto again = Chat(request);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->turn.turn_id, over->turn.turn_id);
}

TEST_F(ManagerLimitsTest, ARequestIdIsKnownAsLongAsItsTurnLasts) {
  config().limits.request_id_ttl = hours(24);
  Begin();
  ChatRequest request = Request(R"(![{"barrier":"hold"}])", "", WaitFor::kStarted);
  request.request_id = "r1";
  const auto first = Chat(request);
  ASSERT_TRUE(first.ok()) << first.status();
  PassTime(hours(48));
  const auto again = Chat(request);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->deduplicated);
  EXPECT_EQ(again->turn.turn_id, first->turn.turn_id);
  EndAll();
}

TEST_F(ManagerLimitsTest, ASessionsLabelsGrowUpToTheLimit) {
  Begin();
  ChatRequest request = Request("hello");
  for (int i = 0; i < 63; ++i) request.labels["label-" + std::to_string(i)] = "x";
  const auto first = Chat(request);
  ASSERT_TRUE(first.ok()) << first.status();
  request = Request("hello", first->turn.session_id);
  request.labels = {{"label-0", "y"}, {"the-64th", "x"}};
  EXPECT_TRUE(Chat(request).ok());
  request.labels = {{"the-65th", "x"}};
  EXPECT_EQ(ReasonOf(Chat(request).status()), "INVALID_REQUEST");
}

TEST_F(ManagerLimitsTest, AnAgentWhoseOutputWaitsForTheStoreIsNotSilent) {
  agent().turn_silence = milliseconds(200);
  agent().turn_stall = milliseconds(500);
  Begin();
  const auto begun =
      Chat(Request(R"(![{"barrier":"hold"},{"burst":[1200,10000]}])", "", WaitFor::kStarted));
  ASSERT_TRUE(begun.ok()) << begun.status();
  SetCommits(Commits::kHold);
  barriers().Release("hold");
  ASSERT_TRUE(RunUntil([&] { return UncommittedBytes() > (4u << 20); }));
  const auto much_later = steady_clock::now() + milliseconds(1500);
  ASSERT_TRUE(RunUntil([&] { return steady_clock::now() > much_later; }));
  SetCommits(Commits::kCommit);
  const auto ended =
      Run(manager().GetTurn(NewCall(), {begun->turn.turn_id, "", ""}, WaitFor::kFinished));
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->result.outcome, Outcome::kCompleted) << ended->result.error.message;
}

}  // namespace
}  // namespace acpd::session
