#include "session/store_reader.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "session/store_rows.h"
#include "session/store_schema.h"

namespace acpd::session {
namespace {

constexpr char kRowColumns[] =
    "SELECT first_position, first_seq, count, session_id, project_id, ends, bytes FROM events ";

// A row's place, without its events.
constexpr char kPlaceColumns[] = "SELECT first_position, first_seq, count, session_id FROM events ";

LogRowPtr ReadLogRow(Statement& statement) {
  auto row = std::make_shared<LogRow>();
  row->first_position = statement.UInt(0);
  row->first_seq = statement.UInt(1);
  row->session_id = statement.Text(3);
  row->project_id = statement.Text(4);
  const std::string_view ends = statement.Bytes(5);
  row->ends.resize(ends.size() / sizeof(uint32_t));
  if (!ends.empty())
    std::memcpy(row->ends.data(), ends.data(), row->ends.size() * sizeof(uint32_t));
  row->bytes = statement.Text(6);
  return row;
}

bool IsWhole(const LogRow& row, uint64_t count) {
  return count > 0 && row.ends.size() == count && row.ends.back() == row.bytes.size() &&
         std::is_sorted(row.ends.begin(), row.ends.end());
}

// Keeps the queries of one call in one view of the database.
class ReadTransaction {
 public:
  ReadTransaction(Statement& begin, Statement& end) : end_(end) { begin.Run(); }
  ~ReadTransaction() {
    (void)end_.db().TakeStatus();
    if (end_.db().in_transaction()) end_.Run();
    (void)end_.db().TakeStatus();
  }

