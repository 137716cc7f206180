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
// What is read back of it, to put a turn's text together again.
struct StoredUpdate {
  std::string turn_id, kind, message_id, text, tool_call_id, tool_status;
};
struct TurnQueuedEvent {
  std::string request_id;
  uint32_t ahead = 0;
  std::string prompt;
  bool prompt_truncated = false;
  std::string principal, agent, model;
  PermissionMode permission_mode = PermissionMode::kUnspecified;
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
  WallTime expire_time = 0;
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
  // cannot be read.
  virtual bool DecodeUpdate(std::string_view event, StoredUpdate* update) = 0;
  // A stored request back into the domain. False when the bytes cannot be read.
  virtual bool DecodeRequest(std::string_view stored_bytes, ChatRequest* request) = 0;
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_EVENTS_H_
