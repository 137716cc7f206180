#include "server/event_feed.h"

#include <utility>

#include "server/event_scan.h"

namespace acpd::server {
EventFeed::EventFeed(Options options)
    : options_(std::move(options)),
      looks_inside_(!options_.filter.empty() || options_.omit_json ||
                    !options_.until_turn_id.empty()) {}

void EventFeed::Add(session::EventLog::Page page, uint64_t horizon) {
  NoteLost(page.lost);
  rows_ = std::move(page.rows);
  row_ = 0;
  if (!rows_.empty()) return OpenRow();
  if (!page.status.ok()) return End(page.status);
  if (!page.replaced_by.empty()) {
    // The successor's events lie behind SessionReplaced, so the cursor stays good.
    options_.scope.id = page.replaced_by;
    options_.next_seq = 0;
    return;
  }
  if (in_past_) {
    MoveTo(horizon);
    EndPast();
  }
  if (page.deleted) End(absl::OkStatus());
}

bool EventFeed::Next(StreamMessage* out) {
  for (;;) {
    if (TakeControl(out)) return true;
    if (ended_ || row_ == rows_.size()) return false;
    if (TakeEvent(out)) return true;
  }
}

bool EventFeed::TakeControl(StreamMessage* out) {
  if (!control_.empty()) {
    control_.front().set_position(options_.cursor);
    ControlMessage(control_.front(), out);
    control_.pop_front();
    return true;
  }
  if (resent_.empty()) return false;
  CopiedMessage(resent_.front().position, resent_.front().event, kResentSuffix, out);
  out->position = 0;
  resent_.pop_front();
  return true;
}

// One step: an event of those in hand, which may be passed over, or a control event that has to
// come before it.
bool EventFeed::TakeEvent(StreamMessage* out) {
  const session::LogRow& row = *rows_[row_];
  const uint64_t position = row.first_position + event_;
  if (position > options_.cursor) {
    if (in_past_ && position > options_.past_end) {
      MoveTo(options_.past_end);
      EndPast();
      return false;
    }
    if (NoteGap(row.first_seq + event_, position)) return false;
  }
  const bool written = position > options_.cursor && Write(event_, out);
  MoveTo(position);
  if (++event_ == row.size()) {
    ++row_;
    OpenRow();
  }
  return written;
}

bool EventFeed::Write(size_t i, StreamMessage* out) {
  const session::LogRow& row = *rows_[row_];
  const auto scanned = looks_inside_ ? ScanEvent(row.event(i)) : std::nullopt;
  if (scanned && EndsTurn(*scanned)) End(absl::OkStatus());
  if (!row_wanted_ || (scanned && !options_.filter.Keeps(*scanned))) return false;
  const auto shorter =
      scanned && options_.omit_json ? WithoutJson(row.event(i), *scanned) : std::nullopt;
  if (shorter) {
    CopiedMessage(row.first_position + i, *shorter, "", out);
    return true;
  }
  if (!slice_) slice_.emplace(rows_[row_]);
  slice_->Message(i, out);
  return true;
}

// The stream ends with this turn, whatever filters make of its last event.
bool EventFeed::EndsTurn(const ScannedEvent& event) const {
  return !options_.until_turn_id.empty() &&
         event.kind == v1::ProgressEvent::kTurnEndedFieldNumber &&
         event.turn_id == options_.until_turn_id;
}

void EventFeed::OpenRow() {
  event_ = 0;
  slice_.reset();
  if (row_ == rows_.size()) {
    rows_.clear();
    row_ = 0;
    return;
  }
  row_wanted_ = Wants(rows_[row_]->session_id);
}

bool EventFeed::Wants(const std::string& session_id) const {
  if (options_.filter.labels.empty()) return true;
  const auto labels = options_.labels_of(session_id);
  return options_.filter.KeepsSession(labels ? *labels : session::Labels());
}

void EventFeed::EndPast() {
  in_past_ = false;
  v1::ProgressEvent caught_up;
  caught_up.mutable_caught_up();
  Push(std::move(caught_up));
  if (options_.replay_only || options_.until_turn_ended) End(absl::OkStatus());
}

void EventFeed::End(absl::Status status) {
  ended_ = true;
  end_status_ = std::move(status);
}

// Within one session the seqs say whether something is missing.
bool EventFeed::NoteGap(uint64_t seq, uint64_t position) {
  if (options_.scope.kind != session::LogScope::Kind::kSession) return false;
  const uint64_t expected = std::exchange(options_.next_seq, seq + 1);
  if (expected == 0 || seq <= expected) return false;
  options_.next_seq = seq;
  v1::ProgressEvent event;
  event.mutable_gap()->set_reason(v1::Gap::REASON_RETENTION);
  event.mutable_gap()->set_next_seq(seq);
  event.mutable_gap()->set_next_position(position);
  Push(std::move(event));
  return true;
}

// Where seqs do not tell: the sessions of a wider scope, and a cursor that is a position.
void EventFeed::NoteLost(const std::vector<session::LostEvents>& lost) {
  const bool of_session = options_.scope.kind == session::LogScope::Kind::kSession;
  if (of_session && options_.next_seq != 0) return;
  for (const session::LostEvents& events : lost) {
    uint64_t& told = told_lost_[events.session_id];
    if (told >= events.next_seq || !Wants(events.session_id)) continue;
    told = events.next_seq;
    v1::ProgressEvent event;
    event.set_project_id(events.project_id);
    event.set_session_id(events.session_id);
    event.mutable_gap()->set_reason(v1::Gap::REASON_RETENTION);
    event.mutable_gap()->set_next_seq(events.next_seq);
    event.mutable_gap()->set_next_position(events.next_position);
    Push(std::move(event));
  }
}

void EventFeed::PushResent(uint64_t position, std::string event) {
  const auto scanned = ScanEvent(event);
  const std::string session_id(StringField(event, v1::ProgressEvent::kSessionIdFieldNumber));
  if (!Wants(session_id) || (scanned && !options_.filter.Keeps(*scanned))) return;
  resent_.push_back({position, std::move(event)});
}

void EventFeed::PushHeartbeat(uint64_t reached) {
  MoveTo(reached);
  v1::ProgressEvent heartbeat;
  heartbeat.mutable_heartbeat();
  Push(std::move(heartbeat));
}

}  // namespace acpd::server
