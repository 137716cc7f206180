#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>

#include "tests/session/store_fixture.h"

// A long log is read to its end with little memory, and a session's own log both ways.
namespace acpd::session {
namespace {

size_t ResidentBytes() {
  size_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// A sanitizer keeps what was freed, or shadows it.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMemoryIsOurs = false;
#else
constexpr bool kMemoryIsOurs = true;
#endif

constexpr int kSessions = 20, kEventsOfARecord = 1000;
constexpr uint64_t kEvents = 1'000'000;

void WriteEvents(TestStore& store) {
  std::vector<std::future<CommitResult>> results;
  for (uint64_t i = 0; i < kEvents / kEventsOfARecord; ++i) {
    const std::string session_id = "session-" + std::to_string(i % kSessions);
    results.push_back(store.Start(store.Make(session_id, kEventsOfARecord, "project", 85)));
    if (results.size() < kSessions) continue;
    for (auto& result : results) ASSERT_TRUE(Wait(std::move(result)).status.ok());
    results.clear();
  }
}

TEST(StoreReplay, AMillionEventsAreReadWithBoundedMemory) {
  constexpr size_t kRecentBytes = 4 << 20, kGrowth = 64 << 20;
  TempDir dir;
  {
    TestStore store(dir, {}, kRecentBytes);
    ASSERT_NO_FATAL_FAILURE(WriteEvents(store));
    store.Stop();
  }
  TestStore store(dir, {}, kRecentBytes);
  malloc_trim(0);
  const size_t before = ResidentBytes();
  size_t most = before;
  uint64_t read = 0;
  std::map<std::string, uint64_t> seqs;
  while (true) {
    const EventLog::Page page = store.Next({}, read, true);
    ASSERT_TRUE(page.status.ok()) << page.status;
    if (page.rows.empty()) break;
    for (const LogRowPtr& row : page.rows) {
      uint64_t& seq = seqs[row->session_id];
      ASSERT_EQ(row->first_position, read + 1);
      ASSERT_EQ(row->first_seq, seq + 1);
      ASSERT_EQ(row->event(0), EventText(row->session_id, seq + 1, 85));
      read = row->last_position();
      seq = row->last_seq();
    }
    most = std::max(most, ResidentBytes());
  }
  EXPECT_EQ(read, kEvents);
  if (kMemoryIsOurs) {
    EXPECT_LT(most - before, kRecentBytes + kGrowth);
  }
  RecordProperty("growth_kib", static_cast<int>((most - before) >> 10));
}

// ---- A session's own log in pieces.

SessionRows ReadPiece(TestStore& store, SessionRange range, size_t max_bytes = 1000) {
  auto promise = std::make_shared<std::promise<SessionRows>>();
  store.log().ReadSession(std::move(range), max_bytes,
                          [promise](SessionRows rows) { promise->set_value(std::move(rows)); });
  return Wait(promise->get_future());
}

// The seqs of the range, in the order in which the pieces have them.
std::vector<uint64_t> ReadSeqs(TestStore& store, SessionRange range) {
  std::vector<uint64_t> seqs;
  while (true) {
    const SessionRows piece = ReadPiece(store, range);
    EXPECT_TRUE(piece.status.ok()) << piece.status;
    if (piece.rows.empty()) return seqs;
    for (const LogRowPtr& row : piece.rows) {
      EXPECT_EQ(row->session_id, range.session_id);
      for (size_t i = 0; i < row->size(); ++i) {
        const size_t index = range.descending ? row->size() - 1 - i : i;
        const uint64_t seq = row->first_seq + index;
        EXPECT_EQ(row->event(index), EventText(range.session_id, seq));
        if (seq <= range.after_seq || (range.before_seq != 0 && seq >= range.before_seq)) continue;
        seqs.push_back(seq);
      }
    }
    (range.descending ? range.before_seq : range.after_seq) = seqs.back();
  }
}

TEST(StoreReplay, ASessionIsReadForwardsAndBackwardsWithinBounds) {
  constexpr uint64_t kLast = 400;
  TempDir dir;
  TestStore store(dir, {}, /*recent_bytes=*/1);
  uint64_t made = 0;
  for (int count = 1; made < kLast; made += count, count = count % 13 + 1) {
    count = static_cast<int>(std::min<uint64_t>(count, kLast - made));
    ASSERT_TRUE(store.Commit(store.Make("s", count)).status.ok());
    ASSERT_TRUE(store.Commit(store.Make("other", 3)).status.ok());
  }
  for (const auto& [after, before] : std::vector<std::pair<uint64_t, uint64_t>>{{0, 0},
                                                                                {0, 401},
                                                                                {0, 1000},
                                                                                {399, 0},
                                                                                {400, 0},
                                                                                {1000, 0},
                                                                                {0, 1},
                                                                                {0, 2},
                                                                                {17, 18},
                                                                                {17, 19},
                                                                                {100, 300},
                                                                                {300, 100},
                                                                                {UINT64_MAX, 0},
                                                                                {0, UINT64_MAX}}) {
    std::vector<uint64_t> seqs;
    for (uint64_t seq = 1; seq <= kLast; ++seq) {
      if (seq > after && (before == 0 || seq < before)) seqs.push_back(seq);
    }
    EXPECT_EQ(ReadSeqs(store, {"s", after, before, false}), seqs) << after << " " << before;
    std::reverse(seqs.begin(), seqs.end());
    EXPECT_EQ(ReadSeqs(store, {"s", after, before, true}), seqs) << after << " " << before;
  }
}

TEST(StoreReplay, APieceHasItsBytesAndAtLeastOneRow) {
  TempDir dir;
  TestStore store(dir);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(store.Commit(store.Make("s", 1, "project", 1000)).status.ok());
  }
  for (const bool descending : {false, true}) {
    const SessionRange range = {"s", 0, 0, descending};
    EXPECT_EQ(ReadPiece(store, range, 1).rows.size(), 1u);
    EXPECT_EQ(ReadPiece(store, range, 3500).rows.size(), 3u);
    EXPECT_EQ(ReadPiece(store, range, 1 << 20).rows.size(), 10u);
  }
}

TEST(StoreReplay, SessionsThatHaveNothingToRead) {
  TempDir dir;
  TestStore store(dir);
  ASSERT_TRUE(store.Commit(store.Make("s", 5)).status.ok());
  const SessionRows unknown = ReadPiece(store, {"nobody", 0, 0, false});
  EXPECT_TRUE(unknown.status.ok() && unknown.rows.empty() && !unknown.deleted);
  Record last = store.Make("s", 1);
  last.session.emplace();
  last.session->session_id = "s";
  last.session->project_id = "project";
  last.session->deleted = true;
  last.forget_session = true;
  ASSERT_TRUE(store.Commit(std::move(last)).status.ok());
  const SessionRows deleted = ReadPiece(store, {"s", 0, 0, true});
  EXPECT_TRUE(deleted.status.ok() && deleted.rows.empty() && deleted.deleted);
}

TEST(StoreReplay, AClosedStoreSaysSo) {
  TempDir dir;
  TestStore store(dir);
  ASSERT_TRUE(store.Commit(store.Make("s", 5)).status.ok());
  ASSERT_TRUE(store->Close(kDeadline));
  const SessionRows closed = ReadPiece(store, {"s", 0, 0, false});
  EXPECT_EQ(closed.status.code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(closed.rows.empty());
}

}  // namespace
}  // namespace acpd::session
