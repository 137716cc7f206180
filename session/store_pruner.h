#ifndef ACPD_SESSION_STORE_PRUNER_H_
#define ACPD_SESSION_STORE_PRUNER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "session/log_sizes.h"
#include "session/sqlite.h"

namespace acpd::session {

// What a slice took from one session's log.
struct CutLog {
  std::string session_id;
  uint64_t cut_seq = 0, cut_position = 0;  // of the last event that went
  LogRowPlace oldest;                      // of what is left; count 0: nothing
  bool forgotten = false;                  // as LogCut has it
};

// Takes old rows out of the tables, a slice at a time: within the caller's transaction, which is
// short, so that no commit waits for it noticeably. Errors stick to the database. Store thread
// only.
class StorePruner {
 public:
  static constexpr size_t kRows = 1000;
  static constexpr uint64_t kBytes = 4u << 20;  // about; a slice ends behind it

  struct Options {
    // Freed pages that stay in the file for what is written next.
    int64_t free_pages = 1024;
  };
  StorePruner(Database& db, Options options);

  // The oldest rows of one session, as `cut` says, and the note that they are gone.
  CutLog CutSession(const LogCut& cut, uint64_t newest_position);
  // Turns that ended, questions that were resolved and tombstones whose events are gone, all before
  // `before`; turns only before `turns_before`. True: there were some.
  bool DropRows(WallTime before, WallTime turns_before);
  // Gives some of the file's free pages back to the disk. True: there were some.
  bool Shrink();

 private:
  bool DropTurns(WallTime before);
  bool DropTombstones(WallTime before);

  Database& db_;
  const Options options_;
  Statement rows_, cut_, keep_cut_, keep_position_;
  Statement old_turns_, drop_turn_, drop_questions_, old_tombstones_, drop_session_, drop_cut_;
  Statement all_forgotten_;
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_STORE_PRUNER_H_
