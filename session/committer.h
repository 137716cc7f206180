#ifndef ACPD_SESSION_COMMITTER_H_
#define ACPD_SESSION_COMMITTER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "session/commit_plan.h"
#include "session/log_sizes.h"
#include "session/record_writer.h"
#include "session/sqlite.h"
#include "session/store_pruner.h"

namespace acpd::session {

// What a committed transaction means for the log.
struct Publication {
  struct Forgotten {
    std::string session_id, project_id;
    uint64_t oldest_in_project = 0, oldest = 0;  // positions of what is left
  };
  // The oldest events of a session went.
  struct Cut {
    std::string session_id;
    uint64_t cut_position = 0;                     // of the last one that went
    uint64_t oldest_seq = 0, oldest_position = 0;  // of what is left; 0: nothing
    std::string project_id;
    uint64_t oldest_in_project = 0, oldest_of_all = 0;  // positions
    bool forgotten = false;  // nobody was shown them: only the last two have changed
  };
  std::vector<Cut> cuts;
  std::vector<Forgotten> forgotten;  // before the rows
  std::vector<SessionRow> sessions;  // in their order
  std::vector<LogRowPtr> rows;       // ascending
  bool empty() const {
    return cuts.empty() && forgotten.empty() && sessions.empty() && rows.empty();
  }
};

// Runs groups as one transaction. Owns the writing connection. Store thread only, once it has been
// made.
class Committer {
 public:
  struct Options {
    Retention retention;
    milliseconds request_id_ttl = hours(24);
    std::function<WallTime()> now;
    StorePruner::Options pruner;
  };
  Committer(std::unique_ptr<Database> db, uint64_t generation, uint64_t newest_position,
            SessionMarks marks, LogSizes sizes, Options options);

  // OK: committed; groups that the fences refused have their status, the others their position, and
  // `publication` is filled. An error: nothing was done, whatever the results say.
  absl::Status TryCommit(const std::vector<CommitGroup*>& groups, Publication* publication);

  // Takes one slice of what is too old or too much out of the store, in a transaction of its own.
  // True: there is more to do. An error: nothing was done.
  absl::StatusOr<bool> Prune(Publication* publication);

  // Tells a refused group how far its sessions are committed.
  void AddStandings(CommitGroup& group) const;
  // Completes a record that forgets its session: it leaves a tombstone.
  void Prepare(Record& record) const;
  Database& db() { return *db_; }

 private:
  void SetSync(bool full);
  absl::Status EndTransaction();
  // The places are those of the plan's rows.
  void WriteAll(const CommitPlan& plan, std::vector<LogRowPlace>* places);
  void Remember(const CommitPlan& plan, const std::vector<LogRowPlace>& places);
  static void AddStandings(CommitGroup& group, const CommitPlan& plan);
  bool PruneSlice(std::optional<CutLog>* cut, Publication* publication);
  void Describe(const CommitPlan& plan, Publication* publication);

  std::unique_ptr<Database> db_;
  RecordWriter writer_;
  const uint64_t generation_;
  uint64_t newest_position_;
  SessionMarks marks_;
  LogSizes sizes_;
  const Options options_;
  StorePruner pruner_;
  int full_sync_ = -1;  // as the pragma stands; -1: not known
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_COMMITTER_H_
