#ifndef ACPD_SESSION_RECORD_WRITER_H_
#define ACPD_SESSION_RECORD_WRITER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "session/event_log.h"
#include "session/log_sizes.h"
#include "session/sqlite.h"
#include "session/store.h"

namespace acpd::session {

// The prepared statements that put records and rows of the log into the tables, within the caller's
// transaction. Errors stick to the database. Store thread only.
class RecordWriter {
 public:
  explicit RecordWriter(Database& db);

  // All of the record but its events. `forget_later`: the older events of a session that it forgets
  // are many; those below this seq are only marked.
  void Write(const Record& record, std::optional<uint64_t> forget_later);
  void WriteRow(const LogRow& row, const LogRowPlace& place);
  // The generation that the database has now.
  uint64_t Generation();
  // Of what is stored; 0: nothing.
  uint64_t OldestPosition(const std::string& project_id);
  uint64_t OldestPosition();
  // Holds the positions up to `newest` taken, also when their events are gone.
  void KeepPosition(uint64_t newest);

 private:
  void Forget(const std::string& session_id, std::optional<uint64_t> later);
  void WriteLink(const Record& record);
  void WriteServices(const Record& record);

  Statement session_, turn_, question_, worker_, agent_request_, terminal_;
  Statement answered_, released_, remove_requests_, remove_terminals_;
  Statement forget_requests_, forget_terminals_;
  Statement remove_worker_, remove_outbox_, add_line_, stdin_done_, next_seq_, link_offset_;
  Statement forget_events_, forget_turns_, forget_questions_, forget_cut_, mark_forgotten_;
  Statement add_row_, generation_, oldest_of_project_, oldest_, keep_position_;
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_RECORD_WRITER_H_
