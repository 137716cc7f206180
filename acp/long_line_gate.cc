#include "acp/long_line_gate.h"

#include <algorithm>

namespace acpd::acp {

using std::chrono::steady_clock;

awaitable<void> LongLineGate::Place::WaitToRead(size_t pending) {
  if (!gate_ || closed_) co_return;
  if (pending <= gate_->limits_.long_line) {
    Leave();
    co_return;
  }
  heard_ = steady_clock::now();
  if (holds_) co_return;
  gate_->waiting_.push_back(this);
  while (!gate_->TryEnter(this)) {
    // Whoever leaves notifies; who is to give way does not.
    const SteadyTime look_again =
        steady_clock::now() + std::min(gate_->limits_.stall, gate_->limits_.longest);
    co_await gate_->changed_.Wait(look_again);
    if (closed_) co_return;
  }
}

void LongLineGate::Place::Close() {
  closed_ = true;
  Leave();
}

void LongLineGate::Place::Leave() {
  if (!gate_) return;
  holds_ = false;
  const size_t left = gate_->holders_.remove(this) + gate_->waiting_.remove(this);
  if (left > 0 || closed_) gate_->changed_.Notify();
}

// Gives the first of those that wait its place, if there is one.
bool LongLineGate::TryEnter(Place* place) {
  const SteadyTime now = steady_clock::now();
  if (waiting_.front() != place) return false;
  if (holders_.size() >= limits_.places) MakeOthersGiveWay(now);
  if (holders_.size() >= limits_.places) return false;
  waiting_.pop_front();
  holders_.push_back(place);
  place->holds_ = true;
  place->since_ = place->heard_ = now;
  changed_.Notify();  // the next may find room too
  return true;
}

void LongLineGate::MakeOthersGiveWay(SteadyTime now) {
  holders_.remove_if([&](Place* holder) {
    const bool gives_way =
        now - holder->heard_ >= limits_.stall || now - holder->since_ >= limits_.longest;
    if (gives_way) holder->holds_ = false;
    return gives_way;
  });
}

}  // namespace acpd::acp
