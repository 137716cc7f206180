#include "session/record_writer.h"

#include <bit>

#include "session/store_rows.h"

namespace acpd::session {
namespace {

static_assert(std::endian::native == std::endian::little, "events.ends is little endian");

uint64_t FirstValue(Statement& statement) {
  const uint64_t value = statement.Next() ? statement.UInt(0) : 0;
  statement.Reset();
  return value;
}

}  // namespace

RecordWriter::RecordWriter(Database& db)
    : session_(db, UpsertSql<SessionRow>()),
      turn_(db, UpsertSql<TurnRow>()),
      question_(db, UpsertSql<QuestionRow>()),
      worker_(db, UpsertSql<WorkerRow>()),
      agent_request_(db, UpsertSql<AgentRequestRow>()),
      terminal_(db, UpsertSql<TerminalRow>()),
      answered_(db, "DELETE FROM agent_requests WHERE worker_id = ? AND number = ?"),
      released_(db, "DELETE FROM terminals WHERE worker_id = ? AND number = ?"),
      remove_requests_(db, "DELETE FROM agent_requests WHERE worker_id = ?"),
      remove_terminals_(db, "DELETE FROM terminals WHERE worker_id = ?"),
      forget_requests_(db, "DELETE FROM agent_requests WHERE session_id = ?"),
      forget_terminals_(db, "DELETE FROM terminals WHERE session_id = ?"),
      remove_worker_(db, "DELETE FROM workers WHERE worker_id = ?"),
      remove_outbox_(db, "DELETE FROM outbox WHERE worker_id = ?"),
      add_line_(db, "INSERT INTO outbox(worker_id, seq, line) VALUES(?, ?, ?)"),
      stdin_done_(db, "DELETE FROM outbox WHERE worker_id = ? AND seq <= ?"),
      next_seq_(db,
                "UPDATE workers SET next_stdin_seq = max(next_stdin_seq, ?2) WHERE worker_id = ?1"),
      link_offset_(db,
                   "UPDATE workers SET consumed_offset = ?2, discard = ?3 WHERE worker_id = ?1"),
      forget_events_(db, "DELETE FROM events WHERE session_id = ?"),
      forget_turns_(db, "DELETE FROM turns WHERE session_id = ?"),
      forget_questions_(db, "DELETE FROM questions WHERE session_id = ?"),
      forget_cut_(db, "DELETE FROM cuts WHERE session_id = ?"),
      mark_forgotten_(db, "INSERT OR REPLACE INTO forgotten(session_id, below_seq) VALUES(?, ?)"),
      add_row_(db,
               "INSERT INTO events(first_position, session_id, project_id, first_seq, count, time, "
               "log_offset, ends, bytes) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      generation_(db, "SELECT generation FROM meta"),
      oldest_of_project_(db,
                         "SELECT first_position FROM events WHERE project_id = ? "
                         "ORDER BY first_position LIMIT 1"),
      oldest_(db, "SELECT first_position FROM events ORDER BY first_position LIMIT 1"),
      keep_position_(db, "UPDATE meta SET kept_position = max(kept_position, ?)") {}

void RecordWriter::Write(const Record& record, std::optional<uint64_t> forget_later) {
  if (record.forget_session) Forget(record.session_id, forget_later);
  if (record.session) Upsert(session_, *record.session);
  for (const TurnRow& turn : record.turns) Upsert(turn_, turn);
  for (const QuestionRow& question : record.questions) Upsert(question_, question);
  WriteLink(record);
  WriteServices(record);
}

// A worker that goes is removed before another one comes, and the link's offset counts over the one
// in the worker's row.
void RecordWriter::WriteLink(const Record& record) {
  if (!record.removed_worker.empty()) {
    remove_worker_.Run(record.removed_worker);
    remove_outbox_.Run(record.removed_worker);
  }
  if (record.worker) Upsert(worker_, *record.worker);
  for (const OutboxLine& line : record.outbox) {
    add_line_.Run(line.worker_id, line.seq, Blob{line.line});
    next_seq_.Run(line.worker_id, line.seq + 1);
  }
  if (!record.stdin_done_worker.empty()) {
    stdin_done_.Run(record.stdin_done_worker, record.stdin_done);
  }
  if (!record.link_worker.empty()) {
    link_offset_.Run(record.link_worker, record.link_offset, Blob{record.link_discard});
  }
}

// A request may come and be answered in one record, and its worker go in it: what goes counts.
void RecordWriter::WriteServices(const Record& record) {
  for (const AgentRequestRow& request : record.agent_requests) Upsert(agent_request_, request);
  for (const TerminalRow& terminal : record.terminals) Upsert(terminal_, terminal);
  for (const auto& [worker_id, number] : record.answered_requests) {
    answered_.Run(worker_id, number);
  }
  for (const auto& [worker_id, number] : record.released_terminals) {
    released_.Run(worker_id, number);
  }
  if (!record.removed_worker.empty()) {
    remove_requests_.Run(record.removed_worker);
    remove_terminals_.Run(record.removed_worker);
  }
}

void RecordWriter::Forget(const std::string& session_id, std::optional<uint64_t> later) {
  later ? mark_forgotten_.Run(session_id, *later) : forget_events_.Run(session_id);
  forget_turns_.Run(session_id);
  forget_questions_.Run(session_id);
  forget_requests_.Run(session_id);
  forget_terminals_.Run(session_id);
  forget_cut_.Run(session_id);
}

void RecordWriter::WriteRow(const LogRow& row, const LogRowPlace& place) {
  const std::string_view ends(reinterpret_cast<const char*>(row.ends.data()),
                              row.ends.size() * sizeof(uint32_t));
  add_row_.Run(row.first_position, row.session_id, row.project_id, row.first_seq, row.size(),
               place.time, place.offset, Blob{ends}, Blob{row.bytes});
}

uint64_t RecordWriter::Generation() { return FirstValue(generation_); }

uint64_t RecordWriter::OldestPosition(const std::string& project_id) {
  return FirstValue(oldest_of_project_.Bind(project_id));
}

uint64_t RecordWriter::OldestPosition() { return FirstValue(oldest_.Bind()); }

void RecordWriter::KeepPosition(uint64_t newest) { keep_position_.Run(newest); }

}  // namespace acpd::session
