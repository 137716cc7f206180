#include "cli/tool_calls.h"

#include <algorithm>

namespace acpd::cli {
namespace {

// Of a turn; further ones are shown and not kept.
constexpr size_t kMostCalls = 1000;

}  // namespace

std::string ToolCalls::Note(const acpd::v1::ProgressEvent& event) {
  const auto& update = event.session_update();
  std::vector<Call>& calls = of_turns_[{event.session_id(), event.turn_id()}];
  auto call = std::find_if(calls.begin(), calls.end(), [&update](const Call& known) {
    return known.id == update.tool_call_id();
  });
  if (call == calls.end()) {
    if (calls.size() >= kMostCalls)
      return update.title().empty() ? update.tool_call_id() : update.title();
    call = calls.insert(call, Call{update.tool_call_id(), update.tool_call_id(), ""});
  }
  if (!update.title().empty()) call->title = update.title();
  if (!update.tool_status().empty()) call->status = update.tool_status();
  return call->title;
}

std::vector<std::string> ToolCalls::TakeUnfinished(const acpd::v1::ProgressEvent& event) {
  std::vector<std::string> titles;
  const auto ended = of_turns_.find({event.session_id(), event.turn_id()});
  if (ended == of_turns_.end()) return titles;
  for (const Call& call : ended->second) {
    if (call.status != "completed" && call.status != "failed") titles.push_back(call.title);
  }
  of_turns_.erase(ended);
  return titles;
}

}  // namespace acpd::cli
