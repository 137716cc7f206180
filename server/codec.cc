#include "server/codec.h"

#include "acpd/v1/session_service.pb.h"
#include "server/convert_parts.h"

namespace acpd::server {
namespace {

// A larger update gives its buffers back.
constexpr size_t kMaxReused = 256u << 10;

}  // namespace

Codec::Codec() : event_(std::make_unique<v1::ProgressEvent>()) {}
Codec::~Codec() = default;

// Every field of the header is written anew. The member stays too, with its buffers, where the next
// event is of the same kind.
v1::ProgressEvent& Codec::Begin(const session::EventHeader& header) {
  event_->set_seq(header.seq);
  Assign(header.project_id, event_->mutable_project_id());
  Assign(header.session_id, event_->mutable_session_id());
  Assign(header.turn_id, event_->mutable_turn_id());
  ToProto(header.time, event_->mutable_time());
  return *event_;
}

void Codec::Finish(std::string& out) {
  const size_t before = out.size();
  event_->AppendToString(&out);
  const bool reusable = event_->has_session_update() && out.size() - before <= kMaxReused;
  if (!reusable) event_->clear_event();
}

void Codec::Encode(const session::EventHeader& header, const session::SessionUpdateEvent& event,
                   std::string& out) {
  auto* update = Begin(header).mutable_session_update();
  AssignWord(event.kind, update->mutable_kind());
  Assign(event.json, update->mutable_json());
  Assign(event.text, update->mutable_text());
  AssignWord(event.message_id, update->mutable_message_id());
  AssignWord(event.tool_call_id, update->mutable_tool_call_id());
  AssignWord(event.tool_status, update->mutable_tool_status());
  AssignSentence(event.title, update->mutable_title());
  update->set_replayed(event.replayed);
  update->set_part(event.part);
  update->set_parts(event.parts);
  Finish(out);
}

void Codec::Encode(const session::EventHeader& header, const session::TurnQueuedEvent& event,
                   std::string& out) {
  auto* queued = Begin(header).mutable_turn_queued();
  const auto prompt = CutText(event.prompt, kMaxEventPrompt);
  queued->set_request_id(event.request_id);
  queued->set_ahead(event.ahead);
  Assign(prompt, queued->mutable_prompt());
  queued->set_prompt_truncated(event.prompt_truncated || prompt.size() < event.prompt.size());
  queued->set_principal(event.principal);
  queued->set_agent(event.agent);
  AssignWord(event.model, queued->mutable_model());
  queued->set_permission_mode(static_cast<v1::PermissionMode>(event.permission_mode));
  for (const auto& name : event.mcp_server_names) queued->add_mcp_server_names(Word(name));
  Finish(out);
}

void Codec::Encode(const session::EventHeader& header, const session::TurnStartedEvent& event,
                   std::string& out) {
  Begin(header).mutable_turn_started()->set_request_id(event.request_id);
  Finish(out);
}

void Codec::Encode(const session::EventHeader& header, const session::TurnEndedEvent& event,
                   std::string& out) {
  auto* ended = Begin(header).mutable_turn_ended();
  ended->set_request_id(event.request_id);
  ToProto(event.result, false, ended->mutable_result());
  Finish(out);
}

void Codec::Encode(const session::EventHeader& header, const session::SessionReadyEvent& event,
                   std::string& out) {
  auto* ready = Begin(header).mutable_session_ready();
  ToProto(event.origin, ready->mutable_origin());
  AssignWord(event.agent_session_id, ready->mutable_agent_session_id());
  ready->set_agent(event.agent);
  ready->set_cwd(event.cwd);
  Finish(out);
}

void Codec::Encode(const session::EventHeader& header, const session::SessionReplacedEvent& event,
                   std::string& out) {
  auto* replaced = Begin(header).mutable_session_replaced();
  replaced->set_new_session_id(event.new_session_id);
  replaced->set_reason(event.reason);
  AssignSentence(event.detail, replaced->mutable_detail());
  for (const auto& turn_id : event.moved_turn_ids) replaced->add_moved_turn_ids(turn_id);
  Finish(out);
}

void Codec::Encode(const session::EventHeader& header, const session::SessionClosedEvent& event,
                   std::string& out) {
  Begin(header).mutable_session_closed()->set_reason(
      static_cast<v1::SessionClosed::Reason>(event.reason));
  Finish(out);
}

void Codec::Encode(const session::EventHeader& header, const session::WorkerExitedEvent& event,
                   std::string& out) {
  auto* exited = Begin(header).mutable_worker_exited();
  if (event.signaled) {
    exited->set_signal(event.value);
  } else {
    exited->set_exit_code(event.value);
  }
  exited->set_stderr_tail(event.stderr_tail);
  exited->set_expected(event.expected);
  Finish(out);
}

void Codec::Encode(const session::EventHeader& header, const session::NoticeEvent& event,
                   std::string& out) {
  auto* notice = Begin(header).mutable_notice();
  notice->set_severity(static_cast<v1::Notice::Severity>(event.severity));
  notice->set_code(event.code);
  AssignSentence(event.message, notice->mutable_message());
  Finish(out);
}

void Codec::Encode(const session::EventHeader& header, const session::SessionCreatedEvent& event,
                   std::string& out) {
  ToProto(event.session, SessionDetail::kBasic,
          Begin(header).mutable_session_created()->mutable_session());
  Finish(out);
}

void Codec::Encode(const session::EventHeader& header, const session::SessionChangedEvent& event,
                   std::string& out) {
  auto* changed = Begin(header).mutable_session_changed();
  ToProto(event.session, SessionDetail::kBasic, changed->mutable_session());
  for (const auto& field : event.changed) {
    changed->add_changed(field);
    AddDetail(event.session, field, changed->mutable_session());
  }
  changed->set_principal(event.principal);
  Finish(out);
}

void Codec::Encode(const session::EventHeader& header, const session::SessionDeletedEvent& event,
                   std::string& out) {
  Begin(header).mutable_session_deleted()->set_principal(event.principal);
  Finish(out);
}

}  // namespace acpd::server
