-- A store of schema version 3 with rows in every table, as the acpd that made it left it.
PRAGMA page_size = 16384;
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA journal_mode = WAL;
BEGIN;
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
  error_message TEXT NOT NULL, error_agent_data TEXT NOT NULL,
  setup BLOB NOT NULL DEFAULT x'', needs_setup_secrets INTEGER NOT NULL DEFAULT 0,
  options BLOB NOT NULL DEFAULT x'', commands_json TEXT NOT NULL DEFAULT '',
  wanted_mode TEXT NOT NULL DEFAULT '', wanted_options BLOB NOT NULL DEFAULT x'',
  fork_of TEXT NOT NULL DEFAULT '', transcript TEXT NOT NULL DEFAULT '',
  remembered BLOB NOT NULL DEFAULT x'', agent_session_time INTEGER NOT NULL DEFAULT 0) STRICT;

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
  expire_time INTEGER NOT NULL, options BLOB NOT NULL, kind INTEGER NOT NULL DEFAULT 0,
  schema_json TEXT NOT NULL DEFAULT '', elicitation_id TEXT NOT NULL DEFAULT '',
  memory_key BLOB NOT NULL DEFAULT x'',
  PRIMARY KEY(session_id, question_id)) STRICT;
CREATE INDEX questions_open ON questions(session_id) WHERE resolved = 0;

CREATE TABLE workers(
  worker_id TEXT PRIMARY KEY, session_id TEXT NOT NULL, socket_path TEXT NOT NULL,
  worker_pid INTEGER NOT NULL, worker_start_ticks INTEGER NOT NULL,
  agent_pid INTEGER NOT NULL, agent_start_ticks INTEGER NOT NULL,
  next_request_id INTEGER NOT NULL, next_stdin_seq INTEGER NOT NULL,
  consumed_offset INTEGER NOT NULL, discard BLOB NOT NULL, set_up INTEGER NOT NULL,
  fingerprint BLOB NOT NULL, initialize_json TEXT NOT NULL, modes BLOB NOT NULL,
  settings BLOB NOT NULL, prompt_id INTEGER NOT NULL, fresh_resume INTEGER NOT NULL,
  replaying INTEGER NOT NULL, replay_known INTEGER NOT NULL,
  replay_seen INTEGER NOT NULL, next_request_number INTEGER NOT NULL DEFAULT 1) STRICT;

CREATE TABLE outbox(
  worker_id TEXT NOT NULL, seq INTEGER NOT NULL, line BLOB NOT NULL,
  PRIMARY KEY(worker_id, seq)) STRICT;

CREATE TABLE events(
  first_position INTEGER PRIMARY KEY, session_id TEXT NOT NULL, project_id TEXT NOT NULL,
  first_seq INTEGER NOT NULL, count INTEGER NOT NULL, time INTEGER NOT NULL,
  log_offset INTEGER NOT NULL, ends BLOB NOT NULL, bytes BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX events_by_session ON events(session_id, first_seq);
CREATE INDEX events_by_project ON events(project_id, first_position);

CREATE TABLE cuts(
  session_id TEXT PRIMARY KEY, seq INTEGER NOT NULL, position INTEGER NOT NULL) STRICT;
CREATE INDEX cuts_by_position ON cuts(position);
CREATE TABLE forgotten(session_id TEXT PRIMARY KEY, below_seq INTEGER NOT NULL) STRICT;
CREATE INDEX turns_ended ON turns(end_time) WHERE state = 6;
CREATE INDEX questions_resolved ON questions(expire_time) WHERE resolved = 1;
CREATE INDEX sessions_deleted ON sessions(last_active_time) WHERE deleted = 1;

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

INSERT INTO meta(id, epoch, store_id, generation, fingerprint_key, clean_stop, boot_id, kept_position)
  VALUES(1, 'abcdef012345', '0123456789ab', 4, x'00112233', 1, 'boot', 2);
INSERT INTO epochs VALUES('earlier', 2);

INSERT INTO sessions VALUES('s1', 'p1', 'demo', 'agent-1', 1, 1, 1, '/somewhere', 'A title', '', 0,
  1700000000000001, 1700000000000002, x'', NULL, 0, 1, 'plan', 'big',
  4, 0, 's0', 'SESSION_NOT_FOUND', '', 1, 1, 1, 2, NULL, NULL, NULL, 6, 7, NULL, 0.25, 'EUR', '', 0,
  0, 0, '', '', x'', 0, x'', '[]', 'plan', x'', '', '', x'', 1700000000000001);
INSERT INTO sessions VALUES('gone', 'p1', 'demo', '', 0, 0, 0, '', '', '', 1,
  1700000000000001, 1700000000000002, x'', NULL, 0, 1, '', '',
  1, 1, '', '', '', 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '', '', 0, 0, 0, '', '',
  x'', 0, x'', '', '', x'', '', '', x'', 0);

INSERT INTO turns VALUES('running', 's1', 'p1', 'r1', x'01', 'me', 3, 1, 11, 12, 0, 3, 0,
  1, 1, '', '', '', 0, 0, 0, '', 0, 1, '', '',
  NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '', '', 0, 0, 0, '', '', 'go on', x'02', '', '');
INSERT INTO turns VALUES('ended', 's1', 'p1', 'r0', x'03', 'me', 6, 0, 5, 6, 7, 1, 0,
  1, 1, '', '', '', 0, 0, 1, 'end_turn', 0, 1, '', '',
  10, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '', '', 0, 0, 0, '', '', 'begin', x'04', 'done', 'done');

INSERT INTO questions VALUES('s1', 'q1', 'running', 'w1', '7', 4, 0, 0, '', '', '', 0, 99, x'',
  2, '', 'el-1', x'');
INSERT INTO questions VALUES('s1', 'q0', 'ended', 'w1', '6', 2, 1, 1, 'allow', 'me', '', 1, 9, x'',
  0, '', '', x'0a');

INSERT INTO workers VALUES('w1', 's1', '/run/acpd/w1', 100, 101, 102, 103, 8, 9, 1000, x'', 1,
  x'0f', '{}', x'04000000706c616e04000000506c616e060000007468696e6b73', x'',
  7, 0, 0, 0, 0, 3);
INSERT INTO outbox VALUES('w1', 8, CAST('a line' AS BLOB));
INSERT INTO agent_requests VALUES('w1', 2, '"r2"', 's1', 'running', 'terminal/create', '{}');
INSERT INTO terminals VALUES('w1', 1, 's1', 'running', 'make', 5, 0);

-- Events 1 and 2, then one of another session, then 3 to 5.
INSERT INTO events VALUES(3, 's1', 'p1', 1, 2, 1700000000000003, 0, x'0300000006000000',
  CAST('onetwo' AS BLOB));
INSERT INTO events VALUES(5, 'gone', 'p1', 9, 1, 1700000000000004, 0, x'07000000',
  CAST('deleted' AS BLOB));
INSERT INTO events VALUES(6, 's1', 'p1', 3, 3, 1700000000000005, 214, x'01000000020000000a000000',
  CAST('34longtext' AS BLOB));
PRAGMA user_version = 3;
COMMIT;
