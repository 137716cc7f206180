#include "cli/open_questions.h"

#include <algorithm>
#include <utility>

#include "cli/event_words.h"

namespace acpd::cli {

using acpd::v1::ProgressEvent;

void OpenQuestions::See(const ProgressEvent& event) {
  switch (event.event_case()) {
    case ProgressEvent::kCaughtUp:
      in_past_ = false;
      return;
    case ProgressEvent::kTurnQueued:
      modes_[event.turn_id()] = event.turn_queued().permission_mode();
      return;
    case ProgressEvent::kTurnEnded:
      modes_.erase(event.turn_id());
      return;
    case ProgressEvent::kPermissionRequested:
      if (!AnsweredByPolicy(event)) waiting_.push_back(event);
      return;
    case ProgressEvent::kElicitationRequested:
      waiting_.push_back(event);
      return;
    case ProgressEvent::kQuestionResolved:
      std::erase_if(waiting_, [&event](const ProgressEvent& waiting) {
        return QuestionIdOf(waiting) == event.question_resolved().question_id();
      });
      return;
    default:
      return;
  }
}

std::optional<ProgressEvent> OpenQuestions::Take() {
  if (in_past_ || waiting_.empty()) return std::nullopt;
  ProgressEvent oldest = std::move(waiting_.front());
  waiting_.pop_front();
  return oldest;
}

// A turn whose mode is not known, or is the agent's own, may have the answer right behind it.
bool OpenQuestions::AnsweredByPolicy(const ProgressEvent& event) const {
  using Option = acpd::v1::PermissionRequested::Option;
  const auto mode = modes_.find(event.turn_id());
  if (mode == modes_.end()) return false;
  if (mode->second == acpd::v1::PERMISSION_MODE_DENY) return true;
  const auto& options = event.permission_requested().options();
  return mode->second == acpd::v1::PERMISSION_MODE_ALLOW &&
         std::any_of(options.begin(), options.end(), [](const Option& option) {
           return option.kind() == acpd::v1::PERMISSION_OPTION_KIND_ALLOW_ONCE ||
                  option.kind() == acpd::v1::PERMISSION_OPTION_KIND_ALLOW_ALWAYS;
         });
}

}  // namespace acpd::cli
