#ifndef ACPD_TESTS_SESSION_STORE_FIXTURE_H_
#define ACPD_TESTS_SESSION_STORE_FIXTURE_H_

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "session/mutex.h"
#include "session/sqlite_store.h"

namespace acpd::session {

constexpr std::chrono::seconds kDeadline{60};

class TempDir {
 public:
  TempDir() {
    std::string name = std::filesystem::temp_directory_path() / "store_test.XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  // Not there yet: the store makes it.
  std::string state_dir() const { return path_ + "/state"; }
  std::string database() const { return state_dir() + "/acpd.db"; }

 private:
  std::string path_;
};

// Holds the store thread before its next transaction, and tells how many came.
class Gate {
 public:
  void Pass() {
    MutexLock lock(mutex_);
    ++arrived_;
    changed_.NotifyAll();
    while (closed_) changed_.Wait(mutex_);
  }
  void Close() {
    MutexLock lock(mutex_);
    closed_ = true;
  }
  void Open() {
    MutexLock lock(mutex_);
    closed_ = false;
    changed_.NotifyAll();
  }
  bool WaitForArrivals(int count) {
    const auto deadline = CondVar::Clock::now() + kDeadline;
    MutexLock lock(mutex_);
    while (arrived_ < count && CondVar::Clock::now() < deadline) {
      changed_.WaitUntil(mutex_, deadline);
    }
    return arrived_ >= count;
  }
  int arrived() {
    MutexLock lock(mutex_);
    return arrived_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  int arrived_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Opens its gate when a test leaves early, so that the store can be closed.
struct GateOpener {
  Gate& gate;
  ~GateOpener() { gate.Open(); }
};

template <class T>
T Wait(std::future<T> future) {
  if (future.wait_for(kDeadline) != std::future_status::ready) {
    ADD_FAILURE() << "the answer did not come";
    return T();
  }
  return future.get();
}

inline std::string EventText(const std::string& session_id, uint64_t seq, size_t padding = 0) {
  return session_id + ":" + std::to_string(seq) + ":" + std::string(padding, 'x');
}

// Rows of tests have small times.
inline StoreOptions KeepAll() {
  StoreOptions options;
  options.retention.max_age = hours(24 * 365 * 100);
  return options;
}

// A loaded store. Makes records in their order; the results come on the store thread.
class TestStore {
 public:
  explicit TestStore(const TempDir& dir, SqliteStoreTuning tuning = {},
                     size_t recent_bytes = 32 << 20, StoreOptions options = KeepAll()) {
    options.state_dir = dir.state_dir();
    options.recent_bytes = recent_bytes;
    auto store = SqliteStore::Open(
        options, [](std::function<void()> f) { f(); }, std::move(tuning));
    EXPECT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
    auto loaded = store_->Load();
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    state = *std::move(loaded);
    for (size_t i = 0; i < state.sessions.size(); ++i) {
      seqs_[state.sessions[i].session_id] = state.newest_seqs[i];
    }
  }
  // As the daemon's end.
  void Stop() {
    EXPECT_TRUE(store_->Close(kDeadline));
    store_.reset();
  }
  SqliteStore* operator->() { return store_.get(); }
  SqliteStore& operator*() { return *store_; }
  EventLog& log() { return *store_->log(); }

  // The session's next record, with `count` events. Its first one of this store brings the
  // session's row.
  Record Make(const std::string& session_id, int count, const std::string& project_id = "project",
              size_t padding = 0) {
    Record record;
    record.session_id = session_id;
    record.generation = store_->generation();
    record.number = ++numbers_[session_id];
    if (record.number == 1) {
      record.session.emplace();
      record.session->session_id = session_id;
      record.session->project_id = project_id;
    }
    for (int i = 0; i < count; ++i) AddEvent(record, padding);
    return record;
  }
  void AddEvent(Record& record, size_t padding = 0) {
    const uint64_t seq = ++seqs_[record.session_id];
    if (record.events.empty()) record.events.first_seq = seq;
    record.events.bytes += EventText(record.session_id, seq, padding);
    record.events.ends.push_back(record.events.bytes.size());
  }
  // After a record that was refused: its number and seqs are used again.
  void TakeBack(const Record& record) {
    --numbers_[record.session_id];
    seqs_[record.session_id] -= record.events.size();
  }

  std::future<CommitResult> Start(std::vector<Record> group) {
    auto promise = std::make_shared<std::promise<CommitResult>>();
    store_->Commit(std::move(group), [promise](const CommitResult& r) { promise->set_value(r); });
    return promise->get_future();
  }
  std::future<CommitResult> Start(Record record) {
    std::vector<Record> group;
    group.push_back(std::move(record));
    return Start(std::move(group));
  }
  CommitResult Commit(Record record) { return Wait(Start(std::move(record))); }
  CommitResult Commit(std::vector<Record> group) { return Wait(Start(std::move(group))); }

  EventLog::Page Next(const LogScope& scope, uint64_t after, bool past_only = false,
                      size_t max_bytes = 256 << 10) {
    auto promise = std::make_shared<std::promise<EventLog::Page>>();
    EventLog::Page page;
    uint64_t ticket = 0;
    if (log().Next(
            scope, after, max_bytes, past_only, &page,
            [promise](EventLog::Page p) { promise->set_value(std::move(p)); }, &ticket)) {
      return page;
    }
    return Wait(promise->get_future());
  }

  LoadedState state;

 private:
  std::map<std::string, uint64_t> numbers_, seqs_;
  std::unique_ptr<SqliteStore> store_;
};

inline LogScope OfSession(std::string id) { return {LogScope::Kind::kSession, std::move(id)}; }
inline LogScope OfProject(std::string id) { return {LogScope::Kind::kProject, std::move(id)}; }

// A reader that waits; its answer is taken when it came.
struct Waiter {
  explicit Waiter(TestStore& store, const LogScope& scope, uint64_t after) {
    EventLog::Page page;
    waits = !store.log().Next(
        scope, after, 1 << 20, false, &page,
        [this](EventLog::Page p) { promise.set_value(std::move(p)); }, &ticket);
  }
  bool IsWaiting() {
    return waits && future.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
  }
  EventLog::Page Get() { return Wait(std::move(future)); }

  bool waits = false;
  uint64_t ticket = 0;
  std::promise<EventLog::Page> promise;
  std::future<EventLog::Page> future = promise.get_future();
};

struct SeenEvent {
  uint64_t position = 0, seq = 0;
  std::string session_id, text;
  bool operator==(const SeenEvent&) const = default;
};

inline void AddEvents(const EventLog::Page& page, uint64_t after, std::vector<SeenEvent>& seen) {
  for (const LogRowPtr& row : page.rows) {
    for (size_t i = 0; i < row->size(); ++i) {
      if (row->first_position + i <= after) continue;
      seen.push_back({row->first_position + i, row->first_seq + i, row->session_id,
                      std::string(row->event(i))});
    }
  }
}

// Everything behind `after` that is there now.
inline std::vector<SeenEvent> ReadPast(TestStore& store, const LogScope& scope, uint64_t after,
                                       size_t max_bytes = 256 << 10) {
  std::vector<SeenEvent> seen;
  while (true) {
    EventLog::Page page = store.Next(scope, after, true, max_bytes);
    EXPECT_TRUE(page.status.ok()) << page.status;
    if (page.rows.empty()) return seen;
    AddEvents(page, after, seen);
    after = page.rows.back()->last_position();
  }
}

}  // namespace acpd::session

#endif  // ACPD_TESTS_SESSION_STORE_FIXTURE_H_
