#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/sqlite.h"
#include "tests/session/store_fixture.h"

// A large delete and the vacuum behind it are slices between commits: no commit waits for more
// than one of them.
namespace acpd::session {
namespace {

constexpr int kOldRows = 30'000;
constexpr int kCommits = 60;

// Rows of one session as if each had been a commit of long ago.
void AddOldRows(const TempDir& dir) {
  auto db = Database::Open(dir.database(), SQLITE_OPEN_READWRITE);
  const std::string sql =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
      std::to_string(kOldRows) +
      ") INSERT INTO events SELECT i, 'old', 'project', i, 1, 0, (i - 1) * 1204, "
      "x'e8030000', zeroblob(1000) FROM n";
  ASSERT_TRUE((*db)->Exec(sql.c_str())) << (*db)->TakeStatus();
}

// What the store thread did, in its order.
class Diary {
 public:
  void Add(char what) {
    MutexLock lock(mutex_);
    entries_ += what;
  }
  std::string entries() {
    MutexLock lock(mutex_);
    return entries_;
  }

 private:
  Mutex mutex_;
  std::string entries_ ABSL_GUARDED_BY(mutex_);
};

TEST(StoreSlices, CommitsGoOnWhileALotIsDeleted) {
  TempDir dir;
  {
    TestStore store(dir);
    store.Commit(store.Make("old", 0));
    store.Stop();
  }
  ASSERT_NO_FATAL_FAILURE(AddOldRows(dir));

  Diary diary;
  Gate slices;
  SqliteStoreTuning tuning;
  tuning.pruner.free_pages = 0;
  tuning.writer.prune_every = milliseconds(1);
  tuning.writer.prune_rest = 0;  // as many slices as there can be
  tuning.writer.before_slice = [&] {
    diary.Add('s');
    slices.Pass();
  };
  tuning.writer.before_commit = [&](sqlite3*) { diary.Add('c'); };
  slices.Close();
  TestStore store(dir, tuning, 32 << 20, StoreOptions());
  const GateOpener opener{slices};
  ASSERT_TRUE(slices.WaitForArrivals(1));  // the first slice is under way
  std::vector<std::future<CommitResult>> results;
  for (int i = 0; i < kCommits; ++i) results.push_back(store.Start(store.Make("new", 2001)));
  slices.Open();
  for (auto& result : results) EXPECT_TRUE(Wait(std::move(result)).status.ok());
  std::string entries = diary.entries();
  entries.resize(entries.rfind('c') + 1);  // behind it nobody waits
  // All of them waited from the beginning, and none for more than one slice.
  EXPECT_EQ(entries.find("ss"), entries.npos) << entries;
  EXPECT_EQ(std::count(entries.begin(), entries.end(), 'c'), kCommits) << entries;
  EXPECT_GE(std::count(entries.begin(), entries.end(), 's'), 10) << entries;

  // The rest goes while nobody waits, and its pages go back to the disk.
  auto db = Database::Open(dir.database(), SQLITE_OPEN_READONLY);
  int seen = slices.arrived();
  const auto deadline = CondVar::Clock::now() + kDeadline;
  while ((*db)->QueryInt("SELECT count(*) FROM events WHERE session_id = 'old'") +
                 (*db)->QueryInt("PRAGMA freelist_count") >
             0 &&
         CondVar::Clock::now() < deadline) {
    slices.WaitForArrivals(++seen);
  }
  EXPECT_EQ((*db)->QueryInt("SELECT count(*) FROM events WHERE session_id = 'old'"), 0);
  EXPECT_EQ((*db)->QueryInt("PRAGMA freelist_count"), 0);
  EXPECT_GE(slices.arrived(), kOldRows / static_cast<int>(StorePruner::kRows));
  EXPECT_EQ(store.log().Bounds(OfSession("new")).newest_seq, uint64_t{kCommits} * 2001);
}

}  // namespace
}  // namespace acpd::session
