#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include "tests/session/store_fixture.h"

// A long log is read to its end with little memory.
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

}  // namespace
}  // namespace acpd::session
