#include "session/store_pruner.h"

#include <optional>

#include "absl/strings/str_cat.h"

namespace acpd::session {
namespace {

constexpr char kShrink[] = "PRAGMA incremental_vacuum(64)";

LogRowPlace ReadPlace(Statement& row) {
  return {.first_seq = row.UInt(0),
          .count = row.UInt(1),
          .first_position = row.UInt(2),
          .time = row.Int(3),
          .offset = row.UInt(4)};
}

bool Fits(const LogRowPlace& row, const LogCut& cut) {
  return row.last_seq() < cut.below_seq && row.time < cut.before;
}

}  // namespace

StorePruner::StorePruner(Database& db, Options options)
    : db_(db),
      options_(options),
      rows_(db,
            "SELECT first_seq, count, first_position, time, log_offset FROM events "
            "WHERE session_id = ? ORDER BY first_seq LIMIT ?"),
      cut_(db, "DELETE FROM events WHERE session_id = ? AND first_seq < ?"),
      keep_cut_(db,
                "INSERT INTO cuts(session_id, seq, position) VALUES(?, ?, ?) "
                "ON CONFLICT(session_id) DO UPDATE SET seq = excluded.seq, "
                "position = excluded.position"),
      keep_position_(db, "UPDATE meta SET kept_position = max(kept_position, ?)"),
      // A prompt's text stands in its stored request, too.
      old_turns_(db,
                 "SELECT turn_id, length(stored_request) FROM turns "
                 "WHERE state = 6 AND end_time < ? ORDER BY end_time LIMIT ?"),
      drop_turn_(db, "DELETE FROM turns WHERE turn_id = ?"),
      drop_questions_(db,
                      "DELETE FROM questions WHERE rowid IN (SELECT rowid FROM questions "
                      "WHERE resolved = 1 AND expire_time < ? LIMIT ?)"),
      old_tombstones_(db,
                      "SELECT session_id FROM sessions WHERE deleted = 1 AND last_active_time < ? "
                      "AND NOT EXISTS (SELECT 1 FROM events WHERE "
                      "events.session_id = sessions.session_id) LIMIT ?"),
      drop_session_(db, "DELETE FROM sessions WHERE session_id = ?"),
      drop_cut_(db, "DELETE FROM cuts WHERE session_id = ?"),
      all_forgotten_(db, "DELETE FROM forgotten WHERE session_id = ?") {}

CutLog StorePruner::CutSession(const LogCut& cut, uint64_t newest_position) {
  CutLog log;
  log.session_id = cut.session_id;
  log.forgotten = cut.forgotten;
  uint64_t first_offset = 0;
  size_t taken = 0;
  rows_.Bind(cut.session_id, kRows + 1);
  while (rows_.Next()) {
    const LogRowPlace row = ReadPlace(rows_);
    if (taken == 0) first_offset = row.offset;
    const uint64_t freed = row.offset - first_offset;
    if (taken == kRows || freed >= kBytes || freed >= cut.bytes || !Fits(row, cut)) {
      log.oldest = row;
      break;
    }
    log.cut_seq = row.last_seq();
    log.cut_position = row.last_position();
    ++taken;
  }
  rows_.Reset();
  if (taken == 0) return log;
  cut_.Run(cut.session_id, log.cut_seq + 1);
  if (!cut.forgotten) {
    keep_cut_.Run(cut.session_id, log.cut_seq, log.cut_position);
  } else if (log.oldest.count == 0 || log.oldest.first_seq >= cut.below_seq) {
    all_forgotten_.Run(cut.session_id);
  }
  keep_position_.Run(newest_position);  // its row may be among them
  return log;
}

bool StorePruner::DropRows(WallTime before, WallTime turns_before) {
  if (DropTurns(turns_before)) return true;
  drop_questions_.Run(before, kRows);
  if (sqlite3_changes(db_.handle()) > 0 && db_.ok()) return true;
  return DropTombstones(before);
}

bool StorePruner::DropTurns(WallTime before) {
  std::vector<std::string> turn_ids;
  uint64_t bytes = 0;
  old_turns_.Bind(before, kRows);
  while (bytes < kBytes && old_turns_.Next()) {
    turn_ids.push_back(old_turns_.Text(0));
    bytes += old_turns_.UInt(1);
  }
  old_turns_.Reset();
  for (const std::string& turn_id : turn_ids) drop_turn_.Run(turn_id);
  return !turn_ids.empty();
}

bool StorePruner::DropTombstones(WallTime before) {
  std::vector<std::string> session_ids;
  old_tombstones_.Bind(before, kRows);
  while (old_tombstones_.Next()) session_ids.push_back(old_tombstones_.Text(0));
  for (const std::string& session_id : session_ids) {
    drop_session_.Run(session_id);
    drop_cut_.Run(session_id);
  }
  return !session_ids.empty();
}

bool StorePruner::Shrink() {
  const int64_t free_pages = db_.QueryInt("PRAGMA freelist_count");
  if (free_pages <= options_.free_pages) return false;
  db_.Exec(kShrink);
  return db_.ok();
}

}  // namespace acpd::session
