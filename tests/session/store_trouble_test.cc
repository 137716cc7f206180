#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <utility>

#include "session/errors.h"
#include "session/sqlite.h"
#include "tests/session/store_fixture.h"

// A full disk, a lock held by somebody else, a stall, and the end.
namespace acpd::session {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

void ExpectUnavailable(const absl::Status& status) {
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  EXPECT_EQ(ReasonOf(status), "STORE_UNAVAILABLE");
}

// Lets the database grow to `pages` and counts the transactions that were tried.
struct Disk {
  std::atomic<int> pages{1 << 30};
  Gate tries;

  SqliteStoreTuning Tuning() {
    SqliteStoreTuning tuning;
    tuning.writer.retry = milliseconds(5);
    tuning.writer.before_commit = [this](sqlite3* db) {
      const std::string sql = "PRAGMA max_page_count = " + std::to_string(pages.load());
      sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr);
      tries.Pass();
    };
    return tuning;
  }
};

TEST(StoreTrouble, AFullDiskLosesNothingAndServiceResumes) {
  TempDir dir;
  Disk disk;
  TestStore store(dir, disk.Tuning());
  ASSERT_TRUE(store.Commit(store.Make("a", 1)).status.ok());
  EXPECT_TRUE(std::filesystem::exists(dir.state_dir() + "/reserve"));
  EXPECT_EQ(std::filesystem::file_size(dir.state_dir() + "/reserve"), ReserveFile::kBytes);
  disk.pages = 1;  // no page more than there are
  std::vector<std::future<CommitResult>> results;
  for (int i = 0; i < 20; ++i) results.push_back(store.Start(store.Make("a", 3, "p", 20'000)));
  ASSERT_TRUE(disk.tries.WaitForArrivals(disk.tries.arrived() + 4));
  ExpectUnavailable(store->health());
  EXPECT_FALSE(std::filesystem::exists(dir.state_dir() + "/reserve"));
  EXPECT_GT(store->uncommitted_bytes(), 20 * 3 * 20'000u);
  EXPECT_EQ(ReadPast(store, {}, 0).size(), 1u);  // what is committed can still be read

  disk.pages = 1 << 30;
  uint64_t position = 2;
  for (auto& result : results) {
    const CommitResult r = Wait(std::move(result));
    EXPECT_TRUE(r.status.ok()) << r.status;
    EXPECT_EQ(r.first_position, position);
    position += 3;
  }
  EXPECT_TRUE(store->health().ok()) << store->health();
  EXPECT_EQ(ReadPast(store, {}, 0).size(), 61u);
  EXPECT_TRUE(store->Close(kDeadline));
  EXPECT_TRUE(std::filesystem::exists(dir.state_dir() + "/reserve"));
}

TEST(StoreTrouble, ALockedDatabaseIsTriedAgain) {
  TempDir dir;
  Disk disk;
  TestStore store(dir, disk.Tuning());
  auto other = Database::Open(dir.database(), SQLITE_OPEN_READWRITE);
  ASSERT_TRUE((*other)->Exec("BEGIN IMMEDIATE"));
  const int before = disk.tries.arrived();
  std::future<CommitResult> result = store.Start(store.Make("a", 1));
  ASSERT_TRUE(disk.tries.WaitForArrivals(before + 2));
  ExpectUnavailable(store->health());
  ASSERT_TRUE((*other)->Exec("ROLLBACK"));
  EXPECT_EQ(Wait(std::move(result)).first_position, 1u);
  EXPECT_TRUE(store->health().ok());
}

TEST(StoreTrouble, DamageThatShowsInServiceIsSaidAndNothingPassesForStored) {
  TempDir dir;
  TestStore store(dir);
  ASSERT_TRUE(store.Commit(store.Make("a", 1)).status.ok());
  auto other = Database::Open(dir.database(), SQLITE_OPEN_READWRITE);
  ASSERT_TRUE(
      (*other)->Exec("PRAGMA writable_schema = 1;"
                     "UPDATE sqlite_schema SET rootpage = 1000000 WHERE name = 'events_by_session';"
                     "PRAGMA schema_version = 1000"));
  const CommitResult result = store.Commit(store.Make("a", 1));
  EXPECT_EQ(result.status.code(), absl::StatusCode::kDataLoss) << result.status;
  ASSERT_EQ(result.standings.size(), 1u);
  EXPECT_EQ(result.standings[0].committed_seq, 1u);
  ExpectUnavailable(store->health());
  EXPECT_THAT(std::string(store->health().message()), HasSubstr("restore state_dir from a backup"));
}

TEST(StoreTrouble, ACommitThatTakesTooLongMakesTheStoreUnavailable) {
  TempDir dir;
  Disk disk;
  SqliteStoreTuning tuning = disk.Tuning();
  tuning.writer.stall = milliseconds(0);
  TestStore store(dir, tuning);
  const GateOpener opener{disk.tries};
  EXPECT_TRUE(store->health().ok());
  disk.tries.Close();
  std::future<CommitResult> result = store.Start(store.Make("a", 1));
  ASSERT_TRUE(disk.tries.WaitForArrivals(1));
  ExpectUnavailable(store->health());
  disk.tries.Open();
  EXPECT_TRUE(Wait(std::move(result)).status.ok());
  EXPECT_TRUE(store->Close(kDeadline));
  EXPECT_TRUE(store->health().ok());
}

// In a process of its own, because the limit holds for all of its files.
int RunOnALimitedDisk(const TempDir& dir) {
  signal(SIGXFSZ, SIG_IGN);
  Disk disk;
  TestStore store(dir, disk.Tuning());
  EXPECT_TRUE(store.Commit(store.Make("a", 1)).status.ok());
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlim_t before = std::exchange(limit.rlim_cur, 1 << 20);
  setrlimit(RLIMIT_FSIZE, &limit);
  std::vector<std::future<CommitResult>> results;
  for (int i = 0; i < 20; ++i) results.push_back(store.Start(store.Make("a", 1, "p", 200'000)));
  EXPECT_TRUE(disk.tries.WaitForArrivals(disk.tries.arrived() + 20));
  ExpectUnavailable(store->health());
  EXPECT_THAT(std::string(store->health().message()), HasSubstr("check the disk of state_dir"));
  limit.rlim_cur = before;
  setrlimit(RLIMIT_FSIZE, &limit);
  for (auto& result : results) EXPECT_TRUE(Wait(std::move(result)).status.ok());
  EXPECT_TRUE(store->health().ok()) << store->health();
  EXPECT_EQ(ReadPast(store, {}, 0).size(), 21u);
  EXPECT_TRUE(store->Close(kDeadline));
  return testing::Test::HasFailure() ? 1 : 0;
}

TEST(StoreTrouble, AnIoErrorLosesNothingAndServiceResumes) {
  TempDir dir;
  const pid_t child = fork();
  if (child == 0) _exit(RunOnALimitedDisk(dir));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(TestStore(dir).log().newest_position(), 21u);
}

TEST(StoreTrouble, RetentionThatCannotWriteIsTriedAgain) {
  TempDir dir;
  Disk disk;
  Gate slices;
  SqliteStoreTuning tuning = disk.Tuning();
  tuning.writer.prune_every = milliseconds(1);
  tuning.writer.before_slice = [&] { slices.Pass(); };
  StoreOptions options;
  options.retention.max_session_bytes = 100'000;
  TestStore store(dir, tuning, 32 << 20, options);
  ASSERT_TRUE(store.Commit(store.Make("a", 1, "p", 50'000)).status.ok());
  auto other = Database::Open(dir.database(), SQLITE_OPEN_READWRITE);
  ASSERT_TRUE((*other)->Exec("BEGIN IMMEDIATE"));  // no slice succeeds
  ASSERT_TRUE(slices.WaitForArrivals(slices.arrived() + 3));
  EXPECT_TRUE(store->health().ok()) << store->health();  // nobody waits for a commit
  ASSERT_TRUE((*other)->Exec("ROLLBACK"));
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(store.Commit(store.Make("a", 1, "p", 50'000)).status.ok());
  }
  const auto deadline = CondVar::Clock::now() + kDeadline;
  while (store.log().Bounds(OfSession("a")).oldest_seq != 4 && CondVar::Clock::now() < deadline) {
    slices.WaitForArrivals(slices.arrived() + 1);
  }
  EXPECT_EQ(store.log().Bounds(OfSession("a")).oldest_seq, 4u);
}

TEST(StoreTrouble, CloseCommitsWhatIsLeft) {
  TempDir dir;
  {
    TestStore store(dir);
    std::vector<std::future<CommitResult>> results;
    for (int i = 0; i < 500; ++i) results.push_back(store.Start(store.Make("a", 5)));
    EXPECT_TRUE(store->Close(kDeadline));
    for (auto& result : results) EXPECT_TRUE(Wait(std::move(result)).status.ok());
    ExpectUnavailable(store.Commit(store.Make("a", 1)).status);
    EXPECT_TRUE(store->Close(kDeadline));
  }
  TestStore store(dir);
  EXPECT_EQ(store.log().newest_position(), 2500u);
}

TEST(StoreTrouble, CloseGivesUpWhenItsTimeIsUpAndSaysWhatWasLeft) {
  TempDir dir;
  Disk disk;
  TestStore store(dir, disk.Tuning());
  store.Commit(store.Make("a", 1));
  disk.pages = 1;
  const int before = disk.tries.arrived();
  std::future<CommitResult> first = store.Start(store.Make("a", 3, "p", 20'000));
  ASSERT_TRUE(disk.tries.WaitForArrivals(before + 2));
  std::future<CommitResult> second = store.Start(store.Make("a", 1));
  EXPECT_FALSE(store->Close(milliseconds(20)));
  ExpectUnavailable(Wait(std::move(first)).status);
  ExpectUnavailable(Wait(std::move(second)).status);
}

TEST(StoreTrouble, ReadersAskedAfterTheEndAreAnsweredAtOnce) {
  TempDir dir;
  TestStore store(dir, {}, 0);
  store.Commit(store.Make("a", 1));
  store->Close(kDeadline);
  ExpectUnavailable(store.Next({}, 0).status);
  std::promise<uint64_t> located;
  store.log().Locate("a", 1, [&](uint64_t p) { located.set_value(p); });
  EXPECT_EQ(Wait(located.get_future()), 0u);
}

TEST(StoreTrouble, TheWalStaysWithinItsBound) {
  TempDir dir;
  SqliteStoreTuning tuning;
  tuning.checkpoints = {.step = 256 << 10, .bound = 2 << 20};
  TestStore store(dir, tuning);
  std::atomic<uintmax_t> largest{0};
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(store.Commit(store.Make("a", 10, "p", 10'000)).status.ok());
    largest = std::max<uintmax_t>(largest, std::filesystem::file_size(dir.database() + "-wal"));
  }
  // 20 MB were written; a commit's own pages come on top of the bound.
  EXPECT_LT(largest, uintmax_t{4} << 20);
  EXPECT_EQ(ReadPast(store, {}, 0).size(), 2000u);
}

}  // namespace
}  // namespace acpd::session
