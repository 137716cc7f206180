#ifndef ACPD_SESSION_STORED_EVENT_LOG_H_
#define ACPD_SESSION_STORED_EVENT_LOG_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "session/committer.h"
#include "session/event_log.h"
#include "session/mutex.h"
#include "session/reader_pool.h"
#include "session/recent_log.h"

namespace acpd::session {

// The event log over the recent rows in memory and the reader threads. The store thread tells it
// what was committed and so wakes the waiting readers itself. Readers that still wait at the end
// are not called any more; once the threads have stopped, questions that need the file are answered
// at once, with nothing. Thread-safe. Owned by the store.
class StoredEventLog : public EventLog {
 public:
  explicit StoredEventLog(size_t recent_bytes) : recent_(recent_bytes) {}

  // Before anything else: fills the directory, and gives the threads that read what is not in
  // memory.
  void Fill(const std::function<void(RecentLog&)>& fill);
  void SetReaders(ReaderPool* readers) { readers_ = readers; }
  void SetEpochEnds(std::map<std::string, uint64_t> ends) { epoch_ends_ = std::move(ends); }
  // Store thread: takes over what was committed, and calls the readers that waited for it.
  void Publish(Publication publication);

  bool Next(const LogScope& scope, uint64_t after, size_t max_bytes, bool past_only, Page* page,
            PageDone done, uint64_t* ticket) override;
  void Forget(uint64_t ticket) override;
  uint64_t newest_position() const override;
  LogBounds Bounds(const LogScope& scope) const override;
  void Locate(std::string session_id, uint64_t seq,
              std::function<void(uint64_t position)> done) override;
  void ReadEvent(std::string session_id, uint64_t seq,
                 std::function<void(uint64_t position, std::string bytes)> done) override;
  void ReadSession(SessionRange range, size_t max_bytes,
                   std::function<void(SessionRows)> done) override;
  std::optional<uint64_t> EpochEnd(const std::string& epoch) const override;
  std::shared_ptr<const Labels> LabelsOf(const std::string& session_id) const override;

 private:
  // A Next that was not answered at once.
  struct Pending {
    LogScope scope;
    uint64_t after = 0;
    size_t max_bytes = 0;
    bool past_only = false;
    PageDone done;
    uint64_t ticket = 0;
    std::vector<LostEvents> lost;  // found when `after` moved over what is gone
  };
  using PendingPtr = std::shared_ptr<Pending>;
  using ScopeKey = std::pair<LogScope::Kind, std::string>;
  using Waiters = std::map<uint64_t, PendingPtr>;  // by ticket
  using Woken = std::vector<std::pair<PendingPtr, Page>>;
  enum class Answer { kPage, kWait, kDisk };

  Answer Decide(const Pending& pending, Page* page, uint64_t* through) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Follow(const PendingPtr& pending, Page* page);
  void TakePage(const PendingPtr& pending, uint64_t through,
                absl::StatusOr<StoreReader::LogPage> read);
  bool ClampToPublished(SessionRange* range, SessionRows* nothing) const;
  bool Submit(ReaderPool::Job job);
  bool TakeTicket(uint64_t ticket);
  void Apply(const Publication& publication) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TakeWoken(const ScopeKey& key, const std::vector<LogRowPtr>& committed, Woken& woken)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  ReaderPool* readers_ = nullptr;
  std::map<std::string, uint64_t> epoch_ends_;  // set once, at the start
  mutable Mutex mutex_;
  RecentLog recent_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_ticket_ ABSL_GUARDED_BY(mutex_) = 1;
  std::unordered_map<uint64_t, PendingPtr> pending_ ABSL_GUARDED_BY(mutex_);  // by ticket
  std::map<ScopeKey, Waiters> waiters_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_STORED_EVENT_LOG_H_
