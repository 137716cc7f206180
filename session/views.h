#ifndef ACPD_SESSION_VIEWS_H_
#define ACPD_SESSION_VIEWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "acp/agent_sessions.h"
#include "session/types.h"

// What calls show of sessions, turns and questions: snapshots of committed state, the domain's side
// of the API's messages.
namespace acpd::session {

struct QuestionOption {
  std::string option_id;
  std::string name;
  OptionKind kind = OptionKind::kUnspecified;
  std::string raw_kind{};  // the agent's own word
};

struct Resolution {
  std::string question_id;
  QuestionOutcome outcome = QuestionOutcome::kUnspecified;
  std::string option_id;
  ResolvedBy by = ResolvedBy::kUnspecified;
  std::string principal;
  std::string comment;
};

struct TurnView {
  std::string turn_id, request_id;
  TurnState state = TurnState::kUnspecified;
  WallTime accept_time = 0, start_time = 0, end_time = 0;
  std::string project_id, session_id;
  std::string prompt;  // whole; lists cut it
  TurnResult result;
  SessionOrigin origin;
  uint64_t after_seq = 0, after_position = 0;
  std::string stored_request;  // ChatRequest::stored_bytes
};

struct WorkerView {
  std::string worker_id;
  int64_t pid = 0;
  WallTime start_time = 0;
};

struct ModeView {
  std::string mode_id, name, description;
};

struct SessionView {
  std::string session_id, project_id;
  SessionState state = SessionState::kUnspecified;
  std::string agent, agent_session_id, cwd;
  SessionOrigin origin;
  std::string replaced_by, title;
  WallTime create_time = 0, last_active_time = 0;
  uint64_t newest_seq = 0;
  std::optional<TurnView> running;
  std::vector<TurnView> queued;
  std::vector<uint64_t>
      open_question_seqs;  // of their permission_requested events in this session's log
  std::vector<std::string> open_question_events;  // the same, encoded, filled in for FULL views
  std::string mode_id;
  std::vector<ModeView> available_modes;
  std::vector<acp::ConfigOption> config_options;
  std::string available_commands_json;
  Usage usage;
  std::optional<WorkerView> worker;
  Labels labels;
  PermissionMode permission_mode = PermissionMode::kUnspecified;
  Failure last_error;
  std::string model;
};

// What SetSessionOption changes: exactly one of these.
struct SessionChange {
  std::optional<std::string> mode_id;
  std::optional<acp::OptionValue> option;
  std::optional<std::string> title;
  std::optional<Labels> labels;
  acp::TraceContext trace;
};

struct AgentSessionView {
  std::string agent_session_id, cwd, title;
  WallTime update_time = 0;  // 0: the agent does not say
  std::string session_id;    // ours; empty: none
};
struct AgentSessionPage {
  std::vector<AgentSessionView> sessions;
  std::string next_cursor;  // the agent's
};

// How an agent can be logged in, and what came of it.
struct LoginView {
  bool logged_in = false;
  std::vector<acp::AuthMethod> methods;
  // Of a method of type terminal: what a person has to run.
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> env;
};

// Chat's answer.
struct ChatReply {
  TurnView turn;
  bool deduplicated = false;
  std::string agent_session_id;
  std::string epoch;
};

struct CancelledTurn {
  std::string session_id, turn_id;
  CancelOutcome outcome = CancelOutcome::kUnspecified;
  milliseconds duration{0};
};

struct AgentView {
  std::string name;
  std::vector<std::string> command;
  bool is_default = false;
  bool available = false;
  std::string unavailable_reason;
  std::string version;
  std::string capabilities_json;
  std::string auth_methods_json;
  bool auth_required = false;
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_VIEWS_H_
