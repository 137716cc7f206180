#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "session/sqlite.h"
#include "tests/session/store_fixture.h"

// What goes when it is too old or too much, what stays, and what readers are told of it.
namespace acpd::session {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

constexpr WallTime kDay = WallTime{24} * 3600 * 1'000'000;
constexpr WallTime kStart = 1000 * kDay;

// A store whose clock the test sets, and that looks for old rows all the time.
class Retained {
 public:
  explicit Retained(Retention retention = {}, size_t recent_bytes = 32 << 20)
      : retention_(retention), recent_bytes_(recent_bytes) {
    Open();
  }
  void Open() {
    SqliteStoreTuning tuning;
    tuning.writer.prune_every = milliseconds(1);
    tuning.writer.before_slice = [this] { slices_.Pass(); };
    tuning.pruner.free_pages = 4;
    StoreOptions options;
    options.retention = retention_;
    options.request_id_ttl = hours(40 * 24);
    options.now = [this] { return now_.load(); };
    store_.emplace(dir_, tuning, recent_bytes_, options);
  }
  void Restart() {
    store_->Stop();
    store_.reset();
    Open();
  }
  TestStore& operator*() { return *store_; }
  TestStore* operator->() { return &*store_; }
  void SetDay(int day) { now_ = kStart + day * kDay; }

  // Looks again after each slice.
  template <class Predicate>
  bool Becomes(const Predicate& predicate) {
    const auto deadline = CondVar::Clock::now() + kDeadline;
    while (!predicate()) {
      if (CondVar::Clock::now() > deadline) return false;
      WaitForSlices(1);
    }
    return true;
  }
  // Two whole ones at least have come and gone.
  void WaitForSlices(int count = 3) { slices_.WaitForArrivals(slices_.arrived() + count); }
  int64_t Query(const char* sql) {
    auto db = Database::Open(dir_.database(), SQLITE_OPEN_READONLY);
    return (*db)->QueryInt(sql);
  }
  LogBounds Bounds(const LogScope& scope) { return store_->log().Bounds(scope); }

