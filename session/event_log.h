#ifndef ACPD_SESSION_EVENT_LOG_H_
#define ACPD_SESSION_EVENT_LOG_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "session/config.h"
#include "session/store.h"
#include "session/types.h"

namespace acpd::session {

// A row of the log: events that one session had in one commit, at most 64 KiB (or one larger
// event). Immutable and shared by every reader; positions count up from first_position, seqs from
// first_seq.
struct LogRow {
  std::string session_id, project_id;
  uint64_t first_seq = 0;
  uint64_t first_position = 0;
  std::vector<uint32_t> ends;
  std::string bytes;

  size_t size() const { return ends.size(); }
  uint64_t last_position() const { return first_position + ends.size() - 1; }
  uint64_t last_seq() const { return first_seq + ends.size() - 1; }
  std::string_view event(size_t i) const {
    const uint32_t begin = i == 0 ? 0 : ends[i - 1];
    return std::string_view(bytes).substr(begin, ends[i] - begin);
  }
};
using LogRowPtr = std::shared_ptr<const LogRow>;

struct LogScope {
  enum class Kind { kSession, kProject, kEverything };
  Kind kind = Kind::kEverything;
  std::string id;  // of the session or project
};

inline bool IsInScope(const LogScope& scope, const std::string& session_id,
                      const std::string& project_id) {
  if (scope.kind == LogScope::Kind::kEverything) return true;
  return scope.id == (scope.kind == LogScope::Kind::kSession ? session_id : project_id);
}

// Where a session's log begins and ends now, as committed.
struct LogBounds {
  uint64_t oldest_seq = 0, newest_seq = 0;  // 0: no events
  uint64_t oldest_position = 0, newest_position = 0;
};

// Events that retention removed: what the session still has begins here.
struct LostEvents {
  std::string session_id, project_id;
  uint64_t next_seq = 0;       // always known
  uint64_t next_position = 0;  // 0: nothing is left yet
};

// Part of a session's own log.
struct SessionRange {
  std::string session_id;
  uint64_t after_seq = 0;   // 0: from the start
  uint64_t before_seq = 0;  // 0: to the end
  bool descending = false;
};
// The rows of a range, in the order asked for. The first and the last may have events outside of
// it, which the reader skips.
struct SessionRows {
  std::vector<LogRowPtr> rows;  // none: nothing is left of the range
  bool deleted = false;         // the session is; then there are no rows
  absl::Status status;          // the store could not be read
};

// The committed events: recent ones in memory (bounded by bytes), older ones in the store. Readers
// are cursors: each asks for what lies behind its position and is called when there is more. A slow
// reader costs its cursor and nothing else. Thread-safe.
class EventLog {
 public:
  // What a reader gets: the rows behind its cursor, in order of position. The first row may begin
  // at or before the cursor: the reader skips events with position <= cursor.
  struct Page {
    std::vector<LogRowPtr> rows;
    // Session scope, no rows: the session is at its end for good.
    std::string replaced_by;
    bool deleted = false;
    absl::Status status;  // the store could not be read
    // Sessions in scope whose events behind the cursor went before they were read. A session may
    // come again, with the same or a later `next_seq`, until the cursor has passed the gap.
    std::vector<LostEvents> lost = {};
  };
  using PageDone = std::function<void(Page)>;

  virtual ~EventLog() = default;

  // Hands over the next rows behind `after`, at most `max_bytes` (but at least one row), either at
  // once (returns true, `page` is filled, from memory), or later by `done` on a reader thread
  // (older ones) or on the store thread (when something new was committed in this scope). An empty
  // page without replaced_by or deleted never comes. With `past_only`, an empty page says that
  // nothing lies behind `after` now. `ticket` names the wait for Forget.
  virtual bool Next(const LogScope& scope, uint64_t after, size_t max_bytes, bool past_only,
                    Page* page, PageDone done, uint64_t* ticket) = 0;
  // A waiting reader leaves; its `done` is not called afterwards, unless it is being called right
  // now.
  virtual void Forget(uint64_t ticket) = 0;

  virtual uint64_t newest_position() const = 0;
  virtual LogBounds Bounds(const LogScope& scope) const = 0;
  // The position of the session's event `seq`, on a reader thread; 0 when it is not stored (any
  // more) or not yet made.
  virtual void Locate(std::string session_id, uint64_t seq,
                      std::function<void(uint64_t position)> done) = 0;
  // One event's bytes and position, on a reader thread; empty bytes when it is not stored.
  virtual void ReadEvent(std::string session_id, uint64_t seq,
                         std::function<void(uint64_t position, std::string bytes)> done) = 0;
  // The next rows of a range, at most `max_bytes` (but at least one row): `done` is called on a
  // reader thread, or at once when the store is closed. What is not yet published is not seen.
  virtual void ReadSession(SessionRange range, size_t max_bytes,
                           std::function<void(SessionRows)> done) = 0;
  // The position where an earlier epoch ended; nullopt: it is none of this store's. The current one
  // has no end.
  virtual std::optional<uint64_t> EpochEnd(const std::string& epoch) const = 0;
  // The labels of a session as committed (for filters); empty for unknown ones.
  virtual std::shared_ptr<const Labels> LabelsOf(const std::string& session_id) const = 0;
};

struct StoreOptions {
  std::string state_dir;
  size_t recent_bytes = 32u << 20;  // memory for recent rows
  Retention retention;
  milliseconds request_id_ttl = hours(24);  // an ended turn's row stays at least as long
  std::function<WallTime()> now;            // empty: the system's clock
};

struct OpenedStore {
  std::unique_ptr<Store> store;
  EventLog* log = nullptr;  // owned by the store
};

// Opens (or makes) the store in `state_dir` and takes its lock. `post_to_loop` runs a function on
// the loop. FAILED_PRECONDITION when another acpd holds the lock (its pid is named), when the
// database is corrupt or newer than this acpd.
absl::StatusOr<OpenedStore> OpenSqliteStore(
    StoreOptions options, std::function<void(std::function<void()>)> post_to_loop);

}  // namespace acpd::session

#endif  // ACPD_SESSION_EVENT_LOG_H_
