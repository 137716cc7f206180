#ifndef ACPD_SESSION_LOG_SIZES_H_
#define ACPD_SESSION_LOG_SIZES_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "session/config.h"
#include "session/event_log.h"

namespace acpd::session {

// A row's bytes on the disk, about: its events, its key and the entries of its indexes. The
// migration to schema 2 counts the same.
constexpr uint64_t kStoredRowOverhead = 200;
inline uint64_t StoredBytes(const LogRow& row) {
  return row.bytes.size() + row.ends.size() * sizeof(uint32_t) + kStoredRowOverhead;
}

// A row of the log without its events. `offset` counts the bytes of its session's log before it,
// so that the log's size is known from its first and its last row.
struct LogRowPlace {
  uint64_t first_seq = 0, count = 0, first_position = 0;
  WallTime time = 0;  // of its commit
  uint64_t offset = 0;
  uint64_t last_seq() const { return first_seq + count - 1; }
  uint64_t last_position() const { return first_position + count - 1; }
};

// The oldest rows of one session that are to go: those that fit all of the conditions.
struct LogCut {
  std::string session_id;
  uint64_t below_seq = std::numeric_limits<uint64_t>::max();  // only events below it
  WallTime before = std::numeric_limits<WallTime>::max();     // only older ones
  uint64_t bytes = std::numeric_limits<uint64_t>::max();      // until so many are free
  bool forgotten = false;  // of a deleted session: nobody is shown them any more
};

// What the store thread knows of each session's log to decide what has to go: how large and how old
// it is, and what a turn still needs. As committed; reads no file. Store thread only.
class LogSizes {
 public:
  explicit LogSizes(Retention limits) : limits_(limits) {}

  // A start tells what is stored.
  void SetStored(const std::string& session_id, const LogRowPlace& oldest,
                 const LogRowPlace& newest, uint64_t end);
  // What was committed.
  void Apply(const Record& record);
  void Append(const LogRow& row, const LogRowPlace& place);
  // The rows before `oldest` went; nullptr: all rows.
  void Cut(const std::string& session_id, const LogRowPlace* oldest);
  void Track(const TurnRow& turn);
  void Track(const WorkerRow& worker);

  // The rows below this seq, of a deleted session, are still there.
  void SetForgotten(const std::string& session_id, uint64_t below_seq);
  // Whether the rows of a session are too many to go in the transaction that forgets it: then those
  // below this seq go later.
  std::optional<uint64_t> ForgetLater(const std::string& session_id) const;

  // Where the next row of this session begins.
  uint64_t EndOf(const std::string& session_id) const;
  uint64_t BytesOf(const std::string& session_id) const;
  uint64_t total() const { return total_; }

  // What goes next; at least the session's oldest row fits. nullopt: all is within the limits.
  std::optional<LogCut> Next(WallTime now) const;

 private:
  struct Log {
    LogRowPlace oldest, newest;  // count 0: no rows
    uint64_t end = 0;
    uint64_t forget_below = 0;
    std::map<std::string, uint64_t> unfinished;  // turn_id -> seq of its TurnQueued
    std::set<std::string> workers;

    uint64_t bytes() const { return end - (oldest.count == 0 ? end : oldest.offset); }
    bool has_rows() const { return oldest.count != 0; }
    bool dormant() const { return unfinished.empty() && workers.empty(); }
    uint64_t protected_seq() const;
    bool may_go() const { return has_rows() && oldest.last_seq() < protected_seq(); }
  };

  std::optional<LogCut> OverTotal() const;

  const Retention limits_;
  uint64_t total_ = 0;
  std::unordered_map<std::string, Log> logs_;
  std::unordered_map<std::string, std::string> turn_sessions_, worker_sessions_;
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_LOG_SIZES_H_
