#include "server/convert_parts.h"
#include "server/shown_request.h"

namespace acpd::server {
namespace {

// A larger prompt does not stand in a Turn twice (it is in `request` too).
constexpr size_t kMaxDoubledPrompt = 256u << 10;

// Leaves the message out where there is no time.
void SetTime(session::WallTime time, v1::Turn* turn,
             google::protobuf::Timestamp* (v1::Turn::*field)()) {
  if (time != 0) ToProto(time, (turn->*field)());
}

std::string_view FirstCharacters(std::string_view text, size_t count) {
  size_t end = 0;
  for (; end < text.size(); ++end) {
    const bool starts = (static_cast<unsigned char>(text[end]) & 0xc0) != 0x80;
    if (starts && count-- == 0) break;
  }
  return text.substr(0, end);
}

void AddRequest(const session::TurnView& turn, v1::Turn* out) {
  v1::ChatRequest* request = out->mutable_request();
  if (turn.stored_request.empty() || !request->ParseFromString(turn.stored_request))
    return out->clear_request();
  MakeShown(request);
  if (turn.prompt.size() > kMaxDoubledPrompt) out->set_prompt(Cut(turn.prompt, kMaxEventPrompt));
}

}  // namespace

void ToProto(const session::TurnResult& result, bool with_text, v1::TurnResult* out) {
  out->set_outcome(Cast<v1::TurnResult::Outcome>(result.outcome));
  out->set_stop_reason(Word(result.stop_reason));
  if (!result.error.reason.empty()) ToProto(result.error, out->mutable_error());
  const auto text = CutText(result.text, kMaxResultText);
  const auto final_text = CutText(result.final_text, kMaxResultText);
  if (with_text) out->set_text(std::string(text));
  out->set_final_text(std::string(final_text));
  out->set_text_truncated(result.text_truncated || text.size() < result.text.size() ||
                          final_text.size() < result.final_text.size());
  if (result.usage != session::Usage()) ToProto(result.usage, out->mutable_usage());
  out->set_prompt_sent(result.prompt_sent);
  out->set_cancelled_by(result.cancelled_by);
  out->set_cancel_reason(result.cancel_reason);
}

void ToProto(const session::TurnView& turn, TurnDetail detail, v1::Turn* out) {
  out->set_turn_id(turn.turn_id);
  out->set_request_id(turn.request_id);
  out->set_state(Cast<v1::TurnState>(turn.state));
  SetTime(turn.accept_time, out, &v1::Turn::mutable_accept_time);
  SetTime(turn.start_time, out, &v1::Turn::mutable_start_time);
  SetTime(turn.end_time, out, &v1::Turn::mutable_end_time);
  out->set_project_id(turn.project_id);
  out->set_session_id(turn.session_id);
  const bool whole = detail == TurnDetail::kWhole;
  out->set_prompt(whole ? turn.prompt
                        : std::string(FirstCharacters(turn.prompt, kListedPromptCharacters)));
  if (turn.state == session::TurnState::kEnded) ToProto(turn.result, whole, out->mutable_result());
  if (turn.origin.kind != session::OriginKind::kUnspecified)
    ToProto(turn.origin, out->mutable_origin());
  out->set_after_seq(turn.after_seq);
  out->set_after_position(turn.after_position);
  if (whole) AddRequest(turn, out);
}

}  // namespace acpd::server
