#include "session/store_loader.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "session/store_rows.h"

namespace acpd::session {
namespace {

static_assert(static_cast<int>(TurnState::kEnded) == 6, "the tables' indexes name it");

template <class Row>
std::vector<Row> ReadAll(Database& db, const char* table, const char* rest) {
  Statement statement(db, absl::StrCat("SELECT ", ColumnsSql<Row>(), " FROM ", table, " ", rest));
  std::vector<Row> rows;
  while (statement.Next()) rows.push_back(ReadRow<Row>(statement));
  return rows;
}

// The first and the last row of events that fit `where`, each found through an index on (key,
// `order`).
class BoundsQuery {
 public:
  BoundsQuery(Database& db, const std::string& where, const std::string& order)
      : oldest_(db, absl::StrCat("SELECT first_seq, first_position FROM events ", where,
                                 " ORDER BY ", order, " LIMIT 1")),
        newest_(db, absl::StrCat("SELECT first_seq + count - 1, first_position + count - 1 "
                                 "FROM events ",
                                 where, " ORDER BY ", order, " DESC LIMIT 1")) {}

  template <class... T>
  LogBounds Get(const T&... key) {
    LogBounds bounds;
    if (oldest_.Bind(key...).Next()) {
      bounds.oldest_seq = oldest_.UInt(0);
      bounds.oldest_position = oldest_.UInt(1);
    }
    if (newest_.Bind(key...).Next()) {
      bounds.newest_seq = newest_.UInt(0);
      bounds.newest_position = newest_.UInt(1);
    }
    oldest_.Reset();
    newest_.Reset();
    return bounds;
  }

 private:
  Statement oldest_, newest_;
};

void LoadSessions(Database& db, StoredState& stored) {
  stored.sessions = ReadAll<SessionRow>(db, "sessions", "ORDER BY create_time, session_id");
  BoundsQuery of_session(db, "WHERE session_id = ?", "first_seq");
  BoundsQuery of_project(db, "WHERE project_id = ?", "first_position");
  BoundsQuery of_all(db, "", "first_position");
  std::set<std::string> projects;
  for (const SessionRow& row : stored.sessions) {
    projects.insert(row.project_id);
    const LogBounds bounds = of_session.Get(row.session_id);
    stored.session_bounds.emplace_back(row.session_id, bounds);
    stored.marks[row.session_id] = {row.project_id, 0, bounds.newest_seq};
    if (row.deleted) {
      stored.state.deleted_sessions.push_back(row.session_id);
    } else {
      stored.state.sessions.push_back(row);
      stored.state.newest_seqs.push_back(bounds.newest_seq);
    }
  }
  for (const std::string& project : projects) {
    stored.project_bounds.emplace_back(project, of_project.Get(project));
  }
  stored.bounds = of_all.Get();
}

}  // namespace

absl::StatusOr<StoredState> LoadState(Database& db) {
  StoredState stored;
  db.Exec("BEGIN");
  LoadSessions(db, stored);
  stored.state.unfinished =
      ReadAll<TurnRow>(db, "turns", "WHERE state <> 6 ORDER BY session_id, queue_order, turn_id");
  stored.state.open_questions = ReadAll<QuestionRow>(
      db, "questions", "WHERE resolved = 0 ORDER BY session_id, event_seq, question_id");
  stored.state.workers = ReadAll<WorkerRow>(db, "workers", "ORDER BY worker_id");
  absl::Status status = db.TakeStatus();
  db.Exec("COMMIT");
  if (status.ok()) status = db.TakeStatus();
  if (!status.ok()) return status;
  return stored;
}

}  // namespace acpd::session
