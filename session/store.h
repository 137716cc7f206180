#ifndef ACPD_SESSION_STORE_H_
#define ACPD_SESSION_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "acp/types.h"
#include "session/types.h"

// What acpd keeps, as values: no SQL and no ids made by the store in the domain. A Record is what
// one session changed in one go; it is fenced by the daemon's generation and by the session's
// record number. SqliteStore is the one implementation; a shared engine can stand behind the same
// interface.
namespace acpd::session {

struct SessionRow {
  std::string session_id, project_id, agent;
  std::string agent_session_id;    // empty: none yet
  bool own_agent_session = false;  // made by our own session/new
  bool prompt_sent = false;        // a prompt was once sent to agent_session_id
  bool ready_once = false;  // false: an adopted id not yet known to be good; not listed, not found
  std::string cwd, title;
  SessionOrigin origin;
  std::string replaced_by;
  bool deleted = false;  // a tombstone
  WallTime create_time = 0, last_active_time = 0;
  Labels labels;
  std::optional<ModelProvider> model_provider;  // stored without api_key
  bool needs_api_key = false;  // it was set up with an api_key that only memory had
  PermissionMode permission_mode = PermissionMode::kUnspecified;
  Failure last_error;
  Usage usage;
  std::string mode_id;
  std::string model;

  SetupSettings setup;                     // with store_mcp_secrets false stored without secrets
  bool needs_setup_secrets = false;        // it has such as are not stored
  std::vector<acp::ConfigOption> options;  // as the agent last said
  std::vector<acp::ModeInfo> modes;        // as the agent last said
  std::string commands_json;               // availableCommands, as the agent last said
  // What callers and the config chose; applied again after every new, resume and load.
  std::string wanted_mode;
  std::vector<acp::OptionValue> wanted_options;
  std::string fork_of;     // made by ForkSession and not set up yet: the agent's id of the original
  std::string transcript;  // goes before its first prompt
  std::string transcript_of;  // the session whose record that is, or was; empty: there was none
  std::string remembered;     // answers with "always" (session/permission_memory.h), packed
  WallTime agent_session_time = 0;  // when its agent session was made
};

struct TurnRow {
  std::string turn_id, session_id, project_id, request_id, content_hash, principal;
  std::string stored_request;  // ChatRequest::stored_bytes
  std::string prompt;
  TurnState state = TurnState::kUnspecified;
  int64_t queue_order = 0;  // ascending within the session's queue
  WallTime accept_time = 0, start_time = 0, end_time = 0;
  uint64_t queued_seq = 0;  // of its TurnQueued in session_id's log
  bool setup_only = false;  // CreateSession: no prompt
  SessionOrigin origin;
  TurnResult result;
};

struct QuestionRow {
  std::string question_id, session_id, turn_id, worker_id;
  std::string agent_request_id;  // raw JSON token
  uint64_t event_seq = 0;        // of its permission_requested event
  bool resolved = false;
  // Resolution, once resolved
  QuestionOutcome outcome = QuestionOutcome::kUnspecified;
  std::string option_id, principal, comment;
  ResolvedBy by = ResolvedBy::kUnspecified;
  std::string options;  // packed (session/pack.h): id, name, kind, ...
  WallTime expire_time = 0;
  QuestionKind kind = QuestionKind::kPermission;
  std::string schema_json;     // of a form
  std::string elicitation_id;  // of a page
  std::string memory_key;      // of a permission: what an "always" is remembered by
};

// A request of an agent that takes time (fs/*, terminal/*), until it is answered: served again
// after a restart, so each handler can be repeated.
struct AgentRequestRow {
  std::string worker_id;
  uint64_t number = 0;           // of the worker's requests: 1, 2, 3 ...
  std::string agent_request_id;  // raw JSON token
  std::string session_id, turn_id, method, params;
};

// A terminal that runs in a worker, until it is released.
struct TerminalRow {
  std::string worker_id;
  uint64_t number = 0;  // that of the request which made it
  std::string session_id, turn_id, command;
  uint64_t logged_offset = 0;  // its output up to here stands in the log
  bool exit_logged = false;
};

struct WorkerRow {
  std::string worker_id, session_id, socket_path;
  int64_t worker_pid = 0;  // 0: the spawn was not confirmed
  uint64_t worker_start_ticks = 0;
  int64_t agent_pid = 0;
  uint64_t agent_start_ticks = 0;
  uint64_t next_request_id = 0;  // of ours
  uint64_t next_stdin_seq = 0;
  uint64_t consumed_offset = 0;  // of the agent's stdout, as committed
  std::string discard;  // empty: consumed_offset is a line border; else what acp/line_splitter.h
                        // knows of the line over the cap that is being thrown away there

