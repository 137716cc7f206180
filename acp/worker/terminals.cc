#include "acp/worker/terminals.h"

#include <algorithm>

namespace acpd::worker {
namespace {

// More than this is queued only while the socket takes it.
constexpr size_t kMaxQueuedFrames = 64 << 10;

bool TakesMore(const FrameSender& out) { return !out.blocked() && out.queued() < kMaxQueuedFrames; }

}  // namespace

void Terminals::AddPolls(std::vector<pollfd>& polls) const {
  for (const auto& [number, terminal] : terminals_) {
    polls.push_back({terminal->poll_fd(), POLLIN, 0});
  }
}

void Terminals::Read(const std::vector<pollfd>& polls, size_t first) {
  for (const auto& [number, terminal] : terminals_) {
    if (polls[first++].revents != 0) terminal->Read();
  }
}

void Terminals::Reaped(pid_t pid, int status, int64_t now) {
  for (const auto& [number, terminal] : terminals_) {
    const CommandTree& tree = terminal->tree();
    if (tree.command() == pid && !tree.reaped()) return terminal->Reaped(status, now);
  }
  for (CommandTree& tree : released_) {
    if (tree.command() == pid && !tree.reaped()) return tree.Reaped(now);
  }
}

void Terminals::Tick(int64_t now) {
  Descendants descendants;
  for (const auto& [number, terminal] : terminals_) terminal->Tick(descendants, now);
  for (CommandTree& tree : released_) tree.Tick(descendants, now);
  std::erase_if(released_, [](const CommandTree& tree) { return tree.ended(); });
}

int64_t Terminals::Deadline(bool can_send) const {
  int64_t deadline = can_send && !unanswered_.empty() ? 0 : INT64_MAX;
  for (const auto& [number, terminal] : terminals_) {
    deadline = std::min(deadline, terminal->deadline());
    if (can_send) deadline = std::min(deadline, terminal->FrameDue());
  }
  for (const CommandTree& tree : released_) deadline = std::min(deadline, tree.deadline());
  return deadline;
}

void Terminals::EndAll(int64_t now) {
  for (const auto& [number, terminal] : terminals_) {
    if (!terminal->tree().reaped() && !terminal->failed()) terminal->tree().End(now);
  }
}

void Terminals::Finish() {
  for (const auto& [number, terminal] : terminals_) terminal->Finish();
  released_.clear();
}

void Terminals::Attached(FrameSender& out) {
  unanswered_.clear();
  for (const auto& [number, terminal] : terminals_) {
    out.Queue(acp::EncodeTerminalState(terminal->Attached()));
  }
  ForgetFailed();
}

void Terminals::Send(FrameSender& out, int64_t now) {
  AnswerAsked(out);
  while (TakesMore(out) && SendRound(out, now)) {
  }
  ForgetFailed();
}

void Terminals::AnswerAsked(FrameSender& out) {
  while (!unanswered_.empty() && TakesMore(out)) {
    const auto [number, tag] = unanswered_.front();
    unanswered_.pop_front();
    Answer(number, tag, out);
  }
}

// One frame of each that has one due, as far as the socket follows. False when none had.
bool Terminals::SendRound(FrameSender& out, int64_t now) {
  bool any = false;
  auto at = terminals_.upper_bound(last_sent_);
  for (size_t i = 0; i < terminals_.size() && TakesMore(out); ++i, ++at) {
    if (at == terminals_.end()) at = terminals_.begin();
    std::string frame = at->second->NextFrame(now);
    if (frame.empty()) continue;
    out.Queue(std::move(frame));
    last_sent_ = at->first;
    any = true;
  }
  return any;
}

bool Terminals::Told() const {
  return unanswered_.empty() && std::all_of(terminals_.begin(), terminals_.end(),
                                            [](const auto& entry) { return entry.second->Told(); });
}

// Nothing is kept of what could not be started, once acpd knows.
void Terminals::ForgetFailed() {
  std::erase_if(terminals_,
                [](const auto& entry) { return entry.second->failed() && entry.second->Told(); });
}

}  // namespace acpd::worker
