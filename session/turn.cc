#include "session/turn.h"

#include "acp/text.h"

namespace acpd::session {
namespace {

// Appends at most up to the limit, on a character border; true when something was cut.
bool AppendCapped(std::string& to, std::string_view chunk) {
  const std::string_view fits = CutText(chunk, kMaxResultText - to.size());
  to.append(fits);
  return fits.size() < chunk.size();
}

}  // namespace

void Turn::Observe(std::string_view kind, std::string_view message_id, std::string_view chunk) {
  if (kind == "agent_message_chunk") {
    const bool new_message =
        !message_open || (!message_id.empty() && message_id != last_message_id);
    if (new_message) final_text.clear();
    message_open = true;
    last_message_id = message_id;
    if (chunk.empty()) return;
    had_output = true;
    if (AppendCapped(text, chunk)) text_truncated = true;
    if (AppendCapped(final_text, chunk)) text_truncated = true;
    return;
  }
  if (kind == "agent_thought_chunk") {
    had_output = had_output || !chunk.empty();
  } else if (kind == "tool_call" || kind == "tool_call_update" || kind == "plan") {
    had_output = true;
    message_open = false;
  }
}

TurnView ViewOf(const TurnRow& row, uint64_t after_position) {
  TurnView view;
  view.turn_id = row.turn_id;
  view.request_id = row.request_id;
  view.state = row.state;
  view.accept_time = row.accept_time;
  view.start_time = row.start_time;
  view.end_time = row.end_time;
  view.project_id = row.project_id;
  view.session_id = row.session_id;
  view.prompt = row.prompt;
  view.result = row.result;
  view.origin = row.origin;
  view.after_seq = row.queued_seq == 0 ? 0 : row.queued_seq - 1;
  view.after_position = after_position;
  view.stored_request = row.stored_request;
  return view;
}

TurnView ViewOf(const FoundTurn& found) {
  return ViewOf(found.row, found.queued_position == 0 ? 0 : found.queued_position - 1);
}

TurnView Turn::View() const { return ViewOf(row, after_position); }

}  // namespace acpd::session
