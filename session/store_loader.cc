#include "session/store_loader.h"

#include <algorithm>
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

// The first or the last row of events that fits `where`, found through an index on (key, `order`).
class PlaceQuery {
 public:
  PlaceQuery(Database& db, const char* where, const char* order)
      : place_(db, absl::StrCat("SELECT first_seq, count, first_position, time, log_offset, "
                                "length(bytes) + length(ends) FROM events ",
                                where, " ORDER BY ", order, " LIMIT 1")) {}

  // count 0: there is no row. `bytes` are those of its events.
  template <class... T>
  LogRowPlace Get(uint64_t* bytes, const T&... key) {
    LogRowPlace place;
    if (place_.Bind(key...).Next()) {
      place = {place_.UInt(0), place_.UInt(1), place_.UInt(2), place_.Int(3), place_.UInt(4)};
      *bytes = place_.UInt(5);
    }
    place_.Reset();
    return place;
  }

 private:
  Statement place_;
};

LogBounds BoundsOf(const LogRowPlace& oldest, const LogRowPlace& newest) {
  if (oldest.count == 0) return {};
  return {oldest.first_seq, newest.last_seq(), oldest.first_position, newest.last_position()};
}

class BoundsQuery {
 public:
  BoundsQuery(Database& db, const char* where)
      : oldest_(db, where, "first_position"), newest_(db, where, "first_position DESC") {}

  template <class... T>
  LogBounds Get(const T&... key) {
    uint64_t bytes = 0;
    const LogRowPlace oldest = oldest_.Get(&bytes, key...);
    return BoundsOf(oldest, newest_.Get(&bytes, key...));
  }

 private:
  PlaceQuery oldest_, newest_;
};

// The bounds of each session's log, and its size.
class SessionLogs {
 public:
  SessionLogs(Database& db, StoredState& stored)
      : stored_(stored),
        oldest_(db, "WHERE session_id = ?", "first_seq"),
        newest_(db, "WHERE session_id = ?", "first_seq DESC"),
        oldest_shown_(db, "WHERE session_id = ? AND first_seq >= ?", "first_seq"),
        cut_(db, "SELECT seq, position FROM cuts WHERE session_id = ?"),
        forgotten_(db, "SELECT below_seq FROM forgotten WHERE session_id = ?") {}

  LogBounds Load(const std::string& session_id) {
    uint64_t bytes = 0;
    const LogRowPlace oldest = oldest_.Get(&bytes, session_id);
    const LogRowPlace newest = newest_.Get(&bytes, session_id);
    LogBounds bounds = BoundsOf(oldest, newest);
    if (newest.count != 0) {
      stored_.sizes.SetStored(session_id, oldest, newest,
                              newest.offset + bytes + kStoredRowOverhead);
    }
    if (cut_.Bind(session_id).Next()) {
      bounds.newest_seq = std::max(bounds.newest_seq, cut_.UInt(0));
      bounds.newest_position = std::max(bounds.newest_position, cut_.UInt(1));
      stored_.cuts.emplace_back(session_id, cut_.UInt(1));
    }
    cut_.Reset();
    if (forgotten_.Bind(session_id).Next()) {
      const uint64_t below_seq = forgotten_.UInt(0);
      stored_.sizes.SetForgotten(session_id, below_seq);
      const LogRowPlace shown = oldest_shown_.Get(&bytes, session_id, below_seq);
      bounds.oldest_seq = shown.first_seq;
      bounds.oldest_position = shown.first_position;
    }
    forgotten_.Reset();
    return bounds;
  }

 private:
  StoredState& stored_;
  PlaceQuery oldest_, newest_, oldest_shown_;
  Statement cut_, forgotten_;
};

void LoadSessions(Database& db, StoredState& stored) {
  stored.sessions = ReadAll<SessionRow>(db, "sessions", "ORDER BY create_time, session_id");
  SessionLogs logs(db, stored);
  BoundsQuery of_project(db, "WHERE project_id = ?");
  BoundsQuery of_all(db, "");
  std::set<std::string> projects;
  for (const SessionRow& row : stored.sessions) {
    projects.insert(row.project_id);
    const LogBounds bounds = logs.Load(row.session_id);
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

absl::StatusOr<StoredState> LoadState(Database& db, const Retention& retention) {
  StoredState stored(retention);
  db.Exec("BEGIN");
  LoadSessions(db, stored);
  stored.state.unfinished =
      ReadAll<TurnRow>(db, "turns", "WHERE state <> 6 ORDER BY session_id, queue_order, turn_id");
  stored.state.open_questions = ReadAll<QuestionRow>(
      db, "questions", "WHERE resolved = 0 ORDER BY session_id, event_seq, question_id");
  stored.state.workers = ReadAll<WorkerRow>(db, "workers", "ORDER BY worker_id");
  stored.state.agent_requests =
      ReadAll<AgentRequestRow>(db, "agent_requests", "ORDER BY worker_id, number");
  stored.state.terminals = ReadAll<TerminalRow>(db, "terminals", "ORDER BY worker_id, number");
  Statement outbox(db, "SELECT worker_id, seq, line FROM outbox ORDER BY worker_id, seq");
  while (outbox.Next()) {
    stored.state.outbox.push_back({outbox.Text(0), outbox.UInt(1), outbox.Text(2)});
  }
  Statement epochs(db, "SELECT epoch, end_position FROM epochs");
  while (epochs.Next()) stored.epoch_ends[epochs.Text(0)] = epochs.UInt(1);
  for (const TurnRow& turn : stored.state.unfinished) stored.sizes.Track(turn);
  for (const WorkerRow& worker : stored.state.workers) stored.sizes.Track(worker);
  absl::Status status = db.TakeStatus();
  db.Exec("COMMIT");
  if (status.ok()) status = db.TakeStatus();
  if (!status.ok()) return status;
  return stored;
}

}  // namespace acpd::session