 private:
  const Retention retention_;
  const size_t recent_bytes_;
  TempDir dir_;
  Gate slices_;
  std::atomic<WallTime> now_{kStart};
  std::optional<TestStore> store_;
};

TurnRow Turn(const std::string& turn_id, const std::string& session_id, TurnState state,
             uint64_t queued_seq) {
  TurnRow turn;
  turn.turn_id = turn_id;
  turn.session_id = session_id;
  turn.project_id = "project";
  turn.request_id = "request-" + turn_id;
  turn.state = state;
  turn.queued_seq = queued_seq;
  return turn;
}

std::vector<uint64_t> Seqs(TestStore& store, const std::string& session_id) {
  std::vector<uint64_t> seqs;
  for (const SeenEvent& e : ReadPast(store, OfSession(session_id), 0)) seqs.push_back(e.seq);
  return seqs;
}

auto Lost(std::string session_id, uint64_t next_seq, uint64_t next_position) {
  return testing::AllOf(testing::Field(&LostEvents::session_id, session_id),
                        testing::Field(&LostEvents::project_id, "project"),
                        testing::Field(&LostEvents::next_seq, next_seq),
                        testing::Field(&LostEvents::next_position, next_position));
}

class StoreRetention : public testing::TestWithParam<size_t> {};

TEST_P(StoreRetention, OldEventsGoAndTheLogGoesOn) {
  Retained store({}, GetParam());
  store->Commit(store->Make("a", 3));
  store->Commit(store->Make("b", 2));
  store.SetDay(31);
  store->Commit(store->Make("a", 1));
  ASSERT_TRUE(store.Becomes([&] { return store.Query("SELECT count(*) FROM events") == 1; }));
  store.WaitForSlices();
  const SeenEvent left = {6, 4, "a", EventText("a", 4)};
  EXPECT_THAT(ReadPast(*store, {}, 0), ElementsAre(left));
  EXPECT_THAT(ReadPast(*store, OfProject("project"), 2), ElementsAre(left));
  EXPECT_THAT(ReadPast(*store, OfSession("b"), 0), ElementsAre());
  for (bool restarted : {false, true}) {
    EXPECT_EQ(store.Bounds(OfSession("a")).oldest_seq, 4u) << restarted;
    EXPECT_EQ(store.Bounds(OfSession("a")).oldest_position, 6u);
    EXPECT_EQ(store.Bounds(OfSession("b")).oldest_seq, 0u);
    EXPECT_EQ(store.Bounds(OfSession("b")).newest_seq, 2u);
    EXPECT_EQ(store.Bounds(OfProject("project")).oldest_position, 6u);
    EXPECT_EQ(store.Bounds({}).oldest_position, 6u);
    if (!restarted) store.Restart();
  }
  EXPECT_EQ(store->Commit(store->Make("b", 1)).first_position, 7u);
  EXPECT_THAT(Seqs(*store, "b"), ElementsAre(3));
}

TEST_P(StoreRetention, WhenAllIsGoneNoPositionOrSeqComesTwice) {
  Retained store({}, GetParam());
  store->Commit(store->Make("a", 3));
  store.SetDay(31);
  ASSERT_TRUE(store.Becomes([&] { return store.Query("SELECT count(*) FROM events") == 0; }));
  store.Restart();
  EXPECT_THAT(store->state.newest_seqs, ElementsAre(3));
  EXPECT_EQ(store->log().newest_position(), 3u);
  EXPECT_EQ(store->Commit(store->Make("a", 1)).first_position, 4u);
  EXPECT_THAT(Seqs(*store, "a"), ElementsAre(4));
}

TEST_P(StoreRetention, ReadersAreToldOnceTheyMissSomething) {
  Retained store({}, GetParam());
  store->Commit(store->Make("a", 3));
  store->Commit(store->Make("b", 2));
  store.SetDay(31);
  store->Commit(store->Make("a", 1));
  Waiter waiter(*store, {}, 6);  // has seen all: misses nothing
  ASSERT_TRUE(store.Becomes([&] { return store.Query("SELECT count(*) FROM events") == 1; }));
  store.WaitForSlices();
  for (bool restarted : {false, true}) {
    EXPECT_THAT(store->Next({}, 0, true).lost,
                UnorderedElementsAre(Lost("a", 4, 6), Lost("b", 3, 0)))
        << restarted;
    EXPECT_THAT(store->Next(OfProject("project"), 3, true).lost, ElementsAre(Lost("b", 3, 0)));
    EXPECT_THAT(store->Next(OfProject("other"), 0, true).lost, ElementsAre());
    EXPECT_THAT(store->Next(OfSession("a"), 1, true).lost, ElementsAre(Lost("a", 4, 6)));
    EXPECT_THAT(store->Next(OfSession("a"), 3, true).lost, ElementsAre());
    EXPECT_THAT(store->Next({}, 5, true).lost, ElementsAre());
    if (restarted) break;
    store->Commit(store->Make("a", 1));
    EXPECT_THAT(waiter.Get().lost, ElementsAre());
    store.Restart();
  }
}

INSTANTIATE_TEST_SUITE_P(RecentBytes, StoreRetention, testing::Values(0, 32 << 20));

TEST(StoreRetention1, AnUnfinishedTurnKeepsItsEvents) {
  Retained store;
  store->Commit(store->Make("a", 2));
  Record started = store->Make("a", 1);
  started.turns = {Turn("t", "a", TurnState::kRunning, 3)};
  store->Commit(started);
  store->Commit(store->Make("a", 2));
  store.SetDay(31);
  ASSERT_TRUE(store.Becomes([&] { return store.Bounds(OfSession("a")).oldest_seq == 3; }));
  store.WaitForSlices();
  EXPECT_THAT(Seqs(*store, "a"), ElementsAre(3, 4, 5));
  store.Restart();
  store.WaitForSlices();
  EXPECT_THAT(Seqs(*store, "a"), ElementsAre(3, 4, 5));
  Record ended = store->Make("a", 1);
  ended.turns = {Turn("t", "a", TurnState::kEnded, 3)};
  store->Commit(ended);
  EXPECT_TRUE(store.Becomes([&] { return store.Bounds(OfSession("a")).oldest_seq == 6; }));
}

TEST(StoreRetention1, ATurnThatMovedKeepsTheEventsWhereItIs) {
  Retained store;
  Record started = store->Make("old", 1);
  started.turns = {Turn("t", "old", TurnState::kQueued, 1)};
  store->Commit(started);
  Record moved = store->Make("new", 1);
  moved.turns = {Turn("t", "new", TurnState::kQueued, 1)};
  store->Commit(moved);
  store.SetDay(31);
  ASSERT_TRUE(store.Becomes([&] { return store.Bounds(OfSession("old")).oldest_seq == 0; }));
  store.WaitForSlices();
  EXPECT_THAT(Seqs(*store, "new"), ElementsAre(1));
}

TEST(StoreRetention1, ASessionOverItsLimitLosesItsOldestEventsAlsoOfARunningTurn) {
  Retained store({.max_session_bytes = 100'000});
  store->Commit(store->Make("small", 1, "project", 1000));
  Record started = store->Make("a", 1, "project", 20'000);
  started.turns = {Turn("t", "a", TurnState::kRunning, 1)};
  store->Commit(started);
  for (int i = 0; i < 9; ++i) store->Commit(store->Make("a", 1, "project", 20'000));
  // Four rows of 20,000 bytes and what each takes beside them fit.
  ASSERT_TRUE(store.Becomes([&] { return store.Bounds(OfSession("a")).oldest_seq == 7; }));
  store.WaitForSlices();
  EXPECT_THAT(Seqs(*store, "a"), ElementsAre(7, 8, 9, 10));
  EXPECT_THAT(Seqs(*store, "small"), ElementsAre(1));
}

TEST(StoreRetention1, TheNewestEventsOfASessionStayHoweverLarge) {
  Retained store({.max_session_bytes = 65'536});
  for (int i = 0; i < 3; ++i) store->Commit(store->Make("a", 1, "project", 500'000));
  ASSERT_TRUE(store.Becomes([&] { return store.Bounds(OfSession("a")).oldest_seq == 3; }));
  store.WaitForSlices();
  EXPECT_THAT(Seqs(*store, "a"), ElementsAre(3));
}

Record WithWorker(Record record, const std::string& worker_id) {
  record.worker.emplace();
  record.worker->worker_id = worker_id;
  record.worker->session_id = record.session_id;
  return record;
}

TEST(StoreRetention1, OverTheTotalTheLongestDormantSessionsGoFirst) {
  Retained store({.max_total_bytes = 260'000});
  store->Commit(WithWorker(store->Make("live", 1, "project", 50'000), "w"));
  store->Commit(store->Make("late", 1, "project", 50'000));
  store->Commit(store->Make("early", 1, "project", 50'000));
  store->Commit(store->Make("early", 1, "project", 50'000));
  store->Commit(store->Make("late", 1, "project", 50'000));
  store.WaitForSlices();
  EXPECT_EQ(ReadPast(*store, {}, 0).size(), 5u);  // all fit
  store->Commit(store->Make("live", 1, "project", 50'000));
  ASSERT_TRUE(store.Becomes([&] { return store.Bounds(OfSession("early")).oldest_seq == 2; }));
  store.WaitForSlices();
  EXPECT_THAT(Seqs(*store, "late"), ElementsAre(1, 2));
  for (int i = 0; i < 3; ++i) store->Commit(store->Make("live", 1, "project", 50'000));
  ASSERT_TRUE(store.Becomes([&] { return store.Bounds(OfSession("late")).oldest_seq == 0; }));
  store.WaitForSlices();
  EXPECT_THAT(Seqs(*store, "live"), ElementsAre(1, 2, 3, 4, 5));
  // No dormant one is left: the oldest of all.
  store->Commit(store->Make("live", 1, "project", 50'000));
  EXPECT_TRUE(store.Becomes([&] { return store.Bounds(OfSession("live")).oldest_seq == 2; }));
}

TEST(StoreRetention1, AWorkerThatGoesMakesItsSessionDormant) {
  Retained store({.max_total_bytes = 120'000});
  store->Commit(WithWorker(store->Make("a", 1, "project", 50'000), "w"));
  store->Commit(store->Make("b", 1, "project", 50'000));
  Record removed = store->Make("a", 0);
  removed.removed_worker = "w";
  store->Commit(removed);
  store->Commit(WithWorker(store->Make("b", 1, "project", 50'000), "v"));
  ASSERT_TRUE(store.Becomes([&] { return store.Bounds(OfSession("a")).oldest_seq == 0; }));
  store.WaitForSlices();
  EXPECT_THAT(Seqs(*store, "b"), ElementsAre(1, 2));
}

TEST(StoreRetention1, RowsThatAreOverGoWithTimeAndOthersStay) {
  Retained store;
  Record record = store->Make("a", 0);
  record.turns = {Turn("ended", "a", TurnState::kEnded, 1),
                  Turn("later", "a", TurnState::kEnded, 1),
                  Turn("running", "a", TurnState::kRunning, 1)};
  record.turns[0].end_time = kStart;
  record.turns[1].end_time = kStart + 10 * kDay;
  for (const bool resolved : {true, false}) {
    QuestionRow& question = record.questions.emplace_back();
    question.question_id = resolved ? "resolved" : "open";
    question.session_id = "a";
    question.resolved = resolved;
    question.expire_time = kStart;
  }
  store->Commit(record);
  store.SetDay(31);
  ASSERT_TRUE(store.Becomes([&] { return store.Query("SELECT count(*) FROM questions") == 1; }));
  EXPECT_EQ(store.Query("SELECT resolved FROM questions"), 0);
  store.WaitForSlices();
  EXPECT_EQ(store.Query("SELECT count(*) FROM turns"), 3);  // request_ids are kept for 40 days
  store.SetDay(41);
  ASSERT_TRUE(store.Becomes([&] { return store.Query("SELECT count(*) FROM turns") == 2; }));
  store.WaitForSlices();
  EXPECT_EQ(store.Query("SELECT count(*) FROM turns WHERE turn_id = 'ended'"), 0);
  store.SetDay(100);
  ASSERT_TRUE(store.Becomes([&] { return store.Query("SELECT count(*) FROM turns") == 1; }));
  store.WaitForSlices();
  EXPECT_EQ(store.Query("SELECT count(*) FROM turns WHERE turn_id = 'running'"), 1);
  EXPECT_EQ(store.Query("SELECT count(*) FROM sessions"), 1);
}

TEST(StoreRetention1, ATombstoneGoesBehindItsEvents) {
  Retained store;
  store->Commit(store->Make("stays", 1));
  store->Commit(store->Make("gone", 2));
  store.SetDay(1);
  Record deleted = store->Make("gone", 1);
  deleted.forget_session = true;
  store->Commit(deleted);
  store.WaitForSlices();
  EXPECT_EQ(store.Query("SELECT count(*) FROM sessions"), 2);
  EXPECT_THAT(store->Next(OfProject("project"), 1, true).lost, ElementsAre());
  store.SetDay(32);
  ASSERT_TRUE(store.Becomes([&] { return store.Query("SELECT count(*) FROM sessions") == 1; }));
  EXPECT_EQ(store.Query("SELECT count(*) FROM sessions WHERE session_id = 'stays'"), 1);
  ASSERT_TRUE(store.Becomes([&] { return store.Query("SELECT count(*) FROM cuts") == 1; }));
}

TEST(StoreRetention1, TheFileShrinks) {
  Retained store;
  for (int i = 0; i < 20; ++i) store->Commit(store->Make("a", 1, "project", 500'000));
  const int64_t pages = store.Query("PRAGMA page_count");
  store.SetDay(31);
  EXPECT_TRUE(store.Becomes([&] { return store.Query("PRAGMA page_count") < pages / 10; }));
  ASSERT_TRUE(store.Becomes([&] { return store.Query("PRAGMA freelist_count") <= 4; }));
}

}  // namespace
}  // namespace acpd::session
