#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/sqlite.h"
#include "session/store_schema.h"
#include "tests/session/store_fixture.h"

// Opening: the folder, the lock, damaged and newer files, generations and epochs.
namespace acpd::session {
namespace {

using testing::HasSubstr;

absl::Status OpenStatus(const TempDir& dir) {
  StoreOptions options;
  options.state_dir = dir.state_dir();
  absl::StatusOr<OpenedStore> opened =
      OpenSqliteStore(options, [](std::function<void()> f) { f(); });
  if (!opened.ok()) return opened.status();
  return opened->store->Load().status();
}

void ExpectRefused(const TempDir& dir, const std::string& text) {
  const absl::Status status = OpenStatus(dir);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(text));
}

mode_t ModeOf(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

TEST(StoreOpen, FolderAndFilesAreTheOwnersOnly) {
  TempDir dir;
  const mode_t old = umask(0);
  TestStore store(dir);
  store.Commit(store.Make("a", 1));
  umask(old);
  EXPECT_EQ(ModeOf(dir.state_dir()), 0700u);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir.state_dir())) {
    EXPECT_EQ(ModeOf(entry.path()), 0600u) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 5);  // database, -wal, -shm, lock, reserve
}

TEST(StoreOpen, ATrailingSlashAndMissingParentsAreFine) {
  TempDir dir;
  StoreOptions options;
  options.state_dir = dir.state_dir() + "/deeper/";
  auto opened = OpenSqliteStore(options, [](std::function<void()> f) { f(); });
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(ModeOf(dir.state_dir() + "/deeper"), 0700u);
}

TEST(StoreOpen, TheFileIsLaidOutForLargeRowsAndLaterShrinking) {
  TempDir dir;
  TestStore store(dir);
  auto db = Database::Open(dir.database(), SQLITE_OPEN_READONLY);
  EXPECT_EQ((*db)->QueryInt("PRAGMA page_size"), 16384);
  EXPECT_EQ((*db)->QueryInt("PRAGMA auto_vacuum"), 2);
  EXPECT_EQ((*db)->QueryInt("PRAGMA user_version"), NewestSchemaVersion());
}

TEST(StoreOpen, ASecondOneIsToldWhoHoldsTheStore) {
  TempDir dir;
  {
    TestStore store(dir);
    ExpectRefused(dir, "pid " + std::to_string(getpid()));
    EXPECT_TRUE(store.Commit(store.Make("a", 1)).status.ok());
  }
  EXPECT_TRUE(OpenStatus(dir).ok());
}

TEST(StoreOpen, AFolderThatCannotBeMadeIsNamed) {
  TempDir dir;
  std::ofstream(dir.state_dir()) << "a file";
  ExpectRefused(dir, dir.state_dir());
}

TEST(StoreOpen, ANewerSchemaIsRefused) {
  TempDir dir;
  ASSERT_TRUE(OpenStatus(dir).ok());
  {
    auto db = Database::Open(dir.database(), SQLITE_OPEN_READWRITE);
    ASSERT_TRUE((*db)->Exec("PRAGMA user_version = 99"));
  }
  ExpectRefused(dir, "newer acpd");
}

