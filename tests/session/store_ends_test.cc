#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/sqlite.h"
#include "tests/session/store_fixture.h"

// How a session's log ends: replaced, or deleted and forgotten.
namespace acpd::session {
namespace {

TEST(StoreEnds, AReplacedSessionEndsBehindItsLastEvent) {
  TempDir dir;
  TestStore store(dir);
  store.Commit(store.Make("old", 2));
  Waiter waiter(store, OfSession("old"), 2);
  std::vector<Record> group;
  group.push_back(store.Make("old", 1));
  group[0].session.emplace();
  group[0].session->session_id = "old";
  group[0].session->project_id = "project";
  group[0].session->replaced_by = "new";
  group.push_back(store.Make("new", 1));
  store.Commit(std::move(group));
  EXPECT_EQ(waiter.Get().rows.at(0)->first_seq, 3u);
  for (bool past_only : {false, true}) {
    const EventLog::Page end = store.Next(OfSession("old"), 3, past_only);
    EXPECT_TRUE(end.rows.empty());
    EXPECT_EQ(end.replaced_by, "new");
  }
  EXPECT_EQ(ReadPast(store, OfSession("old"), 0).size(), 3u);
  store.Stop();
  TestStore again(dir);
  EXPECT_EQ(again.Next(OfSession("old"), 3).replaced_by, "new");
}

TEST(StoreEnds, AReplacementWithoutEventsWakesTheWaiterToo) {
  TempDir dir;
  TestStore store(dir);
  store.Commit(store.Make("old", 1));
  Waiter waiter(store, OfSession("old"), 1);
  Record record = store.Make("old", 0);
  record.session.emplace();
  record.session->session_id = "old";
  record.session->project_id = "project";
  record.session->replaced_by = "new";
  store.Commit(std::move(record));
  EXPECT_EQ(waiter.Get().replaced_by, "new");
}

Record Forgetting(TestStore& store, const std::string& session_id, int events) {
  Record record = store.Make(session_id, events);
  record.forget_session = true;
  record.session.emplace();
  record.session->session_id = session_id;
  record.session->project_id = "project";
  record.session->deleted = true;
  return record;
}

class StoreEndsForget : public testing::TestWithParam<size_t> {};

TEST_P(StoreEndsForget, OnlyTheLastEventsOfADeletedSessionStay) {
  TempDir dir;
  TestStore store(dir, {}, GetParam());
  store.Commit(store.Make("gone", 3));
  store.Commit(store.Make("stays", 2));
  store.Commit(store.Make("gone", 2));
  TurnRow turn;
  turn.turn_id = "t";
  turn.session_id = "gone";
  Record with_rows = store.Make("gone", 1);
  with_rows.turns = {turn};
  with_rows.questions.emplace_back().question_id = "q";
  with_rows.questions.back().session_id = "gone";
  store.Commit(std::move(with_rows));
  Waiter waiter(store, OfSession("gone"), 8);
  EXPECT_EQ(store.Commit(Forgetting(store, "gone", 1)).first_position, 9u);

  EXPECT_EQ(waiter.Get().rows.at(0)->first_seq, 7u);
  EXPECT_TRUE(store.Next(OfSession("gone"), 9).deleted);
  const SeenEvent last = {9, 7, "gone", EventText("gone", 7)};
  EXPECT_THAT(ReadPast(store, OfSession("gone"), 0), testing::ElementsAre(last));
  const std::vector<SeenEvent> want = {
      {4, 1, "stays", EventText("stays", 1)}, {5, 2, "stays", EventText("stays", 2)}, last};
  EXPECT_EQ(ReadPast(store, OfProject("project"), 0), want);
  EXPECT_EQ(ReadPast(store, {}, 0), want);
  EXPECT_EQ(store.log().Bounds(OfProject("project")).oldest_position, 4u);
  EXPECT_EQ(store.log().Bounds({}).oldest_position, 4u);
  EXPECT_EQ(store.log().Bounds(OfSession("gone")).oldest_seq, 7u);
  auto db = Database::Open(dir.database(), SQLITE_OPEN_READONLY);
  EXPECT_EQ((*db)->QueryInt("SELECT count(*) FROM turns"), 0);
  EXPECT_EQ((*db)->QueryInt("SELECT count(*) FROM questions"), 0);
}

TEST_P(StoreEndsForget, ADeletionWithoutEventsLeavesNothingAndNoPositionIsGivenTwice) {
  TempDir dir;
  {
    TestStore store(dir, {}, GetParam());
    store.Commit(store.Make("stays", 1));
    store.Commit(store.Make("gone", 3));
    Record record = store.Make("gone", 0);
    record.forget_session = true;
    store.Commit(std::move(record));
    EXPECT_TRUE(store.Next(OfSession("gone"), 0).deleted);
    EXPECT_EQ(ReadPast(store, {}, 0).size(), 1u);
    Waiter waiter(store, {}, 1);  // nothing is left behind it, so it waits
    store.Commit(store.Make("stays", 1));
    EXPECT_EQ(waiter.Get().rows.at(0)->first_position, 5u);
    Record again = store.Make("stays", 0);
    again.forget_session = true;
    store.Commit(std::move(again));
    store->Close(kDeadline);
  }
  TestStore store(dir, {}, GetParam());
  EXPECT_TRUE(store.state.sessions.empty());
  EXPECT_THAT(store.state.deleted_sessions, testing::UnorderedElementsAre("gone", "stays"));
  EXPECT_EQ(store.log().newest_position(), 5u);
  EXPECT_TRUE(store.Next(OfSession("gone"), 0).deleted);
  EXPECT_EQ(store.Commit(store.Make("new", 1)).first_position, 6u);
}

INSTANTIATE_TEST_SUITE_P(MemoryAndFile, StoreEndsForget, testing::Values(0, 32 << 20));

class StoreEndsForgetLarge : public testing::TestWithParam<size_t> {};

// Its rows are too many for one transaction: they go in slices, and are not shown any more.
TEST_P(StoreEndsForgetLarge, OnlyTheLastEventsAreSeenFromTheStart) {
  constexpr int kRecords = 12;
  TempDir dir;
  const SeenEvent stays = {1, 1, "stays", EventText("stays", 1)};
  const SeenEvent last = {kRecords + 2, kRecords + 1, "gone", EventText("gone", kRecords + 1)};
  const auto expect_only_the_last = [&](TestStore& store) {
    EXPECT_THAT(ReadPast(store, {}, 0), testing::ElementsAre(stays, last));
    EXPECT_THAT(ReadPast(store, OfProject("project"), 3), testing::ElementsAre(last));
    EXPECT_THAT(ReadPast(store, OfSession("gone"), 0), testing::ElementsAre(last));
    EXPECT_EQ(store.log().Bounds(OfSession("gone")).oldest_seq, kRecords + 1u);
    EXPECT_THAT(store.Next({}, 0, true).lost, testing::ElementsAre());
    std::promise<uint64_t> position;
    store.log().Locate("gone", 3, [&](uint64_t found) { position.set_value(found); });
    EXPECT_EQ(Wait(position.get_future()), 0u);
  };
  {
    SqliteStoreTuning never;
    never.writer.prune_every = hours(1);
    TestStore store(dir, never, GetParam());
    store.Commit(store.Make("stays", 1));
    for (int i = 0; i < kRecords; ++i) store.Commit(store.Make("gone", 1, "project", 500'000));
    EXPECT_EQ(store.Commit(Forgetting(store, "gone", 1)).first_position, kRecords + 2u);
    expect_only_the_last(store);
    store.Stop();
  }
  auto db = Database::Open(dir.database(), SQLITE_OPEN_READONLY);
  EXPECT_EQ((*db)->QueryInt("SELECT count(*) FROM events"), kRecords + 2);

  Gate slices;
  SqliteStoreTuning tuning;
  tuning.writer.prune_every = milliseconds(1);
  tuning.writer.before_slice = [&slices] { slices.Pass(); };
  slices.Close();
  TestStore store(dir, tuning, GetParam());
  const GateOpener opener{slices};
  expect_only_the_last(store);
  slices.Open();
  const auto deadline = CondVar::Clock::now() + kDeadline;
  while ((*db)->QueryInt("SELECT count(*) FROM forgotten") > 0 &&
         CondVar::Clock::now() < deadline) {
    slices.WaitForArrivals(slices.arrived() + 1);
  }
  EXPECT_EQ((*db)->QueryInt("SELECT count(*) FROM forgotten"), 0);
  EXPECT_EQ((*db)->QueryInt("SELECT count(*) FROM events"), 2);
  expect_only_the_last(store);
}

INSTANTIATE_TEST_SUITE_P(RecentBytes, StoreEndsForgetLarge, testing::Values(0, 32 << 20));

}  // namespace
}  // namespace acpd::session
