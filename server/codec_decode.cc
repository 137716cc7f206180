// Events and requests back into the domain.
#include "acpd/v1/session_service.pb.h"
#include "server/codec.h"
#include "server/stored_request.h"

namespace acpd::server {
namespace {

using session::StoredTalk;

bool ParseEvent(std::string_view bytes, v1::ProgressEvent* event) {
  return event->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

// Thoughts were not said, and what the user said stands in turn_queued.
void ReadTalk(const v1::SessionUpdate& update, StoredTalk& talk) {
  if (update.replayed()) return;
  const bool is_tool = update.kind() == "tool_call" || update.kind() == "tool_call_update";
  if (is_tool && !update.tool_call_id().empty()) {
    talk.kind = StoredTalk::Kind::kTool;
    talk.tool_call_id = update.tool_call_id();
    talk.title = update.title();
    talk.status = update.tool_status();
  } else if (update.kind() == "agent_message_chunk" && !update.text().empty()) {
    talk.kind = StoredTalk::Kind::kText;
    talk.text = update.text();
    talk.message_id = update.message_id();
  }
}

// Empty: it came to its end.
std::string_view NameOfOutcome(v1::TurnResult::Outcome outcome) {
  switch (outcome) {
    case v1::TurnResult::OUTCOME_TRUNCATED:
      return "truncated";
    case v1::TurnResult::OUTCOME_REFUSED:
      return "refused";
    case v1::TurnResult::OUTCOME_CANCELLED:
      return "cancelled";
    case v1::TurnResult::OUTCOME_FAILED:
      return "failed";
    case v1::TurnResult::OUTCOME_INTERRUPTED:
      return "interrupted";
    default:
      return "";
  }
}

void ReadTalk(const v1::TurnQueued& queued, StoredTalk& talk) {
  talk.kind = StoredTalk::Kind::kPrompt;
  talk.text = queued.prompt();
}

void ReadTalk(const v1::TurnEnded& ended, StoredTalk& talk) {
  talk.outcome = NameOfOutcome(ended.result().outcome());
  if (!talk.outcome.empty()) talk.kind = StoredTalk::Kind::kTurnEnd;
}

}  // namespace

bool Codec::DecodeUpdate(std::string_view bytes, session::StoredUpdate* update) const {
  v1::ProgressEvent event;
  if (!ParseEvent(bytes, &event)) return false;
  if (!event.has_session_update() || event.session_update().replayed()) return false;
  const v1::SessionUpdate& said = event.session_update();
  *update = {event.turn_id(), said.kind(),         said.message_id(),
             said.text(),     said.tool_call_id(), said.tool_status(),
             /*json=*/"",     said.part(),         said.parts()};
  if (!said.tool_call_id().empty()) update->json = said.json();
  return true;
}

StoredTalk Codec::DecodeTalk(std::string_view bytes) const {
  v1::ProgressEvent event;
  StoredTalk talk;
  if (!ParseEvent(bytes, &event)) return talk;
  talk.turn_id = event.turn_id();
  if (event.has_session_update()) ReadTalk(event.session_update(), talk);
  if (event.has_turn_queued()) ReadTalk(event.turn_queued(), talk);
  if (event.has_turn_ended()) ReadTalk(event.turn_ended(), talk);
  return talk;
}

bool Codec::DecodeRequest(std::string_view stored_bytes, session::ChatRequest* request) {
  return ReadRequest(stored_bytes, request);
}

}  // namespace acpd::server
