#include "session/store_schema.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace acpd::session {
namespace {

// Version 1. Large columns stand last, so that small ones are read without the pages behind them.
// An event row's positions and seqs count up from its first ones; `ends` holds the events' ends in
// `bytes` as u32, little endian.
constexpr char kVersion1[] = R"sql(
CREATE TABLE meta(
  id INTEGER PRIMARY KEY CHECK(id = 1), epoch TEXT NOT NULL, store_id TEXT NOT NULL,
  generation INTEGER NOT NULL, fingerprint_key BLOB NOT NULL, clean_stop INTEGER NOT NULL,
  boot_id TEXT NOT NULL, kept_position INTEGER NOT NULL) STRICT;
CREATE TABLE epochs(epoch TEXT PRIMARY KEY, end_position INTEGER NOT NULL) STRICT;

CREATE TABLE sessions(
  session_id TEXT PRIMARY KEY, project_id TEXT NOT NULL, agent TEXT NOT NULL,
  agent_session_id TEXT NOT NULL, own_agent_session INTEGER NOT NULL,
  prompt_sent INTEGER NOT NULL, ready_once INTEGER NOT NULL, cwd TEXT NOT NULL,
  title TEXT NOT NULL, replaced_by TEXT NOT NULL, deleted INTEGER NOT NULL,
  create_time INTEGER NOT NULL, last_active_time INTEGER NOT NULL, labels BLOB NOT NULL,
  model_provider BLOB, needs_api_key INTEGER NOT NULL, permission_mode INTEGER NOT NULL,
  mode_id TEXT NOT NULL, model TEXT NOT NULL,
  origin_kind INTEGER NOT NULL, origin_method INTEGER NOT NULL,
  origin_requested_session_id TEXT NOT NULL, origin_reason TEXT NOT NULL,
  origin_detail TEXT NOT NULL, origin_attempts INTEGER NOT NULL,
  origin_transcript_injected INTEGER NOT NULL,
  usage_input_tokens INTEGER, usage_output_tokens INTEGER, usage_cached_read_tokens INTEGER,
  usage_cached_write_tokens INTEGER, usage_thought_tokens INTEGER, usage_total_tokens INTEGER,
  usage_context_used INTEGER, usage_context_size INTEGER, usage_cost REAL,
  usage_currency TEXT NOT NULL,
  error_reason TEXT NOT NULL, error_agent_code INTEGER NOT NULL,
  error_retryable INTEGER NOT NULL, error_retry_after_ms INTEGER NOT NULL,
  error_message TEXT NOT NULL, error_agent_data TEXT NOT NULL) STRICT;

CREATE TABLE turns(
  turn_id TEXT PRIMARY KEY, session_id TEXT NOT NULL, project_id TEXT NOT NULL,
  request_id TEXT NOT NULL, content_hash BLOB NOT NULL, principal TEXT NOT NULL,
  state INTEGER NOT NULL, queue_order INTEGER NOT NULL, accept_time INTEGER NOT NULL,
  start_time INTEGER NOT NULL, end_time INTEGER NOT NULL, queued_seq INTEGER NOT NULL,
  setup_only INTEGER NOT NULL,
  origin_kind INTEGER NOT NULL, origin_method INTEGER NOT NULL,
  origin_requested_session_id TEXT NOT NULL, origin_reason TEXT NOT NULL,
  origin_detail TEXT NOT NULL, origin_attempts INTEGER NOT NULL,
  origin_transcript_injected INTEGER NOT NULL,
  result_outcome INTEGER NOT NULL, result_stop_reason TEXT NOT NULL,
  result_text_truncated INTEGER NOT NULL, result_prompt_sent INTEGER NOT NULL,
  result_cancelled_by TEXT NOT NULL, result_cancel_reason TEXT NOT NULL,
  usage_input_tokens INTEGER, usage_output_tokens INTEGER, usage_cached_read_tokens INTEGER,
  usage_cached_write_tokens INTEGER, usage_thought_tokens INTEGER, usage_total_tokens INTEGER,
  usage_context_used INTEGER, usage_context_size INTEGER, usage_cost REAL,
  usage_currency TEXT NOT NULL,
  error_reason TEXT NOT NULL, error_agent_code INTEGER NOT NULL,
  error_retryable INTEGER NOT NULL, error_retry_after_ms INTEGER NOT NULL,
  error_message TEXT NOT NULL, error_agent_data TEXT NOT NULL,
  prompt TEXT NOT NULL, stored_request BLOB NOT NULL,
  result_text TEXT NOT NULL, result_final_text TEXT NOT NULL) STRICT;
CREATE INDEX turns_by_session ON turns(session_id, accept_time, turn_id);
CREATE INDEX turns_by_project ON turns(project_id, accept_time, turn_id);
CREATE INDEX turns_by_time ON turns(accept_time, turn_id);
CREATE INDEX turns_by_request ON turns(project_id, request_id) WHERE request_id <> '';
CREATE INDEX turns_unfinished ON turns(session_id, queue_order) WHERE state <> 6;

CREATE TABLE questions(
  session_id TEXT NOT NULL, question_id TEXT NOT NULL, turn_id TEXT NOT NULL,
  worker_id TEXT NOT NULL, agent_request_id TEXT NOT NULL, event_seq INTEGER NOT NULL,
  resolved INTEGER NOT NULL, outcome INTEGER NOT NULL, option_id TEXT NOT NULL,
  principal TEXT NOT NULL, comment TEXT NOT NULL, resolved_by INTEGER NOT NULL,
  expire_time INTEGER NOT NULL, options BLOB NOT NULL,
  PRIMARY KEY(session_id, question_id)) STRICT;
CREATE INDEX questions_open ON questions(session_id) WHERE resolved = 0;

CREATE TABLE workers(
  worker_id TEXT PRIMARY KEY, session_id TEXT NOT NULL, socket_path TEXT NOT NULL,
  worker_pid INTEGER NOT NULL, worker_start_ticks INTEGER NOT NULL,
  agent_pid INTEGER NOT NULL, agent_start_ticks INTEGER NOT NULL,
  next_request_id INTEGER NOT NULL, next_stdin_seq INTEGER NOT NULL,
  consumed_offset INTEGER NOT NULL, pending BLOB NOT NULL) STRICT;

CREATE TABLE outbox(
  worker_id TEXT NOT NULL, seq INTEGER NOT NULL, line BLOB NOT NULL,
  PRIMARY KEY(worker_id, seq)) STRICT;

CREATE TABLE events(
  first_position INTEGER PRIMARY KEY, session_id TEXT NOT NULL, project_id TEXT NOT NULL,
  first_seq INTEGER NOT NULL, count INTEGER NOT NULL, ends BLOB NOT NULL,
  bytes BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX events_by_session ON events(session_id, first_seq);
CREATE INDEX events_by_project ON events(project_id, first_position);
)sql";

// Version 2. What the next acpd needs to go on with a worker; workers of version 1 are ended at
// the start. And what retention needs: when a row of the log was committed, and how many bytes its
// session's log had before it (session/log_sizes.h), so that a log's size is known from its first
// and its last row. `cuts` has the last event that went of each session that lost some;
// `forgotten` the deleted sessions whose rows are still to go: nobody is shown them.
constexpr char kVersion2[] = R"sql(
ALTER TABLE workers RENAME TO workers1;
CREATE TABLE workers(
  worker_id TEXT PRIMARY KEY, session_id TEXT NOT NULL, socket_path TEXT NOT NULL,
  worker_pid INTEGER NOT NULL, worker_start_ticks INTEGER NOT NULL,
  agent_pid INTEGER NOT NULL, agent_start_ticks INTEGER NOT NULL,
  next_request_id INTEGER NOT NULL, next_stdin_seq INTEGER NOT NULL,
  consumed_offset INTEGER NOT NULL, discard BLOB NOT NULL, set_up INTEGER NOT NULL,
  fingerprint BLOB NOT NULL, initialize_json TEXT NOT NULL, modes BLOB NOT NULL,
  settings BLOB NOT NULL, prompt_id INTEGER NOT NULL, fresh_resume INTEGER NOT NULL,
  replaying INTEGER NOT NULL, replay_known INTEGER NOT NULL,
  replay_seen INTEGER NOT NULL) STRICT;
INSERT INTO workers SELECT
  worker_id, session_id, socket_path, worker_pid, worker_start_ticks, agent_pid,
  agent_start_ticks, next_request_id, next_stdin_seq, consumed_offset, x'', 0, x'', '', x'', x'',
  0, 0, 0, 0, 0 FROM workers1;
DROP TABLE workers1;

ALTER TABLE events RENAME TO events1;
DROP INDEX events_by_session;
DROP INDEX events_by_project;
CREATE TABLE events(
  first_position INTEGER PRIMARY KEY, session_id TEXT NOT NULL, project_id TEXT NOT NULL,
  first_seq INTEGER NOT NULL, count INTEGER NOT NULL, time INTEGER NOT NULL,
  log_offset INTEGER NOT NULL, ends BLOB NOT NULL, bytes BLOB NOT NULL) STRICT;
INSERT INTO events SELECT
  first_position, session_id, project_id, first_seq, count,
  CAST(strftime('%s', 'now') AS INTEGER) * 1000000, log_offset, ends, bytes
  FROM events1 JOIN (SELECT first_position AS position, coalesce(
    sum(length(bytes) + length(ends) + 200) OVER (PARTITION BY session_id ORDER BY first_seq
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS log_offset FROM events1)
  ON position = first_position ORDER BY first_position;
DROP TABLE events1;
CREATE UNIQUE INDEX events_by_session ON events(session_id, first_seq);
CREATE INDEX events_by_project ON events(project_id, first_position);

CREATE TABLE cuts(
  session_id TEXT PRIMARY KEY, seq INTEGER NOT NULL, position INTEGER NOT NULL) STRICT;
CREATE INDEX cuts_by_position ON cuts(position);
CREATE TABLE forgotten(session_id TEXT PRIMARY KEY, below_seq INTEGER NOT NULL) STRICT;
CREATE INDEX turns_ended ON turns(end_time) WHERE state = 6;
CREATE INDEX questions_resolved ON questions(expire_time) WHERE resolved = 1;
CREATE INDEX sessions_deleted ON sessions(last_active_time) WHERE deleted = 1;
)sql";

// Version 3. What a session was set up with and what its agent said of itself, answers that are
// remembered, and what a worker does for its agent: requests that are not answered yet, and
// terminals.
constexpr char kVersion3[] = R"sql(
ALTER TABLE sessions ADD COLUMN setup BLOB NOT NULL DEFAULT x'';
ALTER TABLE sessions ADD COLUMN needs_setup_secrets INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN options BLOB NOT NULL DEFAULT x'';
ALTER TABLE sessions ADD COLUMN commands_json TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN wanted_mode TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN wanted_options BLOB NOT NULL DEFAULT x'';
ALTER TABLE sessions ADD COLUMN fork_of TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN transcript TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN remembered BLOB NOT NULL DEFAULT x'';
ALTER TABLE sessions ADD COLUMN agent_session_time INTEGER NOT NULL DEFAULT 0;

ALTER TABLE questions ADD COLUMN kind INTEGER NOT NULL DEFAULT 0;
ALTER TABLE questions ADD COLUMN schema_json TEXT NOT NULL DEFAULT '';
ALTER TABLE questions ADD COLUMN elicitation_id TEXT NOT NULL DEFAULT '';
ALTER TABLE questions ADD COLUMN memory_key BLOB NOT NULL DEFAULT x'';

ALTER TABLE workers ADD COLUMN next_request_number INTEGER NOT NULL DEFAULT 1;

CREATE TABLE agent_requests(
  worker_id TEXT NOT NULL, number INTEGER NOT NULL, agent_request_id TEXT NOT NULL,
  session_id TEXT NOT NULL, turn_id TEXT NOT NULL, method TEXT NOT NULL, params TEXT NOT NULL,
  PRIMARY KEY(worker_id, number)) STRICT;
CREATE INDEX agent_requests_by_session ON agent_requests(session_id);
CREATE TABLE terminals(
  worker_id TEXT NOT NULL, number INTEGER NOT NULL, session_id TEXT NOT NULL,
  turn_id TEXT NOT NULL, command TEXT NOT NULL, logged_offset INTEGER NOT NULL,
  exit_logged INTEGER NOT NULL, PRIMARY KEY(worker_id, number)) STRICT;
CREATE INDEX terminals_by_session ON terminals(session_id);
)sql";

// Version 4. Whose record was passed on to a session; the agent's modes of each session, which only
// a worker's row had; and what an adopted worker's agent may still complete.
constexpr char kVersion4[] = R"sql(
ALTER TABLE sessions ADD COLUMN transcript_of TEXT NOT NULL DEFAULT '';
UPDATE sessions SET transcript_of = origin_requested_session_id
  WHERE origin_kind = 4 AND origin_transcript_injected = 1;
ALTER TABLE sessions ADD COLUMN modes BLOB NOT NULL DEFAULT x'';
UPDATE sessions SET modes = workers.modes FROM workers
  WHERE workers.session_id = sessions.session_id AND workers.set_up = 1;
ALTER TABLE workers DROP COLUMN modes;
UPDATE sessions SET setup = x'', model_provider = NULL, transcript = '' WHERE deleted = 1;
ALTER TABLE workers ADD COLUMN opened_pages BLOB NOT NULL DEFAULT x'';
)sql";