 private:
  Statement& end_;
};

}  // namespace

StoreReader::StoreReader(std::unique_ptr<Database> db)
    : db_(std::move(db)),
      begin_(*db_, "BEGIN"),
      end_(*db_, "COMMIT"),
      page_of_all_(*db_, absl::StrCat(kRowColumns,
                                      "WHERE first_position >= coalesce((SELECT first_position "
                                      "FROM events WHERE first_position <= ?1 "
                                      "ORDER BY first_position DESC LIMIT 1), 0) "
                                      "ORDER BY first_position")),
      page_of_project_(
          *db_, absl::StrCat(kRowColumns,
                             "WHERE project_id = ?2 AND first_position >= coalesce((SELECT "
                             "first_position FROM events WHERE project_id = ?2 AND "
                             "first_position <= ?1 ORDER BY first_position DESC LIMIT 1), 0) "
                             "ORDER BY first_position")),
      page_of_session_(*db_, absl::StrCat(kRowColumns,
                                          "WHERE session_id = ?1 AND first_seq >= ?2 "
                                          "ORDER BY first_seq")),
      cuts_(*db_,
            "SELECT session_id, project_id, seq + 1, (SELECT first_position FROM events "
            "WHERE events.session_id = cuts.session_id ORDER BY first_seq LIMIT 1) "
            "FROM cuts JOIN sessions USING(session_id) WHERE position > ?"),
      forwards_(*db_, absl::StrCat(kRowColumns,
                                   "WHERE session_id = ?1 AND first_seq >= ?2 AND first_seq < ?3 "
                                   "ORDER BY first_seq")),
      backwards_(*db_, absl::StrCat(kRowColumns,
                                    "WHERE session_id = ?1 AND first_seq >= ?2 AND first_seq < ?3 "
                                    "ORDER BY first_seq DESC")),
      forgotten_below_(*db_, "SELECT below_seq FROM forgotten WHERE session_id = ?"),
      all_forgotten_(*db_, "SELECT session_id, below_seq FROM forgotten"),
      row_at_position_(*db_, absl::StrCat(kPlaceColumns,
                                          "WHERE first_position <= ? "
                                          "ORDER BY first_position DESC LIMIT 1")),
      row_at_seq_(*db_, absl::StrCat(kPlaceColumns,
                                     "WHERE session_id = ? AND first_seq <= ? "
                                     "ORDER BY first_seq DESC LIMIT 1")),
      event_at_seq_(*db_, absl::StrCat(kRowColumns,
                                       "WHERE session_id = ? AND first_seq <= ? "
                                       "ORDER BY first_seq DESC LIMIT 1")),
      first_row_(*db_, "SELECT min(first_seq) FROM events WHERE session_id = ?"),
      last_row_(*db_, "SELECT max(first_seq) FROM events WHERE session_id = ?"),
      turn_by_id_(*db_,
                  absl::StrCat("SELECT ", ColumnsSql<TurnRow>(), " FROM turns WHERE turn_id = ?")),
      // An id whose turn never reached its agent may have been used again: the newest turn counts.
      turn_by_request_(*db_, absl::StrCat("SELECT ", ColumnsSql<TurnRow>(),
                                          " FROM turns WHERE project_id = ? AND request_id = ? AND "
                                          "request_id <> '' "
                                          "ORDER BY accept_time DESC, turn_id DESC LIMIT 1")),
      question_(*db_, absl::StrCat("SELECT ", ColumnsSql<QuestionRow>(),
                                   " FROM questions WHERE session_id = ? AND question_id = ?")) {}

absl::StatusOr<std::unique_ptr<StoreReader>> StoreReader::Open(const std::string& path) {
  absl::StatusOr<std::unique_ptr<Database>> db = OpenForReading(path);
  if (!db.ok()) return db.status();
  auto reader = std::make_unique<StoreReader>(*std::move(db));
  if (absl::Status status = reader->db_->TakeStatus(); !status.ok()) return status;
  return reader;
}

// ---- Pages of the log.

// The row that holds `position`, if it is this session's: the usual case, a cursor that goes on.
std::optional<uint64_t> StoreReader::SeqAtPosition(const std::string& session_id,
                                                   uint64_t position) {
  row_at_position_.Bind(position);
  std::optional<uint64_t> seq;
  if (row_at_position_.Next() && row_at_position_.Bytes(3) == session_id) {
    seq = row_at_position_.UInt(1);
  }
  row_at_position_.Reset();
  return seq;
}

// The first seq of the session's last row that begins at or before `after`; 0: none does. Within a
// session seqs and positions ascend together, so the index over seqs is enough to find a position
// by halving.
uint64_t StoreReader::SeekSeq(const std::string& session_id, uint64_t after) {
  if (after == 0) return 0;
  if (std::optional<uint64_t> seq = SeqAtPosition(session_id, after)) return *seq;
  uint64_t low = first_row_.Bind(session_id).Next() ? first_row_.UInt(0) : 0;
  uint64_t high = last_row_.Bind(session_id).Next() ? last_row_.UInt(0) : 0;
  first_row_.Reset();
  last_row_.Reset();
  uint64_t found = 0;
  while (low <= high && high > 0) {
    const uint64_t middle = low + (high - low) / 2;
    row_at_seq_.Bind(session_id, middle);
    if (!row_at_seq_.Next()) break;
    const uint64_t position = row_at_seq_.UInt(0), seq = row_at_seq_.UInt(1),
                   count = row_at_seq_.UInt(2);
    row_at_seq_.Reset();
    if (position <= after) {
      found = seq;
      low = seq + count;
    } else {
      high = seq - 1;
    }
  }
  return found;
}

// Of a deleted session, whose older rows may not have gone yet; 0: of no such one.
uint64_t StoreReader::ForgottenBelow(const std::string& session_id) {
  const uint64_t seq = forgotten_below_.Bind(session_id).Next() ? forgotten_below_.UInt(0) : 0;
  forgotten_below_.Reset();
  return seq;
}

std::map<std::string, uint64_t> StoreReader::AllForgotten() {
  std::map<std::string, uint64_t> all;
  all_forgotten_.Reset();
  while (all_forgotten_.Next()) all[all_forgotten_.Text(0)] = all_forgotten_.UInt(1);
  return all;
}

std::vector<LostEvents> StoreReader::LostBehind(const LogScope& scope, uint64_t after) {
  std::vector<LostEvents> lost;
  cuts_.Bind(after);
  while (cuts_.Next()) {
    LostEvents events{cuts_.Text(0), cuts_.Text(1), cuts_.UInt(2), cuts_.UInt(3)};
    if (IsInScope(scope, events.session_id, events.project_id)) lost.push_back(std::move(events));
  }
  return lost;
}

absl::StatusOr<StoreReader::LogPage> StoreReader::Page(const LogScope& scope, uint64_t after,
                                                       uint64_t through, size_t max_bytes) {
  ReadTransaction transaction(begin_, end_);
  Statement* page = &page_of_all_;
  if (scope.kind == LogScope::Kind::kSession) {
    page = &page_of_session_;
    page->Bind(scope.id, std::max(SeekSeq(scope.id, after), ForgottenBelow(scope.id)));
  } else if (scope.kind == LogScope::Kind::kProject) {
    page = &page_of_project_;
    page->Bind(after, scope.id);
  } else {
    page->Bind(after);
  }
  const std::map<std::string, uint64_t> forgotten = AllForgotten();
  std::vector<LogRowPtr> rows;
  size_t bytes = 0;
  while (bytes < max_bytes && page->Next()) {
    const uint64_t first = page->UInt(0), count = page->UInt(2);
    if (first > through) break;
    if (first + count - 1 <= after) continue;
    if (!forgotten.empty()) {
      auto of_session = forgotten.find(page->Text(3));
      if (of_session != forgotten.end() && page->UInt(1) < of_session->second) continue;
    }
    const size_t size = page->Bytes(6).size();
    if (!rows.empty() && bytes + size > max_bytes) break;
    rows.push_back(ReadLogRow(*page));
    if (!IsWhole(*rows.back(), count)) {
      db_->Fail(absl::DataLossError(absl::StrCat("the log's row ", first, " is damaged")));
    }
    bytes += size;
  }
  page->Reset();
  std::vector<LostEvents> lost = LostBehind(scope, after);
  if (absl::Status status = db_->TakeStatus(); !status.ok()) return status;
  return LogPage{std::move(rows), std::move(lost)};
}

// The first seq of the row that holds `seq`, or would; 0: none begins at or before it.
uint64_t StoreReader::RowBeginOf(const std::string& session_id, uint64_t seq) {
  row_at_seq_.Bind(session_id, seq);
  const uint64_t begin = row_at_seq_.Next() ? row_at_seq_.UInt(1) : 0;
  row_at_seq_.Reset();
  return begin;
}

absl::StatusOr<std::vector<LogRowPtr>> StoreReader::SessionRowsOf(const SessionRange& range,
                                                                  size_t max_bytes) {
  ReadTransaction transaction(begin_, end_);
  const uint64_t begin =
      std::max(RowBeginOf(range.session_id, range.after_seq + 1), ForgottenBelow(range.session_id));
  Statement& page = range.descending ? backwards_ : forwards_;
  page.Bind(range.session_id, begin, range.before_seq);
  std::vector<LogRowPtr> rows;
  size_t bytes = 0;
  while (bytes < max_bytes && page.Next()) {
    const uint64_t first = page.UInt(1), count = page.UInt(2);
    if (first + count - 1 <= range.after_seq) continue;
    const size_t size = page.Bytes(6).size();
    if (!rows.empty() && bytes + size > max_bytes) break;
    rows.push_back(ReadLogRow(page));
    if (!IsWhole(*rows.back(), count)) {
      db_->Fail(absl::DataLossError(absl::StrCat("the log's row ", page.UInt(0), " is damaged")));
    }
    bytes += size;
  }
  page.Reset();
  if (absl::Status status = db_->TakeStatus(); !status.ok()) return status;
  return rows;
}

StoreReader::Event StoreReader::ReadEvent(const std::string& session_id, uint64_t seq) {
  ReadTransaction transaction(begin_, end_);
  Event event;
  if (seq < ForgottenBelow(session_id)) return event;
  event_at_seq_.Bind(session_id, seq);
  if (event_at_seq_.Next()) {
    const LogRowPtr row = ReadLogRow(event_at_seq_);
    if (IsWhole(*row, event_at_seq_.UInt(2)) && seq <= row->last_seq()) {
      event.position = row->first_position + (seq - row->first_seq);
      event.bytes = std::string(row->event(seq - row->first_seq));
    }
  }
  event_at_seq_.Reset();
  return event;
}

uint64_t StoreReader::Locate(const std::string& session_id, uint64_t seq) {
  uint64_t position = 0;
  if (seq < ForgottenBelow(session_id)) return position;
  row_at_seq_.Bind(session_id, seq);
  if (row_at_seq_.Next()) {
    const uint64_t offset = seq - row_at_seq_.UInt(1);
    if (offset < row_at_seq_.UInt(2)) position = row_at_seq_.UInt(0) + offset;
  }
  row_at_seq_.Reset();
  return position;
}

// ---- Turns and questions.

void StoreReader::AddPositions(std::vector<FoundTurn>& turns) {
  for (FoundTurn& turn : turns) {
    turn.queued_position = Locate(turn.row.session_id, turn.row.queued_seq);
  }
}

std::optional<FoundTurn> StoreReader::FindTurn(const TurnQuery& query) {
  ReadTransaction transaction(begin_, end_);
  const bool by_id = !query.turn_id.empty();
  Statement& statement = by_id ? turn_by_id_ : turn_by_request_;
  by_id ? statement.Bind(query.turn_id) : statement.Bind(query.project_id, query.request_id);
  std::vector<FoundTurn> found;
  if (statement.Next()) found.push_back({ReadRow<TurnRow>(statement), 0});
  statement.Reset();
  AddPositions(found);
  if (found.empty() || !db_->ok()) return std::nullopt;
  return std::move(found.front());
}

std::vector<FoundTurn> StoreReader::ListTurns(const TurnListQuery& query) {
  ReadTransaction transaction(begin_, end_);
  std::string sql =
      absl::StrCat("SELECT ", TurnListColumnsSql(), " FROM turns WHERE setup_only = 0");
  if (!query.project_id.empty()) absl::StrAppend(&sql, " AND project_id = ?1");
  if (!query.session_id.empty()) absl::StrAppend(&sql, " AND session_id = ?2");
  if (query.before_time != 0) absl::StrAppend(&sql, " AND (accept_time, turn_id) < (?3, ?4)");
  const char* separator = " AND state IN (";
  for (TurnState state : query.states) {
    absl::StrAppend(&sql, separator, static_cast<int>(state));
    separator = ", ";
  }
  if (!query.states.empty()) absl::StrAppend(&sql, ")");
  absl::StrAppend(&sql, " ORDER BY accept_time DESC, turn_id DESC LIMIT ?5");
  Statement statement(*db_, sql);
  statement.Bind(query.project_id, query.session_id, query.before_time, query.before_turn_id,
                 query.limit);
  std::vector<FoundTurn> found;
  while (statement.Next()) found.push_back({ReadRow<TurnRow>(statement), 0});
  AddPositions(found);
  return found;
}

std::optional<QuestionRow> StoreReader::FindQuestion(const std::string& session_id,
                                                     const std::string& question_id) {
  ReadTransaction transaction(begin_, end_);
  std::optional<QuestionRow> found;
  question_.Bind(session_id, question_id);
  if (question_.Next()) found = ReadRow<QuestionRow>(question_);
  question_.Reset();
  return db_->ok() ? found : std::nullopt;
}

}  // namespace acpd::session
