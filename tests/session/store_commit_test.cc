#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "session/sqlite.h"
#include "tests/session/store_fixture.h"

// What a commit is: groups in one transaction, fences, positions, and what becomes of the
// neighbours of a group that fails.
namespace acpd::session {
namespace {

SqliteStoreTuning WithGate(Gate& gate) {
  SqliteStoreTuning tuning;
  tuning.writer.before_commit = [&gate](sqlite3*) { gate.Pass(); };
  return tuning;
}

OutboxLine Line(uint64_t seq) { return {"worker", seq, "line"}; }

TEST(StoreCommit, PositionsAndSeqsCountUpOverAllSessions) {
  TempDir dir;
  TestStore store(dir);
  EXPECT_EQ(store.Commit(store.Make("a", 3)).first_position, 1u);
  EXPECT_EQ(store.Commit(store.Make("b", 2)).first_position, 4u);
  EXPECT_EQ(store.Commit(store.Make("a", 1)).first_position, 6u);
  EXPECT_EQ(store.Commit(store.Make("a", 0)).first_position, 0u);
  EXPECT_EQ(store.log().newest_position(), 6u);
  const std::vector<SeenEvent> want = {
      {1, 1, "a", EventText("a", 1)}, {2, 2, "a", EventText("a", 2)},
      {3, 3, "a", EventText("a", 3)}, {4, 1, "b", EventText("b", 1)},
      {5, 2, "b", EventText("b", 2)}, {6, 4, "a", EventText("a", 4)}};
  EXPECT_EQ(ReadPast(store, {}, 0), want);
}

TEST(StoreCommit, AGroupOfTwoSessionsIsOneTransaction) {
  TempDir dir;
  TestStore store(dir);
  store.Commit(store.Make("old", 1));
  std::vector<Record> group;
  group.push_back(store.Make("old", 1));
  group.push_back(store.Make("new", 2));
  const CommitResult result = store.Commit(std::move(group));
  ASSERT_TRUE(result.status.ok());
  EXPECT_EQ(result.first_position, 3u);  // of the last record
  EXPECT_EQ(store.log().Bounds(OfSession("old")).newest_position, 2u);
}

TEST(StoreCommit, AGroupWithOneBadRecordLeavesNothing) {
  TempDir dir;
  TestStore store(dir);
  store.Commit(store.Make("old", 1));
  std::vector<Record> group;
  group.push_back(store.Make("old", 1));
  group.push_back(store.Make("new", 2));
  group[1].outbox = {Line(1), Line(1)};  // the table takes each seq once
  const CommitResult result = store.Commit(group);
  EXPECT_EQ(result.status.code(), absl::StatusCode::kInternal) << result.status;
  EXPECT_EQ(result.first_position, 0u);
  EXPECT_EQ(store.log().newest_position(), 1u);
  EXPECT_EQ(ReadPast(store, {}, 0).size(), 1u);
  // The same numbers and positions serve the next try.
  group[1].outbox.pop_back();
  EXPECT_EQ(store.Commit(group).first_position, 3u);
}

TEST(StoreCommit, RecordsOfAnotherGenerationAreRefused) {
  TempDir dir;
  TestStore store(dir);
  Record record = store.Make("a", 1);
  record.generation -= 1;
  EXPECT_EQ(store.Commit(record).status.code(), absl::StatusCode::kAborted);
  record.generation += 1;
  EXPECT_TRUE(store.Commit(record).status.ok());
}

TEST(StoreCommit, RecordsOutOfOrderAreRefused) {
  TempDir dir;
  TestStore store(dir);
  Record first = store.Make("a", 1);
  Record second = store.Make("a", 1);
  EXPECT_EQ(store.Commit(second).status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(store.Commit(first).status.ok());
  EXPECT_EQ(store.Commit(first).status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(store.Commit(second).status.ok());
}

TEST(StoreCommit, ANewerGenerationInTheDatabaseTakesTheOwnership) {
  TempDir dir;
  TestStore store(dir);
  store.Commit(store.Make("a", 1));
  auto other = Database::Open(dir.database(), SQLITE_OPEN_READWRITE);
  ASSERT_TRUE((*other)->Exec("UPDATE meta SET generation = generation + 1"));
  const CommitResult result = store.Commit(store.Make("a", 1));
  EXPECT_EQ(result.status.code(), absl::StatusCode::kAborted) << result.status;
  EXPECT_EQ(store.log().newest_position(), 1u);
  EXPECT_EQ((*other)->QueryInt("SELECT count(*) FROM events"), 1);
}

TEST(StoreCommit, ARecordThatCannotBeStoredFailsAlone) {
  TempDir dir;
  Gate gate;
  TestStore store(dir, WithGate(gate));
  const GateOpener opener{gate};
  store.Commit(store.Make("a", 1));
  gate.Close();
  std::future<CommitResult> blocker = store.Start(store.Make("a", 1));
  ASSERT_TRUE(gate.WaitForArrivals(2));
  // These three gather behind it and make one batch.
  std::future<CommitResult> good = store.Start(store.Make("b", 1));
  Record poison = store.Make("c", 1);
  poison.outbox = {Line(1), Line(1)};
  std::future<CommitResult> bad = store.Start(poison);
  std::future<CommitResult> behind = store.Start(store.Make("a", 1));
  gate.Open();
  EXPECT_TRUE(Wait(std::move(blocker)).status.ok());
  EXPECT_EQ(Wait(std::move(good)).first_position, 3u);
  EXPECT_EQ(Wait(std::move(bad)).status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(Wait(std::move(behind)).first_position, 4u);
  EXPECT_TRUE(store->health().ok());
  EXPECT_EQ(gate.arrived(), 2 + 1 + 3);  // the batch once, then its groups
}

TEST(StoreCommit, ADuplicateSeqFailsAloneWithinItsBatch) {
  TempDir dir;
  Gate gate;
  TestStore store(dir, WithGate(gate));
  const GateOpener opener{gate};
  store.Commit(store.Make("a", 2));
  gate.Close();
  std::future<CommitResult> blocker = store.Start(store.Make("b", 1));
  ASSERT_TRUE(gate.WaitForArrivals(2));
  Record twice = store.Make("a", 1);
  twice.events.first_seq = 2;
  std::future<CommitResult> bad = store.Start(twice);
  std::future<CommitResult> good = store.Start(store.Make("b", 1));
  gate.Open();
  EXPECT_EQ(Wait(std::move(bad)).status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(Wait(std::move(good)).first_position, 4u);
  EXPECT_EQ(ReadPast(store, OfSession("a"), 0).size(), 2u);
}

TEST(StoreCommit, MalformedEventsAndEventsWithoutASessionAreRefused) {
  TempDir dir;
  TestStore store(dir);
  Record short_ends = store.Make("a", 2);
  short_ends.events.ends.back() -= 1;
  EXPECT_EQ(store.Commit(short_ends).status.code(), absl::StatusCode::kInternal);
  Record unordered = short_ends;
  unordered.events.ends = {9999, static_cast<uint32_t>(unordered.events.bytes.size())};
  EXPECT_EQ(store.Commit(unordered).status.code(), absl::StatusCode::kInternal);
  Record no_session = store.Make("b", 1);
  no_session.session.reset();
  EXPECT_EQ(store.Commit(no_session).status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(store.log().newest_position(), 0u);
}

TEST(StoreCommit, ABatchTakesAtMostItsNumberOfEvents) {
  TempDir dir;
  Gate gate;
  TestStore store(dir, WithGate(gate));
  const GateOpener opener{gate};
  gate.Close();
  std::vector<std::future<CommitResult>> results;
  results.push_back(store.Start(store.Make("a", 1)));
  ASSERT_TRUE(gate.WaitForArrivals(1));
  for (int i = 0; i < 9; ++i) results.push_back(store.Start(store.Make("a", 1000)));
  gate.Open();
  uint64_t position = 1;
  for (size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(Wait(std::move(results[i])).first_position, position) << i;
    position += i == 0 ? 1 : 1000;
  }
  EXPECT_EQ(gate.arrived(), 1 + 3);  // 4,000, 4,000 and 1,000
}

TEST(StoreCommit, RowsHoldOneSessionsEventsOfOneCommitUpTo64KiB) {
  TempDir dir;
  Gate gate;
  TestStore store(dir, WithGate(gate));
  const GateOpener opener{gate};
  gate.Close();
  std::future<CommitResult> first = store.Start(store.Make("a", 1));
  ASSERT_TRUE(gate.WaitForArrivals(1));
  // One commit: two small records of a session, another session between them, and an event over the
  // limit.
  std::future<CommitResult> r1 = store.Start(store.Make("a", 2));
  std::future<CommitResult> r2 = store.Start(store.Make("b", 1));
  std::future<CommitResult> r3 = store.Start(store.Make("a", 3));
  std::future<CommitResult> r4 = store.Start(store.Make("a", 1, "project", 100'000));
  std::future<CommitResult> r5 = store.Start(store.Make("a", 100, "project", 1000));
  gate.Open();
  EXPECT_EQ(Wait(std::move(first)).first_position, 1u);
  EXPECT_EQ(Wait(std::move(r1)).first_position, 2u);
  EXPECT_EQ(Wait(std::move(r2)).first_position, 1u + 2 + 3 + 1 + 100 + 1);
  EXPECT_EQ(Wait(std::move(r3)).first_position, 4u);
  EXPECT_EQ(Wait(std::move(r4)).first_position, 7u);
  EXPECT_EQ(Wait(std::move(r5)).first_position, 8u);
  std::vector<size_t> sizes;
  for (const LogRowPtr& row : store.Next(OfSession("a"), 0, true, 10 << 20).rows) {
    sizes.push_back(row->size());
    EXPECT_TRUE(row->size() == 1 || row->bytes.size() <= CommitPlan::kRowBytes);
  }
  EXPECT_THAT(sizes, testing::ElementsAre(1, 5, 1, 65, 35));
}

TEST(StoreCommit, ManySessionsAtOnceLeaveNoHole) {
  constexpr int kSessions = 4, kRecords = 150;
  TempDir dir;
  TestStore store(dir);
  std::vector<std::vector<Record>> records(kSessions);
  for (int s = 0; s < kSessions; ++s) {
    for (int i = 0; i < kRecords; ++i)
      records[s].push_back(store.Make("s" + std::to_string(s), i % 7));
  }
  std::vector<std::thread> threads;
  std::vector<std::vector<std::future<CommitResult>>> results(kSessions);
  for (int s = 0; s < kSessions; ++s) {
    threads.emplace_back([&, s] {
      for (Record& record : records[s]) results[s].push_back(store.Start(std::move(record)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  size_t events = 0;
  for (int s = 0; s < kSessions; ++s) {
    uint64_t last = 0;
    for (int i = 0; i < kRecords; ++i) {
      const CommitResult result = Wait(std::move(results[s][i]));
      ASSERT_TRUE(result.status.ok()) << result.status;
      events += i % 7;
      if (i % 7 == 0) continue;
      EXPECT_GT(result.first_position, last);
      last = result.first_position + i % 7 - 1;
    }
  }
  const std::vector<SeenEvent> seen = ReadPast(store, {}, 0);
  ASSERT_EQ(seen.size(), events);
  std::map<std::string, uint64_t> seqs;
  for (size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i].position, i + 1);
    EXPECT_EQ(seen[i].seq, ++seqs[seen[i].session_id]);
    EXPECT_EQ(seen[i].text, EventText(seen[i].session_id, seen[i].seq));
  }
  EXPECT_EQ(store->uncommitted_bytes(), 0u);
}

TEST(StoreCommit, UncommittedBytesCountWhatIsHandedOver) {
  TempDir dir;
  Gate gate;
  TestStore store(dir, WithGate(gate));
  const GateOpener opener{gate};
  gate.Close();
  Record record = store.Make("a", 10, "project", 1000);
  record.turns.emplace_back().prompt = std::string(5000, 'p');
  record.outbox.push_back({"w", 1, std::string(3000, 'l')});
  const size_t cost = record.cost();
  EXPECT_GT(cost, 10 * 1000u + 5000 + 3000);
  std::future<CommitResult> result = store.Start(std::move(record));
  EXPECT_EQ(store->uncommitted_bytes(), cost);
  gate.Open();
  Wait(std::move(result));
  EXPECT_EQ(store->uncommitted_bytes(), 0u);
}

}  // namespace
}  // namespace acpd::session