// Entry i brings a file from version i to i + 1. A landed entry never changes.
constexpr const char* kMigrations[] = {kVersion1, kVersion2, kVersion3, kVersion4};

// Both only hold when set before the file's first page is written.
constexpr char kNewFile[] = "PRAGMA page_size = 16384; PRAGMA auto_vacuum = INCREMENTAL";

absl::Status MakeFile(const std::string& state_dir, const std::string& path) {
  // SQLite gives the files beside it the mode of this one.
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) {
    return absl::FailedPreconditionError(absl::StrCat("The store's file ", path,
                                                      " cannot be opened (", strerror(errno),
                                                      "): check state_dir's owner and mode."));
  }
  const off_t size = lseek(fd, 0, SEEK_END);
  close(fd);
  // The reserve is made behind the tables, so this file was not always empty.
  if (size == 0 && access((state_dir + "/reserve").c_str(), F_OK) == 0) {
    return absl::DataLossError("the file is empty, but state_dir was in use");
  }
  return absl::OkStatus();
}

// All steps in one transaction: a file is of its old version as a whole, or of the newest.
absl::Status Migrate(Database& db, const std::string& path, int from) {
  if (from == NewestSchemaVersion()) return db.TakeStatus();
  db.Exec("BEGIN IMMEDIATE");
  for (int version = from; version < NewestSchemaVersion(); ++version) {
    db.Exec(kMigrations[version]);
  }
  db.Exec(absl::StrCat("PRAGMA user_version = ", NewestSchemaVersion()).c_str());
  db.Exec("COMMIT");
  absl::Status status = db.TakeStatus();
  if (db.in_transaction()) db.Exec("ROLLBACK");
  if (status.ok() || absl::IsDataLoss(status)) return status;
  return absl::FailedPreconditionError(
      absl::StrCat("The store ", path, " could not be brought from schema ", from, " to ",
                   NewestSchemaVersion(), " (", status.message(),
                   ") and is as it was: see that its disk has as much room again as it takes and "
                   "that nothing else uses it, and start again."));
}

