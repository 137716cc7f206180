#ifndef ACPD_SESSION_EVENTS_H_
#define ACPD_SESSION_EVENTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "session/types.h"
#include "session/views.h"

// The stored events, as plain values. Each becomes one ProgressEvent of proto/acpd/v1; what their
// fields mean stands there.
namespace acpd::session {

struct EventHeader {
  uint64_t seq = 0;
  std::string_view project_id;
  std::string_view session_id;
  std::string_view turn_id;
  WallTime time = 0;
};

struct SessionUpdateEvent {
  std::string_view kind, json, text, message_id, tool_call_id, tool_status, title;
  bool replayed = false;
  uint32_t part = 0, parts = 0;
};
// What is read back of it, for a turn that the next acpd goes on with.
struct StoredUpdate {
  std::string turn_id, kind, message_id, text, tool_call_id, tool_status;
  std::string json;  // of a tool call
  uint32_t part = 0, parts = 0;
};
// What is read back of an event for the record of an old conversation (session/transcript.h).
struct StoredTalk {
  enum class Kind { kNone, kPrompt, kText, kTool, kTurnEnd };
  Kind kind = Kind::kNone;
  std::string turn_id;
  std::string text;                         // of kPrompt and kText
  std::string message_id;                   // of kText
  std::string tool_call_id, title, status;  // of kTool
  std::string outcome;                      // of kTurnEnd, where it did not complete
};
struct TurnQueuedEvent {
  std::string request_id;
  uint32_t ahead = 0;
  std::string prompt;
  bool prompt_truncated = false;
  std::string principal, agent, model;
  PermissionMode permission_mode = PermissionMode::kUnspecified;
  std::vector<std::string> mcp_server_names;
};
struct TurnStartedEvent {
  std::string request_id;
};
struct TurnEndedEvent {
  TurnResult result;
  std::string request_id{};
};
struct PermissionRequestedEvent {
  std::string question_id;
  std::string tool_call_json;
  bool tool_call_truncated = false;
  std::string tool_call_id, title, tool_kind;
  std::vector<QuestionOption> options;
  std::vector<std::string> paths;
  WallTime expire_time = 0;
};
struct ElicitationRequestedEvent {
  std::string question_id, message;
  bool url_mode = false;
  std::string schema_json, url, tool_call_id;
  WallTime expire_time = 0;
};
struct TerminalOutputEvent {
  std::string terminal_id, command;
  std::string_view data;
  bool truncated = false, exited = false;
  std::optional<int32_t> exit_code;
  std::string signal;
};
struct FileAccessEvent {
  bool write = false;
  std::string path;
  uint64_t bytes = 0;
  Failure error;  // without reason: there was none
};
struct QuestionResolvedEvent {
  Resolution resolution;
};
struct SessionReadyEvent {
  SessionOrigin origin;
  std::string agent_session_id, agent, cwd;
};
struct SessionReplacedEvent {
  std::string new_session_id, reason, detail;
  std::vector<std::string> moved_turn_ids;
};
struct SessionClosedEvent {
  CloseReason reason = CloseReason::kUnspecified;
};
struct WorkerExitedEvent {
  bool signaled = false;
  int32_t value = 0;
  std::string stderr_tail;
  bool expected = false;
};
struct NoticeEvent {
  Severity severity = Severity::kInfo;
  std::string code, message;
};
struct SessionCreatedEvent {
  SessionView session;
};
struct SessionChangedEvent {
  SessionView session;
  std::vector<std::string> changed;
  std::string principal;
};
struct SessionDeletedEvent {
  std::string principal;
};

// Writes events as the public ProgressEvent, without its `position` (the store gives that out and
// it travels as a slice of its own in front), and reads and writes stored requests. Implemented in
// server/, so that session/ knows bytes only. Loop thread.
class EventCodec {
 public:
  virtual ~EventCodec() = default;
  // Each appends one encoded event to `out`.
  virtual void Encode(const EventHeader&, const SessionUpdateEvent&, std::string& out) = 0;
  virtual void Encode(const EventHeader&, const TurnQueuedEvent&, std::string& out) = 0;
  virtual void Encode(const EventHeader&, const TurnStartedEvent&, std::string& out) = 0;
  virtual void Encode(const EventHeader&, const TurnEndedEvent&, std::string& out) = 0;
  virtual void Encode(const EventHeader&, const PermissionRequestedEvent&, std::string& out) = 0;
  virtual void Encode(const EventHeader&, const ElicitationRequestedEvent&, std::string& out) = 0;
  virtual void Encode(const EventHeader&, const TerminalOutputEvent&, std::string& out) = 0;
  virtual void Encode(const EventHeader&, const FileAccessEvent&, std::string& out) = 0;
  virtual void Encode(const EventHeader&, const QuestionResolvedEvent&, std::string& out) = 0;
  virtual void Encode(const EventHeader&, const SessionReadyEvent&, std::string& out) = 0;
  virtual void Encode(const EventHeader&, const SessionReplacedEvent&, std::string& out) = 0;
  virtual void Encode(const EventHeader&, const SessionClosedEvent&, std::string& out) = 0;
  virtual void Encode(const EventHeader&, const WorkerExitedEvent&, std::string& out) = 0;
  virtual void Encode(const EventHeader&, const NoticeEvent&, std::string& out) = 0;
  virtual void Encode(const EventHeader&, const SessionCreatedEvent&, std::string& out) = 0;
  virtual void Encode(const EventHeader&, const SessionChangedEvent&, std::string& out) = 0;
  virtual void Encode(const EventHeader&, const SessionDeletedEvent&, std::string& out) = 0;
  // An encoded session_update back. False: it is an event of another kind, a replayed one, or
  // cannot be read. Thread-safe.
  virtual bool DecodeUpdate(std::string_view event, StoredUpdate* update) const = 0;
  // An encoded event as what was said in it; kNone: nothing of the kind. Thread-safe.
  virtual StoredTalk DecodeTalk(std::string_view event) const = 0;
  // A stored request back into the domain. False when the bytes cannot be read.
  virtual bool DecodeRequest(std::string_view stored_bytes, ChatRequest* request) = 0;
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_EVENTS_H_
