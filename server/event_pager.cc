#include "server/event_pager.h"

#include <algorithm>
#include <utility>

#include "acpd/v1/session_service.pb.h"

namespace acpd::server {
namespace {

// What an event takes in the page beside its bytes: its tag, size and position.
constexpr size_t kEventOverhead = 16;

// What may stand within a message: it tells of the session, of its costs and its queue, and is no
// step of the conversation. Agents send it whenever they like.
constexpr uint32_t kAsideKinds[] = {v1::EVENT_KIND_TURN_QUEUED, v1::EVENT_KIND_SESSION_CHANGED,
                                    v1::EVENT_KIND_NOTICE};
constexpr std::string_view kAsideUpdates[] = {"usage_update", "session_info_update",
                                              "available_commands_update", "current_mode_update",
                                              "config_option_update"};

template <class List, class Value>
bool Has(const List& list, const Value& value) {
  return std::find(std::begin(list), std::end(list), value) != std::end(list);
}

}  // namespace

bool EventPager::AreOfOneMessage(const Event& a, const Event& b) {
  return a.update.kind == b.update.kind && a.update.message_id == b.update.message_id &&
         a.update.replayed == b.update.replayed && a.scanned.turn_id == b.scanned.turn_id;
}

bool EventPager::IsPartAfter(const Event& event, const Event& before) {
  return event.update.part > 1 && event.update.part == before.update.part + 1 &&
         event.update.parts == before.update.parts && AreOfOneMessage(event, before);
}

bool EventPager::IsAside(const Event& event) {
  if (event.scanned.kind != kSessionUpdate) return Has(kAsideKinds, event.scanned.kind);
  return Has(kAsideUpdates, event.update.kind);
}

bool EventPager::Take(const session::LogRowPtr& row, size_t index) {
  Event event;
  event.row = row;
  event.index = index;
  // One that cannot be read has no kind and is in no one's list.
  if (auto scanned = ScanEvent(event.bytes())) event.scanned = *scanned;
  if (event.scanned.kind == kSessionUpdate) event.update = ScanUpdate(event.scanned.payload);
  if (!options_.coalesce) return Classify(std::move(event), false);
  if (options_.descending) return TakeBackwards(std::move(event));
  const bool is_text = IsTextKind(event.update.kind) && !event.update.text.empty();
  // The text of a chunk may end in an earlier part than its JSON.
  const bool goes_on = message_ && IsPartAfter(event, message_->latest);
  return Classify(std::move(event), is_text || goes_on);
}

// Whether a part without text belongs to a chunk of text is known when an earlier part has some.
bool EventPager::TakeBackwards(Event event) {
  const bool is_chunk = IsTextKind(event.update.kind);
  const bool is_text = is_chunk && !event.update.text.empty();
  const bool goes_on = !tail_.empty() && is_chunk && IsPartAfter(tail_.back(), event);
  if (goes_on && is_text) {
    for (Event& part : std::exchange(tail_, {})) {
      if (!Classify(std::move(part), true)) return false;
    }
  } else if (!goes_on && !ReleaseTail()) {
    return false;
  }
  if (is_chunk && !is_text && event.update.part > 1) {
    tail_.push_back(std::move(event));
    return true;
  }
  return ReleaseTail() && Classify(std::move(event), is_text);
}

// They are parts of something else, e.g. of an image.
bool EventPager::ReleaseTail() {
  for (Event& part : std::exchange(tail_, {})) {
    if (!Classify(std::move(part), false)) return false;
  }
  return true;
}

bool EventPager::Classify(Event event, bool is_chunk) {
  const bool wanted = event.scanned.kind != 0 && options_.filter.Keeps(event.scanned);
  if (message_ && is_chunk && AreOfOneMessage(event, message_->latest))
    return Grow(std::move(event));
  if (message_ && !is_chunk && IsAside(event)) {
    if (wanted) aside_.push_back(std::move(event));
    return true;
  }
  if (!CloseMessage()) return false;
  if (!wanted) {
    reached_ = event.seq();
    return true;
  }
  if (!is_chunk) return AddAlone(event);
  if (!Fits(1, event.update.text.size()) && count_ > 0) return false;
  OpenMessage(std::move(event));
  return true;
}

void EventPager::OpenMessage(Event chunk) {
  message_.emplace();
  message_->texts.emplace_back(chunk.update.text);
  message_->bytes = chunk.bytes().size() - chunk.scanned.payload.size() + chunk.update.text.size() +
                    chunk.update.message_id.size() + kEventOverhead;
  message_->latest = chunk;
  message_->newest = std::move(chunk);
}

bool EventPager::Grow(Event chunk) {
  size_t bytes = message_->bytes + chunk.update.text.size();
  for (const Event& event : aside_) bytes += event.bytes().size() + kEventOverhead;
  if (!Fits(message_->within.size() + aside_.size() + 1, bytes)) {
    // With an empty page the message alone is more than one.
    if (count_ == 0) WriteMessage();
    return false;
  }
  message_->bytes = bytes;
  std::move(aside_.begin(), aside_.end(), std::back_inserter(message_->within));
  aside_.clear();
  message_->texts.emplace_back(chunk.update.text);
  if (!options_.descending) message_->newest = chunk;
  message_->latest = std::move(chunk);
  return true;
}

bool EventPager::CloseMessage() {
  if (message_) WriteMessage();
  for (const Event& event : std::exchange(aside_, {})) {
    if (!AddAlone(event)) return false;
  }
  return true;
}

void EventPager::WriteMessage() {
  Message message = *std::exchange(message_, std::nullopt);
  if (options_.descending) std::reverse(message.texts.begin(), message.texts.end());
  std::string text;
  for (const std::string& piece : message.texts) text += piece;
  const Event& newest = message.newest;
  const std::string joined = WithText(newest.bytes(), newest.scanned, text);
  // By seq: it is that of the newest chunk.
  if (options_.descending) Write(newest, joined);
  for (const Event& event : message.within) Write(event, event.bytes());
  if (!options_.descending) Write(newest, joined);
  reached_ = message.latest.seq();
}

bool EventPager::AddAlone(const Event& event) {
  if (!Fits(1, event.bytes().size()) && count_ > 0) return false;
  Write(event, event.bytes());
  reached_ = event.seq();
  return true;
}

void EventPager::Write(const Event& event, std::string_view bytes) {
  AppendEvent(v1::ListEventsResponse::kEventsFieldNumber, event.row->first_position + event.index,
              bytes, events_);
  ++count_;
}

bool EventPager::Fits(size_t events, size_t bytes) const {
  return count_ + events <= options_.max_events && events_.size() + bytes <= options_.max_bytes;
}

void EventPager::EndOfLog() { last_ = ReleaseTail() && CloseMessage(); }

void EventPager::EndOfReading() {
  if (count_ > 0) return;
  // The page has to get ahead.
  if (message_) {
    WriteMessage();
  } else {
    ReleaseTail();
  }
}

std::optional<uint64_t> EventPager::next() const {
  if (last_) return std::nullopt;
  return reached_;
}

}  // namespace acpd::server
