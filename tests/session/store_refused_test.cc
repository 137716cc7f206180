#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/session/store_fixture.h"

// What comes after a record that could not be stored: all that was under way behind it is refused,
// each result tells where the session stands, and from there it goes on.
namespace acpd::session {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The table takes each line once.
Record Poison(Record record) {
  record.outbox = {{"w", 1, "line"}, {"w", 1, "line"}};
  return record;
}

auto StandsAt(std::string session_id, uint64_t number, uint64_t seq) {
  using Standing = CommitResult::Standing;
  return testing::AllOf(testing::Field(&Standing::session_id, session_id),
                        testing::Field(&Standing::committed_number, number),
                        testing::Field(&Standing::committed_seq, seq));
}

class StoreRefused : public testing::TestWithParam<bool> {
 protected:
  StoreRefused() {
    SqliteStoreTuning tuning;
    tuning.writer.before_commit = [this](sqlite3*) { gate_.Pass(); };
    store_.emplace(dir_, tuning);
  }
  ~StoreRefused() override { gate_.Open(); }

  // In one batch, or each in a transaction of its own.
  std::vector<CommitResult> Run(std::vector<Record> records) {
    std::vector<CommitResult> results;
    if (GetParam()) {
      gate_.Close();
      const int before = gate_.arrived();
      std::future<CommitResult> blocker = store_->Start(store_->Make("other", 1));
      EXPECT_TRUE(gate_.WaitForArrivals(before + 1));
      std::vector<std::future<CommitResult>> started;
      for (Record& record : records) started.push_back(store_->Start(std::move(record)));
      gate_.Open();
      EXPECT_TRUE(Wait(std::move(blocker)).status.ok());
      for (auto& result : started) results.push_back(Wait(std::move(result)));
    } else {
      for (Record& record : records) results.push_back(store_->Commit(std::move(record)));
    }
    return results;
  }

  TempDir dir_;
  Gate gate_;
  std::optional<TestStore> store_;
};

TEST_P(StoreRefused, TheSessionGoesOnBehindItsLastCommittedRecord) {
  TestStore& store = *store_;
  ASSERT_TRUE(store.Commit(store.Make("a", 2)).status.ok());
  std::vector<Record> records;
  records.push_back(Poison(store.Make("a", 1)));
  records.push_back(store.Make("a", 2));
  records.push_back(store.Make("a", 0));
  const std::vector<Record> handed_over = records;
  const std::vector<CommitResult> results = Run(std::move(records));
  EXPECT_EQ(results[0].status.code(), absl::StatusCode::kInternal) << results[0].status;
  for (size_t i = 0; i < results.size(); ++i) {
    EXPECT_THAT(results[i].standings, ElementsAre(StandsAt("a", 1, 2))) << i;
    EXPECT_EQ(results[i].first_position, 0u);
    if (i == 0) continue;
    EXPECT_EQ(results[i].status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(results[i].status.message()), HasSubstr("came behind 1"));
  }
  for (const Record& record : handed_over) store.TakeBack(record);

  const Record next = store.Make("a", 1);
  EXPECT_EQ(next.number, 2u);
  EXPECT_EQ(next.events.first_seq, 3u);
  EXPECT_TRUE(store.Commit(next).status.ok());
  EXPECT_TRUE(store.Commit(store.Make("a", 1)).status.ok());
  std::vector<uint64_t> seqs;
  for (const SeenEvent& event : ReadPast(store, OfSession("a"), 0)) seqs.push_back(event.seq);
  EXPECT_THAT(seqs, ElementsAre(1, 2, 3, 4));
}

TEST_P(StoreRefused, WhatIsUnderWayDoesNotPassForTheNextRecord) {
  TestStore& store = *store_;
  ASSERT_TRUE(store.Commit(store.Make("a", 1)).status.ok());
  // Number 3 was handed over before the refusal of 2 came; 2 is used again behind it.
  Record poison = Poison(store.Make("a", 1));
  Record under_way = store.Make("a", 1);
  ASSERT_FALSE(Run({poison}).at(0).status.ok());
  store.TakeBack(under_way);
  store.TakeBack(poison);
  const std::vector<CommitResult> results =
      Run({under_way, store.Make("a", 1), store.Make("a", 1)});
  EXPECT_THAT(results[0].standings, ElementsAre(StandsAt("a", 1, 1)));
  EXPECT_FALSE(results[0].status.ok());
  EXPECT_TRUE(results[1].status.ok()) << results[1].status;
  EXPECT_TRUE(results[2].status.ok()) << results[2].status;
  EXPECT_TRUE(results[1].standings.empty());
}

TEST_P(StoreRefused, AGroupTellsOfEachOfItsSessions) {
  TestStore& store = *store_;
  ASSERT_TRUE(store.Commit(store.Make("old", 3)).status.ok());
  std::vector<Record> group;
  group.push_back(store.Make("old", 1));
  group.push_back(Poison(store.Make("new", 1)));
  const CommitResult result = store.Commit(group);
  EXPECT_THAT(result.standings, ElementsAre(StandsAt("old", 1, 3), StandsAt("new", 0, 0)));
  for (const Record& record : group) store.TakeBack(record);
  EXPECT_TRUE(store.Commit(store.Make("old", 1)).status.ok());
  EXPECT_TRUE(store.Commit(store.Make("new", 1)).status.ok());
}

TEST_P(StoreRefused, OtherSessionsDoNotNotice) {
  TestStore& store = *store_;
  std::vector<Record> records;
  records.push_back(store.Make("a", 1));
  records.push_back(Poison(store.Make("b", 1)));
  records.push_back(store.Make("a", 1));
  records.push_back(store.Make("b", 1));
  records.push_back(store.Make("c", 1));
  const std::vector<CommitResult> results = Run(std::move(records));
  const std::vector<bool> want = {true, false, true, false, true};
  for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(results[i].status.ok(), want[i]) << i;
  EXPECT_TRUE(store->health().ok());
}

INSTANTIATE_TEST_SUITE_P(InOneBatchOrNot, StoreRefused, testing::Bool());

TEST(StoreRefused1, AfterARestartNumbersBeginAnew) {
  TempDir dir;
  {
    TestStore store(dir);
    ASSERT_TRUE(store.Commit(store.Make("a", 2)).status.ok());
    store.Stop();
  }
  TestStore store(dir);
  const Record poison = Poison(store.Make("a", 1));
  EXPECT_THAT(store.Commit(poison).standings, ElementsAre(StandsAt("a", 0, 2)));
}

}  // namespace
}  // namespace acpd::session
