#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <set>
#include <thread>

#include "session/sqlite.h"
#include "tests/session/store_fixture.h"

// Readers: from memory, from the file, from one to the other, and waiting for what comes.
namespace acpd::session {
namespace {

constexpr size_t kTiny = 20'000;

// Three sessions in two projects, in many commits.
void Write(TestStore& store, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    store.Commit(store.Make("a", 1 + i % 3, "p1", i % 50));
    store.Commit(store.Make("b", 2, "p1", 10));
    store.Commit(store.Make("c", 1, "p2", 10));
  }
}

std::vector<SeenEvent> Behind(const std::vector<SeenEvent>& all, const LogScope& scope,
                              uint64_t after) {
  std::vector<SeenEvent> events;
  for (const SeenEvent& event : all) {
    const std::string project = event.session_id == "c" ? "p2" : "p1";
    const bool in_scope =
        scope.kind == LogScope::Kind::kEverything ||
        (scope.kind == LogScope::Kind::kSession && event.session_id == scope.id) ||
        (scope.kind == LogScope::Kind::kProject && project == scope.id);
    if (in_scope && event.position > after) events.push_back(event);
  }
  return events;
}

// Any cursor of any scope finds exactly what lies behind it.
void ExpectAllCursors(TestStore& store) {
  const std::vector<SeenEvent> all = ReadPast(store, {}, 0);
  ASSERT_EQ(all.size(), store.log().newest_position());
  const LogScope scopes[] = {
      {}, OfSession("a"), OfSession("b"), OfSession("c"), OfProject("p1"), OfProject("p2")};
  for (const LogScope& scope : scopes) {
    for (uint64_t after = 0; after <= all.size(); after += 1 + after / 9) {
      for (size_t max_bytes : {size_t{1}, size_t{400}, size_t{1} << 20}) {
        ASSERT_EQ(ReadPast(store, scope, after, max_bytes), Behind(all, scope, after))
            << scope.id << " after " << after << " in " << max_bytes;
      }
    }
  }
}

TEST(StoreLog, EveryCursorReadsFromMemory) {
  TempDir dir;
  TestStore store(dir);
  Write(store, 40);
  ExpectAllCursors(store);
}

TEST(StoreLog, EveryCursorReadsFromTheFile) {
  TempDir dir;
  TestStore store(dir, {}, 0);
  Write(store, 40);
  ExpectAllCursors(store);
}

TEST(StoreLog, EveryCursorReadsAcrossTheEdgeOfMemory) {
  TempDir dir;
  TestStore store(dir, {}, kTiny);
  Write(store, 40);
  ExpectAllCursors(store);
}

TEST(StoreLog, EveryCursorReadsAfterARestart) {
  TempDir dir;
  {
    TestStore store(dir);
    Write(store, 30);
    store->Close(kDeadline);
  }
  TestStore store(dir);
  Write(store, 10);
  ExpectAllCursors(store);
}

TEST(StoreLog, PagesKeepToTheirSizeButBringOneRow) {
  TempDir dir;
  for (size_t recent : {size_t{0}, size_t{32} << 20}) {
    TempDir own;
    TestStore store(own, {}, recent);
    for (int i = 0; i < 10; ++i) store.Commit(store.Make("a", 1, "p", 10'000));
    EXPECT_EQ(store.Next({}, 0, true, 1).rows.size(), 1u);
    EXPECT_EQ(store.Next({}, 0, true, 35'000).rows.size(), 3u);
  }
}

// Readers that start anywhere while two sessions write, with memory for a few rows only.
TEST(StoreLog, FromTheFileToLiveWithoutHoleOrDouble) {
  constexpr int kReaders = 12, kRecords = 400;
  TempDir dir;
  TestStore store(dir, {}, kTiny);
  for (int i = 0; i < 50; ++i) store.Commit(store.Make("a", 3, "p1", 100));
  std::vector<Record> records;
  uint64_t total = 150;
  for (int i = 0; i < kRecords; ++i) {
    records.push_back(store.Make(i % 3 == 0 ? "b" : "a", 1 + i % 4, "p1", i % 300));
    total += records.back().events.size();
  }
  std::vector<std::vector<SeenEvent>> seen(kReaders);
  std::vector<uint64_t> starts;
  std::mt19937 random(7);
  for (int i = 0; i < kReaders; ++i) starts.push_back(i == 0 ? 0 : random() % 200);
  std::vector<std::thread> threads;
  for (int i = 0; i < kReaders; ++i) {
    threads.emplace_back([&, i] {
      const LogScope scope = i % 2 == 0 ? LogScope{} : OfProject("p1");
      for (uint64_t after = starts[i]; after < total;) {
        EventLog::Page page = store.Next(scope, after, false, 1 + i * 200);
        if (page.rows.empty()) break;
        AddEvents(page, after, seen[i]);
        after = page.rows.back()->last_position();
      }
    });
  }
  std::vector<std::future<CommitResult>> results;
  for (Record& record : records) {
    results.push_back(store.Start(std::move(record)));
    if (results.size() % 8 == 0) results.back().wait();
  }
  for (auto& result : results) EXPECT_TRUE(Wait(std::move(result)).status.ok());
  for (std::thread& thread : threads) thread.join();
  const std::vector<SeenEvent> all = ReadPast(store, {}, 0);
  ASSERT_EQ(all.size(), total);
  for (int i = 0; i < kReaders; ++i) EXPECT_EQ(seen[i], Behind(all, {}, starts[i])) << i;
}

TEST(StoreLog, WaitersOfTheirScopeAreWoken) {
  TempDir dir;
  TestStore store(dir);
  store.Commit(store.Make("a", 1, "p1"));
  store.Commit(store.Make("b", 1, "p2"));
  Waiter everything(store, {}, 2), project(store, OfProject("p1"), 2),
      session(store, OfSession("a"), 1), other(store, OfSession("b"), 2),
      ahead(store, OfSession("a"), 3), unknown(store, OfSession("later"), 0);
  for (Waiter* waiter : {&everything, &project, &session, &other, &ahead, &unknown}) {
    EXPECT_TRUE(waiter->IsWaiting());
  }
  store.Commit(store.Make("a", 1, "p1"));  // position 3
  for (Waiter* waiter : {&everything, &project, &session}) {
    const EventLog::Page page = waiter->Get();
    ASSERT_EQ(page.rows.size(), 1u);
    EXPECT_EQ(page.rows[0]->first_position, 3u);
  }
  EXPECT_TRUE(other.IsWaiting());
  EXPECT_TRUE(ahead.IsWaiting());
  store.Commit(store.Make("a", 1, "p1"));
  EXPECT_EQ(ahead.Get().rows[0]->first_position, 4u);
  store.Commit(store.Make("later", 1, "p1"));
  EXPECT_EQ(unknown.Get().rows[0]->first_seq, 1u);
  EXPECT_TRUE(other.IsWaiting());
}

TEST(StoreLog, AWaiterGetsACommitThatMemoryCannotHold) {
  TempDir dir;
  TestStore store(dir, {}, 1000);
  store.Commit(store.Make("a", 1));
  Waiter waiter(store, {}, 1);
  store.Commit(store.Make("a", 40, "project", 10'000));
  uint64_t next = 2;
  for (const LogRowPtr& row : waiter.Get().rows) {
    EXPECT_EQ(row->first_position, next);
    next = row->last_position() + 1;
  }
  EXPECT_EQ(next, 42u);
}

TEST(StoreLog, AForgottenTicketIsNotCalled) {
  TempDir dir;
  TestStore store(dir);
  store.Commit(store.Make("a", 1));
  Waiter gone(store, {}, 1), stays(store, {}, 1);
  store.log().Forget(gone.ticket);
  store.log().Forget(gone.ticket);
  store.log().Forget(12345);
  store.Commit(store.Make("a", 1));
  EXPECT_EQ(stays.Get().rows.size(), 1u);
  EXPECT_TRUE(gone.IsWaiting());
}

TEST(StoreLog, ADiskReaderThatLeftIsNotCalled) {
  TempDir dir;
  TestStore store(dir, {}, 0);
  store.Commit(store.Make("a", 1));
  // Both reader threads are held, so that the page is still to be read.
  Gate gate;
  gate.Close();
  {
    const GateOpener opener{gate};
    for (int i = 0; i < 2; ++i) store.log().Locate("a", 1, [&](uint64_t) { gate.Pass(); });
    ASSERT_TRUE(gate.WaitForArrivals(2));
    std::atomic<bool> called{false};
    EventLog::Page page;
    uint64_t ticket = 0;
    ASSERT_FALSE(store.log().Next(
        {}, 0, 1000, false, &page, [&](EventLog::Page) { called = true; }, &ticket));
    store.log().Forget(ticket);
    gate.Open();
    store->Close(kDeadline);  // runs what the threads still had
    EXPECT_FALSE(called);
  }
}

TEST(StoreLog, LocateAndReadEventFindEachSeq) {
  TempDir dir;
  TestStore store(dir);
  Write(store, 20);
  for (const SeenEvent& event : ReadPast(store, {}, 0)) {
    std::promise<uint64_t> located;
    store.log().Locate(event.session_id, event.seq, [&](uint64_t p) { located.set_value(p); });
    EXPECT_EQ(Wait(located.get_future()), event.position);
    std::promise<std::pair<uint64_t, std::string>> read;
    store.log().ReadEvent(event.session_id, event.seq, [&](uint64_t p, std::string bytes) {
      read.set_value({p, bytes});
    });
    EXPECT_EQ(Wait(read.get_future()), std::make_pair(event.position, event.text));
  }
  for (auto [id, seq] : {std::pair("a", 0), std::pair("a", 9999), std::pair("none", 1)}) {
    std::promise<uint64_t> located;
    store.log().Locate(id, seq, [&](uint64_t p) { located.set_value(p); });
    EXPECT_EQ(Wait(located.get_future()), 0u);
    std::promise<std::string> read;
    store.log().ReadEvent(id, seq, [&](uint64_t, std::string bytes) { read.set_value(bytes); });
    EXPECT_EQ(Wait(read.get_future()), "");
  }
}

TEST(StoreLog, BoundsAndLabelsAreThoseCommitted) {
  TempDir dir;
  for (int round = 0; round < 2; ++round) {
    TestStore store(dir);
    if (round == 0) {
      Record record = store.Make("a", 2, "p1");
      record.session->labels = {{"k", "v"}};
      store.Commit(std::move(record));
      store.Commit(store.Make("b", 1, "p2"));
      store.Commit(store.Make("a", 1, "p1"));
    }
    const LogBounds a = store.log().Bounds(OfSession("a"));
    EXPECT_EQ(a.oldest_seq, 1u);
    EXPECT_EQ(a.newest_seq, 3u);
    EXPECT_EQ(a.oldest_position, 1u);
    EXPECT_EQ(a.newest_position, 4u);
    const LogBounds p2 = store.log().Bounds(OfProject("p2"));
    EXPECT_EQ(p2.oldest_position, 3u);
    EXPECT_EQ(p2.newest_position, 3u);
    EXPECT_EQ(store.log().Bounds({}).newest_position, 4u);
    EXPECT_EQ(store.log().Bounds(OfSession("none")).newest_seq, 0u);
    EXPECT_EQ(*store.log().LabelsOf("a"), (Labels{{"k", "v"}}));
    EXPECT_TRUE(store.log().LabelsOf("none")->empty());
    store->Close(kDeadline);
  }
}

TEST(StoreLog, MemoryOfRecentRowsIsBounded) {
  RecentLog log(kTiny);
  for (uint64_t i = 1; i <= 1000; ++i) {
    auto row = std::make_shared<LogRow>();
    row->session_id = "s" + std::to_string(i % 7);
    row->project_id = "p";
    row->first_seq = (i + 6) / 7;
    row->first_position = i;
    row->bytes = std::string(i % 500, 'x');
    row->ends = {static_cast<uint32_t>(row->bytes.size())};
    log.Append(row);
    EXPECT_LE(log.bytes(), kTiny);
  }
  const RecentLog::Lane& all = *log.FindLane({});
  EXPECT_GT(all.rows.size(), 10u);
  EXPECT_EQ(all.rows.front()->first_position, all.floor + 1);
  EXPECT_EQ(all.rows.back()->first_position, 1000u);
}

TEST(StoreLog, TwoHundredThousandEventsReplayWhole) {
  constexpr uint64_t kEvents = 200'000;
  TempDir dir;
  TestStore store(dir, {}, 1 << 20);
  std::future<CommitResult> last;
  for (uint64_t i = 0; i < kEvents; i += 1000) last = store.Start(store.Make("a", 1000, "p", 50));
  ASSERT_TRUE(Wait(std::move(last)).status.ok());
  uint64_t after = 0;
  while (after < kEvents) {
    const EventLog::Page page = store.Next(OfSession("a"), after, true);
    ASSERT_FALSE(page.rows.empty());
    for (const LogRowPtr& row : page.rows) {
      ASSERT_EQ(row->first_position, after + 1);
      ASSERT_EQ(row->event(0), EventText("a", after + 1, 50));
      after = row->last_position();
    }
  }
  EXPECT_EQ(after, kEvents);
}

}  // namespace
}  // namespace acpd::session
