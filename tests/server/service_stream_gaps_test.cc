// What readers are told of events that are not to be had any more: retention, and earlier epochs.
#include "tests/server/service_stream_harness.h"

namespace acpd::server {
namespace {

// Sessions keep 64 KiB of events, looked after all the time.
TestStore::Special SmallSessions() {
  TestStore::Special special;
  special.options.retention.max_session_bytes = 64 << 10;
  special.tuning.writer.prune_every = milliseconds(1);
  return special;
}

class StreamGapsTest : public StreamTest {
 protected:
  StreamGapsTest() : StreamTest(SmallSessions()) {
    store_.Append("other", {Say("a")});
    for (const char c : {'x', 'y', 'z'}) store_.Append("s", {Say(std::string(40 << 10, c))});
    store_.Append("other", {Say("b")});
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (OldestSeq() != 3 && std::chrono::steady_clock::now() < deadline)
      std::this_thread::yield();
    EXPECT_EQ(OldestSeq(), 3u);
  }
  uint64_t OldestSeq() { return store_.log()->Bounds({Kind::kSession, "s"}).oldest_seq; }

  // Behind `after`: one Gap of session s, and then what is left.
  void ExpectGap(v1::SubscribeProgressRequest request, uint64_t after, const std::string& rest) {
    request.set_after_position(after);
    request.set_replay_only(true);
    TestReader reader;
    Subscribe(reader, request);
    EXPECT_EQ(reader.Lines(1), "subscription_started ");
    const v1::ProgressEvent gap = reader.Next();
    EXPECT_EQ(gap.gap().reason(), v1::Gap::REASON_RETENTION);
    EXPECT_EQ(gap.gap().next_seq(), 3u);
    EXPECT_EQ(gap.gap().next_position(), 4u);
    EXPECT_EQ(reader.Rest(), rest);
  }
  const std::string left_ = std::string(40 << 10, 'z') + "@3 ";
};

TEST_F(StreamGapsTest, AProjectsReaderIsToldWhichSessionLostEvents) {
  ExpectGap(Project("project"), 0, "a@1 " + left_ + "b@2 caught_up ");
  ExpectGap(Project("project"), 2, left_ + "b@2 caught_up ");
  auto request = Project("project");
  request.set_after_position(0);
  TestReader reader;
  Subscribe(reader, request);
  reader.Lines(1);
  EXPECT_EQ(reader.Next().session_id(), "s");
}

TEST_F(StreamGapsTest, ASessionsReaderIsToldOnceWhateverItsCursor) {
  ExpectGap(Session("s"), 0, left_ + "caught_up ");
  ExpectGap(Session("s"), 2, left_ + "caught_up ");
}

TEST_F(StreamGapsTest, WhoHasSeenWhatWentIsToldNothing) {
  auto request = Project("project");
  request.set_replay_only(true);
  request.set_after_position(3);
  TestReader reader;
  Subscribe(reader, request);
  EXPECT_EQ(reader.Rest(), "subscription_started " + left_ + "b@2 caught_up ");
}

// An epoch that ended behind position 2.
TestStore::Special AfterACrash() {
  TestStore::Special special;
  special.before_load = [](const std::string& state_dir) {
    auto db = session::Database::Open(state_dir + "/acpd.db", SQLITE_OPEN_READWRITE);
    EXPECT_TRUE((*db)->Exec("INSERT INTO epochs VALUES('older', 2)"));
  };
  return special;
}

class StreamEpochsTest : public StreamTest {
 protected:
  StreamEpochsTest() : StreamTest(AfterACrash()) {
    store_.Append("s", {Say("a"), Say("b"), Say("c")});
  }
  std::string Read(v1::SubscribeProgressRequest request) {
    request.set_epoch("older");
    request.set_replay_only(true);
    TestReader reader;
    Subscribe(reader, request);
    return reader.Rest();
  }
};

TEST_F(StreamEpochsTest, AnEarlierCursorIsGoodUpToTheEndOfItsEpoch) {
  for (auto request : {Session("s"), Project("project")}) {
    request.set_after_position(1);
    EXPECT_EQ(Read(request), "subscription_started b@2 c@3 caught_up ");
    request.set_after_position(2);
    EXPECT_EQ(Read(request), "subscription_started c@3 caught_up ");
  }
  auto by_seq = Session("s");
  by_seq.set_after_seq(2);
  EXPECT_EQ(Read(by_seq), "subscription_started c@3 caught_up ");
}

TEST_F(StreamEpochsTest, BehindItsEndComesAGapAndAllThatIsNewSince) {
  for (const uint64_t after : {3, 1000}) {
    auto request = Session("s");
    request.set_after_position(after);
    EXPECT_EQ(Read(request), "subscription_started gap c@3 caught_up ");
    request.set_after_seq(after);
    EXPECT_EQ(Read(request), "subscription_started gap c@3 caught_up ");
  }
}

}  // namespace
}  // namespace acpd::server
