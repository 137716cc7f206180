#ifndef ACPD_SESSION_COMMIT_PLAN_H_
#define ACPD_SESSION_COMMIT_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "session/event_log.h"
#include "session/store.h"

namespace acpd::session {

// What one call of Store::Commit handed over, and what became of it.
struct CommitGroup {
  std::vector<Record> records;
  Store::CommitDone done;
  size_t cost = 0;
  size_t events = 0;
  bool full_sync = false;
  bool forgets = false;  // such a group commits alone: its older events go, its own stay
  CommitResult result;
};

// What the store thread knows of a session, to fence its records.
struct SessionMark {
  std::string project_id;
  uint64_t number = 0;  // of its last committed record in this generation
  uint64_t newest_seq = 0;
};
using SessionMarks = std::unordered_map<std::string, SessionMark>;

// What one transaction will hold: which groups pass the fences, and the events of all of them as
// rows of the log with their positions. It knows no SQL, and is thrown away when the transaction
// fails. Store thread only.
class CommitPlan {
 public:
  static constexpr size_t kRowBytes = 64 << 10;

  // `marks` as committed; it must outlive the plan.
  CommitPlan(const SessionMarks& marks, uint64_t generation, uint64_t newest_position)
      : marks_(marks), generation_(generation), newest_position_(newest_position) {}

  // Takes the group whole or not at all. ABORTED: it comes from another generation;
  // FAILED_PRECONDITION: not directly behind its session's last record; INTERNAL: its events cannot
  // stand in the log.
  absl::Status Add(CommitGroup* group);
  // What is known of a session behind the groups that were taken.
  SessionMark MarkOf(const std::string& session_id) const;
  // Gives out the positions, and with them the results' first_position. Nothing is added after it.
  void Seal();

  const std::vector<CommitGroup*>& groups() const { return groups_; }
  const std::vector<LogRowPtr>& rows() const { return rows_; }  // ascending
  uint64_t newest_position() const { return newest_position_; }
  const SessionMarks& changed() const { return changed_; }  // to be merged into the marks

 private:
  // The events of one session, as rows whose positions still count from 1.
  struct Draft {
    std::vector<std::shared_ptr<LogRow>> rows;
    uint64_t events = 0;
  };
  // Where the first event of a group's last record with events stands.
  struct Place {
    CommitGroup* group;
    size_t draft;
    uint64_t offset;
  };

  absl::Status Check(const Record& record, SessionMarks& touched) const;
  void Append(const Record& record, const std::string& project_id, CommitGroup* group);
  Draft& DraftOf(const std::string& session_id, size_t* index);

  const SessionMarks& marks_;
  const uint64_t generation_;
  uint64_t newest_position_;
  SessionMarks changed_;
  std::vector<CommitGroup*> groups_;
  std::vector<Draft> drafts_;  // in the order in which their sessions first came
  std::unordered_map<std::string, size_t> draft_index_;
  std::vector<Place> places_;
  std::vector<LogRowPtr> rows_;
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_COMMIT_PLAN_H_