absl::StatusOr<std::unique_ptr<Database>> OpenWith(const std::string& path, int flags,
                                                   const char* pragmas) {
  absl::StatusOr<std::unique_ptr<Database>> db = Database::Open(path, flags);
  if (!db.ok()) return ExplainDamage(db.status(), path);
  (*db)->Exec(pragmas);
  if (absl::Status status = (*db)->TakeStatus(); !status.ok()) return ExplainDamage(status, path);
  return db;
}

}  // namespace

int NewestSchemaVersion() { return static_cast<int>(std::size(kMigrations)); }

std::string DatabasePath(const std::string& state_dir) { return state_dir + "/acpd.db"; }

absl::StatusOr<std::unique_ptr<Database>> OpenForWriting(const std::string& path) {
  const std::string state_dir = path.substr(0, path.rfind('/'));
  if (absl::Status status = MakeFile(state_dir, path); !status.ok()) {
    return ExplainDamage(status, path);
  }
  absl::StatusOr<std::unique_ptr<Database>> db =
      OpenWith(path, SQLITE_OPEN_READWRITE, "PRAGMA busy_timeout = 200");
  if (!db.ok()) return db;
  const int64_t version = (*db)->QueryInt("PRAGMA user_version");
  if (version > NewestSchemaVersion()) {
    return absl::FailedPreconditionError(
        absl::StrCat("The store ", path, " was made by a newer acpd (schema ", version,
                     ", this one knows up to ", NewestSchemaVersion(),
                     "): start that acpd again, or name another state_dir."));
  }
  if (version == 0) (*db)->Exec(kNewFile);
  (*db)->Exec("PRAGMA journal_mode = WAL");
  (*db)->Exec("PRAGMA wal_autocheckpoint = 0");
  // What is deleted cannot be read in the database any more, once the WAL is back in it. Not every
  // build of SQLite does it unasked.
  (*db)->Exec("PRAGMA secure_delete = ON");
  if (absl::Status status = (*db)->TakeStatus(); !status.ok()) return ExplainDamage(status, path);
  absl::Status status = Migrate(**db, path, static_cast<int>(version));
  if (!status.ok()) return ExplainDamage(status, path);
  return db;
}

// A checkpoint on a connection that has not read the file yet does nothing, without an error:
// journal_mode makes it read.
absl::StatusOr<std::unique_ptr<Database>> OpenForCheckpoints(const std::string& path) {
  return OpenWith(path, SQLITE_OPEN_READWRITE,
                  "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; "
                  "PRAGMA busy_timeout = 1000");
}

absl::StatusOr<std::unique_ptr<Database>> OpenForReading(const std::string& path) {
  return OpenWith(path, SQLITE_OPEN_READONLY, "PRAGMA busy_timeout = 1000; PRAGMA query_only = 1");
}

absl::Status ExplainDamage(const absl::Status& status, const std::string& path) {
  if (!absl::IsDataLoss(status)) return status;
  return absl::FailedPreconditionError(absl::StrCat(
      "The store ", path, " is damaged (", status.message(),
      "): restore state_dir from a backup, or move it away to start with an empty one."));
}

}  // namespace acpd::session
