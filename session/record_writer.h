#ifndef ACPD_SESSION_RECORD_WRITER_H_
#define ACPD_SESSION_RECORD_WRITER_H_

#include <cstdint>
#include <string>

#include "session/event_log.h"
#include "session/sqlite.h"
#include "session/store.h"

namespace acpd::session {

// The prepared statements that put records and rows of the log into the tables, within the caller's
// transaction. Errors stick to the database. Store thread only.
class RecordWriter {
 public:
  explicit RecordWriter(Database& db);

  // All of the record but its events.
  void Write(const Record& record);
  void WriteRow(const LogRow& row);
  // The generation that the database has now.
  uint64_t Generation();
  // Of what is stored; 0: nothing.
  uint64_t OldestPosition(const std::string& project_id);
  uint64_t OldestPosition();
  // Holds the positions up to `newest` taken, also when their events are gone.
  void KeepPosition(uint64_t newest);

 private:
  void Forget(const std::string& session_id);
  void WriteLink(const Record& record);

  Statement session_, turn_, question_, worker_;
  Statement remove_worker_, remove_outbox_, add_line_, stdin_done_, link_offset_;
  Statement forget_events_, forget_turns_, forget_questions_;
  Statement add_row_, generation_, oldest_of_project_, oldest_, keep_position_;
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_RECORD_WRITER_H_
