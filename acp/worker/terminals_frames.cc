#include <errno.h>

#include "acp/worker/terminals.h"

// The frames that acpd sends for terminals.
namespace acpd::worker {
namespace {

// acpd has few READs outstanding; one that does not read its answers is not listened to for ever.
constexpr size_t kMaxUnanswered = 64 << 10;

// A payload that is a number and nothing else.
std::optional<uint64_t> OnlyNumber(std::string_view payload) {
  auto number = acp::DecodeNumber(payload);
  return payload.empty() ? number : std::nullopt;
}

}  // namespace

bool Terminals::Handle(const Frame& frame, bool may_start, FrameSender& out, int64_t now) {
  switch (frame.type) {
    case acp::FrameType::kTerminalOpen:
      return Open(frame.payload, may_start, out);
    case acp::FrameType::kTerminalWatch:
      return Watch(frame.payload, out);
    case acp::FrameType::kTerminalRead:
      return Ask(frame.payload, out);
    case acp::FrameType::kTerminalKill:
      return Kill(frame.payload, out, now);
    case acp::FrameType::kTerminalRelease:
      return Release(frame.payload, now);
    default:
      return true;  // a newer acpd's frame: skipped
  }
}

bool Terminals::Open(std::string_view payload, bool may_start, FrameSender& out) {
  auto open = acp::DecodeTerminalOpen(payload);
  if (!open) return false;
  const uint64_t number = open->number;
  if (const auto found = terminals_.find(number); found != terminals_.end()) {
    found->second->TellAgain();
  } else if (!may_start) {
    Refuse(number, out, {ECANCELED, "the agent has ended, and its terminals with it"});
  } else if (terminals_.size() + released_.size() >= kMax) {
    Refuse(number, out, {EAGAIN, "too many terminals: release one first"});
  } else {
    terminals_.emplace(number, std::make_unique<Terminal>(*std::move(open), worker_id_));
  }
  return true;
}

bool Terminals::Watch(std::string_view payload, FrameSender& out) {
  const auto numbers = acp::DecodeTwoNumbers(payload);
  if (!numbers) return false;
  const auto found = terminals_.find(numbers->first);
  if (found == terminals_.end()) {
    Refuse(numbers->first, out);
  } else {
    found->second->Watch(numbers->second);
  }
  return true;
}

bool Terminals::Ask(std::string_view payload, FrameSender& out) {
  const auto numbers = acp::DecodeTwoNumbers(payload);
  if (!numbers || unanswered_.size() >= kMaxUnanswered) return false;
  unanswered_.push_back(*numbers);
  AnswerAsked(out);  // before a RELEASE that may come next
  return true;
}

bool Terminals::Kill(std::string_view payload, FrameSender& out, int64_t now) {
  const auto number = OnlyNumber(payload);
  if (!number) return false;
  const auto found = terminals_.find(*number);
  if (found == terminals_.end()) {
    Refuse(*number, out);
  } else if (!found->second->failed()) {
    found->second->tree().End(now);
  }
  return true;
}

bool Terminals::Release(std::string_view payload, int64_t now) {
  const auto number = OnlyNumber(payload);
  if (!number) return false;
  const auto found = terminals_.find(*number);
  if (found == terminals_.end()) return true;
  Terminal& terminal = *found->second;
  if (terminal.tree().command() != 0) {
    terminal.tree().End(now);
    released_.push_back(std::move(terminal.tree()));
  }
  terminals_.erase(found);
  return true;
}

void Terminals::Refuse(uint64_t number, FrameSender& out, StartFailure failure) {
  acp::TerminalState state;
  state.number = number;
  state.start_errno = failure.error;
  state.start_error = std::move(failure.why);
  out.Queue(acp::EncodeTerminalState(state));
}

void Terminals::Answer(uint64_t number, uint64_t tag, FrameSender& out) {
  acp::TerminalSnapshot snapshot;
  snapshot.number = number;
  snapshot.tag = tag;
  const auto found = terminals_.find(number);
  if (found != terminals_.end()) snapshot = found->second->Snapshot(tag);
  out.Queue(acp::EncodeTerminalSnapshot(snapshot));
}

}  // namespace acpd::worker