TEST(StoreOpen, WhatIsNoDatabaseIsRefused) {
  TempDir dir;
  ASSERT_TRUE(OpenStatus(dir).ok());
  std::ofstream(dir.database(), std::ios::binary | std::ios::trunc) << std::string(40'000, 'x');
  ExpectRefused(dir, "damaged");
}

TEST(StoreOpen, ADamagedDatabaseIsRefused) {
  TempDir dir;
  {
    TestStore store(dir);
    for (int i = 0; i < 50; ++i) store.Commit(store.Make("s" + std::to_string(i), 1));
    store->Close(kDeadline);
  }
  std::fstream file(dir.database(), std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(0, std::ios::end);
  const auto size = file.tellp();
  file.seekp(16384);
  file << std::string(static_cast<size_t>(size) - 16384, 'x');
  file.close();
  ExpectRefused(dir, "damaged");
}

TEST(StoreOpen, ATruncatedDatabaseIsRefused) {
  for (const double part : {0.0, 0.01, 0.5, 0.9}) {
    TempDir dir;
    {
      TestStore store(dir);
      for (int i = 0; i < 50; ++i) store.Commit(store.Make("s" + std::to_string(i), 1));
      store->Close(kDeadline);
    }
    const auto size = static_cast<double>(std::filesystem::file_size(dir.database()));
    std::filesystem::resize_file(dir.database(), static_cast<uintmax_t>(size * part));
    ExpectRefused(dir, "damaged");
    ExpectRefused(dir, "restore state_dir from a backup");
  }
}

// Runs `open` as a user who owns nothing here, in a process of its own; true: it said so.
bool RefusedToAnotherUser(const TempDir& dir) {
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(2);
    const absl::Status status = OpenStatus(dir);
    const std::string message(status.message());
    const bool says_so = absl::IsFailedPrecondition(status) &&
                         message.find(dir.state_dir()) != message.npos &&
                         message.find("owner and mode") != message.npos;
    if (!says_so) fprintf(stderr, "%s\n", status.ToString().c_str());
    _exit(says_so ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(StoreOpen, AFolderOfSomebodyElseOrThatCannotBeWrittenIsNamed) {
  TempDir dir;
  ASSERT_TRUE(OpenStatus(dir).ok());
  const std::filesystem::path parent = std::filesystem::path(dir.state_dir()).parent_path();
  std::filesystem::permissions(parent, std::filesystem::perms(0755));
  std::filesystem::permissions(dir.state_dir(), std::filesystem::perms(0555));
  const std::filesystem::path lock = dir.state_dir() + "/lock";
  std::filesystem::permissions(lock, std::filesystem::perms(0444));
  EXPECT_TRUE(RefusedToAnotherUser(dir));  // its files
  std::filesystem::remove(lock);
  EXPECT_TRUE(RefusedToAnotherUser(dir));  // the folder
  std::filesystem::permissions(dir.state_dir(), std::filesystem::perms(0700));
}

TEST(StoreOpen, GenerationsRiseAndIdentityStays) {
  TempDir dir;
  std::string store_id, key, epoch;
  for (uint64_t generation = 1; generation <= 3; ++generation) {
    TestStore store(dir);
    EXPECT_EQ(store->generation(), generation);
    if (generation == 1) {
      store_id = store->store_id();
      key = store->fingerprint_key();
      epoch = store->epoch();
    }
    EXPECT_EQ(store->store_id(), store_id);
    EXPECT_EQ(store->fingerprint_key(), key);
    EXPECT_EQ(store->epoch(), epoch);
  }
  EXPECT_EQ(key.size(), 32u);
  EXPECT_EQ(store_id.size(), 12u);
  EXPECT_EQ(epoch.find('-'), std::string::npos);
  TempDir other;
  TestStore another(other);
  EXPECT_NE(another->store_id(), store_id);
  EXPECT_NE(another->fingerprint_key(), key);
}

// Leaves the store as a kill -9 would: no clean stop.
void RunAndDie(const TempDir& dir, const std::string& boot_id, int events, std::string* epoch) {
  SqliteStoreTuning tuning;
  tuning.boot_id = boot_id;
  {
    TestStore store(dir, tuning);
    *epoch = store->epoch();
    ASSERT_TRUE(store.Commit(store.Make("a", events)).status.ok());
    store->Close(kDeadline);
  }
  auto db = Database::Open(dir.database(), SQLITE_OPEN_READWRITE);
  ASSERT_TRUE((*db)->Exec("UPDATE meta SET clean_stop = 0"));
}

std::string EpochAt(const TempDir& dir, const std::string& boot_id) {
  SqliteStoreTuning tuning;
  tuning.boot_id = boot_id;
  TestStore store(dir, tuning);
  return store->epoch();
}

TEST(StoreOpen, AHostCrashEndsTheEpoch) {
  TempDir dir;
  std::string epoch;
  RunAndDie(dir, "boot-1", 7, &epoch);
  EXPECT_NE(EpochAt(dir, "boot-2"), epoch);
  auto db = Database::Open(dir.database(), SQLITE_OPEN_READONLY);
  Statement old(**db, "SELECT epoch, end_position FROM epochs");
  ASSERT_TRUE(old.Next());
  EXPECT_EQ(old.Text(0), epoch);
  EXPECT_EQ(old.Int(1), 7);
}

TEST(StoreOpen, TheLogKnowsWhereEarlierEpochsEnded) {
  TempDir dir;
  std::string first, second;
  RunAndDie(dir, "boot-1", 7, &first);
  RunAndDie(dir, "boot-2", 2, &second);
  SqliteStoreTuning tuning;
  tuning.boot_id = "boot-3";
  TestStore store(dir, tuning);
  EXPECT_EQ(store.log().EpochEnd(first), 7u);
  EXPECT_EQ(store.log().EpochEnd(second), 9u);
  EXPECT_EQ(store.log().EpochEnd(store->epoch()), std::nullopt);
  EXPECT_EQ(store.log().EpochEnd("another store's"), std::nullopt);
}

TEST(StoreOpen, AKilledAcpdKeepsItsEpoch) {
  TempDir dir;
  std::string epoch;
  RunAndDie(dir, "boot-1", 1, &epoch);
  EXPECT_EQ(EpochAt(dir, "boot-1"), epoch);
}

TEST(StoreOpen, ACleanStopKeepsTheEpochOverAReboot) {
  TempDir dir;
  const std::string epoch = EpochAt(dir, "boot-1");
  EXPECT_EQ(EpochAt(dir, "boot-2"), epoch);
}

TEST(StoreOpen, AChildProcessDoesNotInheritTheLock) {
  TempDir dir;
  pid_t child = 0;
  {
    TestStore store(dir);
    const char* argv[] = {"sleep", "60", nullptr};
    child = vfork();
    if (child == 0) {
      execvp(argv[0], const_cast<char**>(argv));
      _exit(1);
    }
    ASSERT_GT(child, 0);
  }
  EXPECT_TRUE(OpenStatus(dir).ok());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace acpd::session