  // What memory knew of a worker whose set-up is over: the next acpd goes on with it.
  bool set_up = false;
  std::string fingerprint;           // of its launch
  std::string initialize_json;       // the agent's answer to initialize
  std::string settings;              // packed: its agent definition, should it leave the config
  uint64_t prompt_id = 0;            // our open session/prompt; 0: none
  uint64_t next_request_number = 1;  // of AgentRequestRow
  std::string opened_pages;          // packed: elicitation id and question id of each page that a
                                     // person went to and the agent may still complete
  bool fresh_resume = false;         // the session (or the open prompt) is the first since a resume
  bool replaying = false, replay_known = false, replay_seen = false;  // session/load's replay
};

struct OutboxLine {
  std::string worker_id;
  uint64_t seq = 0;
  std::string line;
};

// The events that a record appends, encoded without position, back to back: event i ends at
// ends[i].
struct EventBatch {
  uint64_t first_seq = 0;
  std::vector<uint32_t> ends;
  std::string bytes;
  size_t size() const { return ends.size(); }
  bool empty() const { return ends.empty(); }
};

struct Record {
  std::string session_id;
  uint64_t generation = 0;
  uint64_t number = 0;                // 1, 2, 3 ... per session and generation
  std::optional<SessionRow> session;  // each of these: the whole new row
  std::vector<TurnRow> turns;
  std::vector<QuestionRow> questions;
  std::optional<WorkerRow> worker;
  std::string removed_worker;  // its row, outbox, requests and terminals go
  std::vector<AgentRequestRow> agent_requests;
  std::vector<std::pair<std::string, uint64_t>> answered_requests;  // worker, number: their rows go
  std::vector<TerminalRow> terminals;
  std::vector<std::pair<std::string, uint64_t>> released_terminals;  // worker, number
  std::vector<OutboxLine> outbox;
  std::string stdin_done_worker;  // with stdin_done: outbox rows of this worker up to that seq go
  uint64_t stdin_done = 0;
  std::string link_worker;  // with the next two: how far this worker's stdout was consumed
  uint64_t link_offset = 0;
  std::string link_discard;
  EventBatch events;
  bool forget_session =
      false;  // DeleteSession: every older row and event of the session goes, this record's stay
  bool full_sync = false;  // holds an accepted Chat, an answer or a TurnEnded: synchronous=FULL

  size_t cost() const;  // bytes, for the cap on uncommitted ones
};

struct CommitResult {
  // OK; or the reason why this group alone was refused. ABORTED: a newer acpd owns the store, no
  // record of this one will be taken any more. FAILED_PRECONDITION: the record does not follow the
  // last committed one of its session, as all do that were under way behind a refused one. Others:
  // it cannot be stored.
  absl::Status status;
  uint64_t first_position = 0;  // of the first event of the group's last record that has events

  // How far a session is committed, at the place of this result among all.
  struct Standing {
    std::string session_id;
    uint64_t committed_number = 0;  // 0: none of this generation
    uint64_t committed_seq = 0;
  };
  // Of a refused group: one for each of its records. The session goes on with the number and the
  // seq directly behind these; what was handed over before this result came is refused like it.
  std::vector<Standing> standings = {};
};

struct LoadedState {
  std::vector<SessionRow> sessions;           // all but tombstones
  std::vector<uint64_t> newest_seqs;          // parallel to sessions
  std::vector<std::string> deleted_sessions;  // the tombstones' ids
  std::vector<TurnRow> unfinished;            // by session, in queue order
  std::vector<QuestionRow> open_questions;
  std::vector<WorkerRow> workers;
  std::vector<OutboxLine> outbox;               // by worker, in order of seq
  std::vector<AgentRequestRow> agent_requests;  // by worker, in order of number
  std::vector<TerminalRow> terminals;           // by worker, in order of number
};

struct TurnQuery {
  std::string turn_id;                 // either this ...
  std::string project_id, request_id;  // ... or these
};

struct TurnListQuery {
  std::string project_id, session_id;  // empty: all
  std::vector<TurnState> states;       // empty: all
  uint32_t limit = 50;
  WallTime before_time = 0;    // newest first; 0: from the newest
  std::string before_turn_id;  // with before_time: strictly behind this one
};

struct FoundTurn {
  TurnRow row;
  uint64_t queued_position = 0;  // of its TurnQueued; 0: no longer stored
};

// Thread-safe. Commits are taken in the order of the calls; all that gathered while one transaction
// ran make up the next one.
class Store {
 public:
  using CommitDone = std::function<void(const CommitResult&)>;
  virtual ~Store() = default;

  // Called once at the start, before anything else. FAILED_PRECONDITION with a sentence that says
  // what to do when the database is corrupt or was made by a newer acpd.
  virtual absl::StatusOr<LoadedState> Load() = 0;
  virtual const std::string& epoch() const = 0;
  virtual const std::string& store_id()
      const = 0;  // random, made with the store; names its sockets' folder
  virtual uint64_t generation() const = 0;  // raised by each Load
  virtual const std::string& fingerprint_key() const = 0;

  // Commits a group of records in one transaction (normally one record; two for a replacement).
  // `done` runs on the loop after the commit, in order; the log's readers were woken before. FULL,
  // IOERR and BUSY are tried again until they go, with nothing lost.
  virtual void Commit(std::vector<Record> group, CommitDone done) = 0;
  // Bytes handed to Commit and not committed yet. Past the cap callers wait for room.
  virtual size_t uncommitted_bytes() const = 0;
  // OK, or UNAVAILABLE with the reason while commits fail or stall.
  virtual absl::Status health() const = 0;
  // Waits until all is committed or `timeout` has passed, then stops the threads. False: something
  // was left.
  virtual bool Close(milliseconds timeout) = 0;

  // Committed state, on a reader thread; the callbacks run there too.
  virtual void FindTurn(TurnQuery query, std::function<void(std::optional<FoundTurn>)> done) = 0;
  // Lists have the prompts' first 1,024 characters and no stored_request.
  virtual void ListTurns(TurnListQuery query, std::function<void(std::vector<FoundTurn>)> done) = 0;
  virtual void FindQuestion(std::string session_id, std::string question_id,
                            std::function<void(std::optional<QuestionRow>)> done) = 0;
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_STORE_H_
