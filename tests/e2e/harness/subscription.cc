#include "tests/e2e/harness/subscription.h"

#include <algorithm>

namespace acpd::e2e {

Subscription::Subscription(const Open& open)
    : reader_(open(&context_)), thread_([this] { Read(); }) {}

Subscription::~Subscription() {
  Cancel();
  thread_.join();
}

void Subscription::Read() {
  for (Event event; reader_->Read(&event);) {
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
    changed_.notify_all();
  }
  const grpc::Status status = reader_->Finish();
  const std::lock_guard lock(mutex_);
  end_ = status;
  changed_.notify_all();
}

std::vector<Event> Subscription::Events() const {
  const std::lock_guard lock(mutex_);
  return events_;
}

std::vector<Event> Subscription::Stored() const {
  std::vector<Event> events = Events();
  std::erase_if(events, [](const Event& event) { return event.seq() == 0 || event.resent(); });
  return events;
}

std::optional<Event> Subscription::WaitFor(const EventTest& fits, milliseconds patience) const {
  std::unique_lock lock(mutex_);
  size_t looked_at = 0;
  std::optional<Event> found;
  changed_.wait_for(lock, patience, [&] {
    for (; looked_at < events_.size() && !found; ++looked_at) {
      if (fits(events_[looked_at])) found = events_[looked_at];
    }
    return found || end_;
  });
  return found;
}

bool Subscription::WaitForCount(size_t count, const EventTest& fits, milliseconds patience) const {
  std::unique_lock lock(mutex_);
  size_t looked_at = 0, fitting = 0;
  changed_.wait_for(lock, patience, [&] {
    for (; looked_at < events_.size(); ++looked_at) {
      if (fits(events_[looked_at])) ++fitting;
    }
    return fitting >= count || end_;
  });
  return fitting >= count;
}

std::optional<grpc::Status> Subscription::WaitForEnd(milliseconds patience) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return end_.has_value(); });
  return end_;
}

std::string Subscription::Trailer(const std::string& key) const {
  if (!WaitForEnd(milliseconds(0))) return "";
  const auto& trailers = context_.GetServerTrailingMetadata();
  const auto found = trailers.find(key);
  return found == trailers.end() ? "" : std::string(found->second.data(), found->second.size());
}

EventTest Is(Event::EventCase kind) {
  return [kind](const Event& event) { return event.event_case() == kind; };
}

EventTest EndOf(const std::string& turn_id) {
  return [turn_id](const Event& event) {
    return event.has_turn_ended() && event.turn_id() == turn_id;
  };
}

EventTest SaysText(const std::string& text) {
  return [text](const Event& event) {
    return event.session_update().kind() == "agent_message_chunk" &&
           event.session_update().text() == text;
  };
}

EventTest HasCaughtUp() { return Is(Event::kCaughtUp); }

std::string TextOf(const std::vector<Event>& events, const std::string& turn_id) {
  std::string text;
  for (const Event& event : events) {
    const api::SessionUpdate& update = event.session_update();
    if (update.kind() != "agent_message_chunk" || update.replayed()) continue;
    if (turn_id.empty() || event.turn_id() == turn_id) text += update.text();
  }
  return text;
}

}  // namespace acpd::e2e
