#include "session/turn_watch.h"

#include <algorithm>

namespace acpd::session {
namespace {

constexpr SteadyTime kNever = SteadyTime::max();

bool SignIsOlder(const std::pair<const std::string, SteadyTime>& a,
                 const std::pair<const std::string, SteadyTime>& b) {
  return a.second < b.second;
}

// https://agentclientprotocol.com/protocol/tool-calls#status
bool IsUnderWay(std::string_view status) { return status == "pending" || status == "in_progress"; }

}  // namespace

void ReadingClock::Stop(SteadyTime now) {
  if (!stopped_at_) stopped_at_ = now;
}

void ReadingClock::Go(SteadyTime now) {
  if (stopped_at_) stood_ += now - *stopped_at_;
  stopped_at_.reset();
}

SteadyTime ReadingClock::At(SteadyTime now) const { return stopped_at_.value_or(now) - stood_; }

void TurnWatch::Heard(SteadyTime at) { heard_ = std::max(heard_, at); }

void TurnWatch::SetAsking(bool asking, SteadyTime at) {
  // With its answer the agent has something to do again.
  if (asking_) Heard(at);
  asking_ = asking;
}

bool TurnWatch::OnToolCall(std::string_view id, std::string_view status, bool begins,
                           SteadyTime at) {
  Heard(at);
  const auto known = tool_calls_.find(id);
  // A call without a status is pending; an update without one says nothing of it, and may come
  // behind the call's end.
  const bool unsaid = status.empty() && (begins || known != tool_calls_.end());
  if (!IsUnderWay(status) && !unsaid) {
    if (known == tool_calls_.end()) return false;
    tool_calls_.erase(known);
    return tool_calls_.empty();
  }
  if (known != tool_calls_.end()) {
    known->second = at;
    return false;
  }
  if (tool_calls_.size() >= kMaxToolCalls) {
    tool_calls_.erase(std::min_element(tool_calls_.begin(), tool_calls_.end(), SignIsOlder));
  }
  tool_calls_.emplace(id, at);
  return false;
}

// Where the silence of now began; kNever: the watch is held off.
SteadyTime TurnWatch::QuietSince() const {
  if (asking_) return kNever;
  if (tool_calls_.empty()) return heard_;
  if (limits_.tool.count() == 0) return kNever;
  const auto newest = std::max_element(tool_calls_.begin(), tool_calls_.end(), SignIsOlder);
  return std::max(heard_, newest->second + limits_.tool);
}

TurnWatch::Verdict TurnWatch::Check(SteadyTime now) {
  const SteadyTime since = QuietSince();
  if (since > now) return Verdict::kFine;
  const auto quiet = now - since;
  if (limits_.stall.count() > 0 && quiet >= limits_.stall) return Verdict::kStalled;
  if (limits_.silence.count() == 0 || quiet < limits_.silence || told_ == since) {
    return Verdict::kFine;
  }
  told_ = since;
  return Verdict::kSilent;
}

SteadyTime TurnWatch::Next() const {
  const SteadyTime since = QuietSince();
  if (since == kNever) return kNever;
  SteadyTime next = kNever;
  if (limits_.stall.count() > 0) next = since + limits_.stall;
  if (limits_.silence.count() > 0 && told_ != since) next = std::min(next, since + limits_.silence);
  return next;
}

}  // namespace acpd::session
