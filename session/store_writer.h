#ifndef ACPD_SESSION_STORE_WRITER_H_
#define ACPD_SESSION_STORE_WRITER_H_

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "session/checkpointer.h"
#include "session/commit_plan.h"
#include "session/committer.h"
#include "session/mutex.h"
#include "session/state_dir.h"

namespace acpd::session {

// The store thread. Everything that gathered during one transaction makes up the next one, up to
// kMaxEvents; what has to be synced makes one of its own, so that nothing else waits for the disk.
// What a full disk, an I/O error or a lock prevents is tried again until it goes; any other error
// makes a batch fall into its groups, so that only the one that cannot be stored fails. Old rows
// are taken out in slices: at most one between two transactions. Thread-safe. Owned by the store.
class StoreWriter {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr size_t kMaxEvents = 4000;

  struct Options {
    std::chrono::milliseconds retry{250};  // pause between two tries
    std::chrono::milliseconds stall{
        2000};  // a commit under way for longer makes the store unavailable
    std::chrono::milliseconds prune_every{10'000};  // looks for rows that are to go
    int prune_rest = 3;  // after a slice of it: this many times its duration there is none
    // Tests: called on the store thread before each transaction, with its connection.
    std::function<void(sqlite3*)> before_commit;
    std::function<void()> before_slice;  // tests: before each slice of retention
  };
  struct Hooks {
    std::function<void(Publication)> publish;                 // on the store thread
    std::function<void(std::function<void()>)> post_to_loop;  // runs the results there
  };

  StoreWriter(std::unique_ptr<Committer> committer, Checkpointer* checkpointer, ReserveFile reserve,
              Options options, Hooks hooks);
  ~StoreWriter();

  void Commit(std::vector<Record> records, Store::CommitDone done);
  size_t uncommitted_bytes() const { return uncommitted_.load(std::memory_order_relaxed); }
  absl::Status health() const;
  // Commits what is left until `deadline` and stops the thread. False: something was left; its
  // callers were told so.
  bool Close(Clock::time_point deadline);
  // Once closed.
  Committer& committer() { return *committer_; }

 private:
  using Batch = std::vector<std::unique_ptr<CommitGroup>>;
  using Groups = std::vector<CommitGroup*>;

  void Run();
  std::optional<Batch> NextBatch();
  void CommitBatch(Batch batch);
  void CommitAll(const Groups& groups);
  absl::Status CommitGroups(const Groups& groups);
  absl::Status TryOnce(const Groups& groups, Publication* publication);
  bool TimeIsUp() const;
  bool PauseBeforeRetry();
  void Deliver(Batch batch);
  bool IsClosing() const;
  void Prune();
  void SetTrouble(const absl::Status& status);

  const std::unique_ptr<Committer> committer_;
  Checkpointer* const checkpointer_;
  ReserveFile reserve_;         // store thread only
  size_t wal_bytes_ = 0;        // store thread only
  Clock::time_point prune_at_;  // store thread only
  const Options options_;
  const Hooks hooks_;
  std::atomic<size_t> uncommitted_{0};

  mutable Mutex mutex_;
  CondVar changed_;
  std::deque<std::unique_ptr<CommitGroup>> queue_ ABSL_GUARDED_BY(mutex_);
  std::optional<Clock::time_point> close_by_ ABSL_GUARDED_BY(mutex_);
  std::optional<Clock::time_point> commit_since_ ABSL_GUARDED_BY(mutex_);
  absl::Status trouble_ ABSL_GUARDED_BY(mutex_);  // why the last try failed
  bool left_something_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_STORE_WRITER_H_
