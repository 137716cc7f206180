#ifndef ACPD_SESSION_RECENT_LOG_H_
#define ACPD_SESSION_RECENT_LOG_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "session/event_log.h"

namespace acpd::session {

// The recent rows of the log, bounded by bytes, and a small directory of all sessions. Each scope
// has a lane: its rows in memory, in order of position, and the position from which on they are
// complete. It waits for nobody and reads no file. Not thread-safe: the event log guards it and
// owns it.
class RecentLog {
 public:
  struct Lane {
    std::deque<LogRowPtr> rows;
    uint64_t floor = 0;   // every row of this scope behind it is in `rows`
    uint64_t oldest = 0;  // positions, of all that is stored; 0: no events
    uint64_t newest = 0;
  };
  struct Session {
    std::string project_id;
    std::shared_ptr<const Labels> labels;
    std::string replaced_by;
    bool deleted = false;
    uint64_t oldest_seq = 0, newest_seq = 0;
    uint64_t cut_position = 0;  // of the last event that retention took; 0: none
    Lane lane;
    bool ended() const { return deleted || !replaced_by.empty(); }
  };

  explicit RecentLog(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Makes the directory's entry or brings it up to date.
  Session& Update(const SessionRow& row);
  // What is stored, but not in memory.
  void SetStored(const LogScope& scope, uint64_t oldest_position, uint64_t newest_position);
  void SetStoredSeqs(const std::string& session_id, uint64_t oldest_seq, uint64_t newest_seq);
  void Append(const LogRowPtr& row);
  // Drops the session's rows and begins its bounds anew.
  void Forget(const std::string& session_id);
  void SetOldest(const LogScope& scope, uint64_t oldest_position);
  // The session's events up to `cut_position` are gone; what is left begins at the other two (0:
  // nothing is left).
  void Cut(const std::string& session_id, uint64_t cut_position, uint64_t oldest_seq,
           uint64_t oldest_position);
  void SetCut(const std::string& session_id, uint64_t cut_position);
  // The sessions of `scope` that lost events behind `after`.
  std::vector<LostEvents> LostBehind(const LogScope& scope, uint64_t after) const;

  // nullptr: nothing of this scope was ever committed.
  const Lane* FindLane(const LogScope& scope) const;
  const Session* FindSession(const std::string& session_id) const;
  // The rows of `lane` behind `after`, which is not before its floor: at most max_bytes, but at
  // least one if there is one.
  static std::vector<LogRowPtr> Rows(const Lane& lane, uint64_t after, size_t max_bytes);

  size_t bytes() const { return bytes_; }

 private:
  Lane& LaneOf(const LogScope& scope);
  void Evict();

  const size_t max_bytes_;
  size_t bytes_ = 0;
  uint64_t newest_cut_ = 0;  // position
  Lane all_;
  std::unordered_map<std::string, Lane> projects_;
  std::unordered_map<std::string, Session> sessions_;
};

// The memory that a row takes, with what the containers need for it.
size_t RowCost(const LogRow& row);

}  // namespace acpd::session

#endif  // ACPD_SESSION_RECENT_LOG_H_
