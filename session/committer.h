#ifndef ACPD_SESSION_COMMITTER_H_
#define ACPD_SESSION_COMMITTER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "session/commit_plan.h"
#include "session/record_writer.h"
#include "session/sqlite.h"

namespace acpd::session {

// What a committed transaction means for the log.
struct Publication {
  struct Forgotten {
    std::string session_id, project_id;
    uint64_t oldest_in_project = 0, oldest = 0;  // positions of what is left
  };
  std::vector<Forgotten> forgotten;  // before the rows
  std::vector<SessionRow> sessions;  // in their order
  std::vector<LogRowPtr> rows;       // ascending
  bool empty() const { return forgotten.empty() && sessions.empty() && rows.empty(); }
};

// Runs groups as one transaction. Owns the writing connection. Store thread only, once it has been
// made.
class Committer {
 public:
  Committer(std::unique_ptr<Database> db, uint64_t generation, uint64_t newest_position,
            SessionMarks marks);

  // OK: committed; groups that the fences refused have their status, the others their position, and
  // `publication` is filled. An error: nothing was done, whatever the results say.
  absl::Status TryCommit(const std::vector<CommitGroup*>& groups, Publication* publication);

  // Completes a record that forgets its session: it leaves a tombstone.
  void Prepare(Record& record) const;
  Database& db() { return *db_; }

 private:
  void SetSync(bool full);
  void WriteAll(const CommitPlan& plan);
  void Describe(const CommitPlan& plan, Publication* publication);

  std::unique_ptr<Database> db_;
  RecordWriter writer_;
  const uint64_t generation_;
  uint64_t newest_position_;
  SessionMarks marks_;
  int full_sync_ = -1;  // as the pragma stands; -1: not known
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_COMMITTER_H_
