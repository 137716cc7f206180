#ifndef ACPD_SERVER_EVENT_FEED_H_
#define ACPD_SERVER_EVENT_FEED_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "acpd/v1/session_service.pb.h"
#include "server/event_filter.h"
#include "server/stream_message.h"
#include "session/event_log.h"

namespace acpd::server {

// Turns the log's pages into one stream's messages: where it stands, what of the past is left,
// filters, control events, and when it ends. It reads and writes nothing itself. Not thread-safe:
// the Subscription that owns it holds its lock.
class EventFeed {
 public:
  struct Options {
    session::LogScope scope;
    uint64_t cursor = 0;    // events behind it are wanted
    uint64_t next_seq = 0;  // session scope: of the event that comes next; 0: any
    uint64_t past_end = 0;  // the past is what lies up to here
    EventFilter filter;
    bool omit_json = false;
    bool replay_only = false;
    std::string until_turn_id;
    bool until_turn_ended = false;  // by past_end
    std::function<std::shared_ptr<const session::Labels>(const std::string& session_id)> labels_of;
  };
  explicit EventFeed(Options options);

  // Where the next page is to be read.
  const session::LogScope& scope() const { return options_.scope; }
  uint64_t cursor() const { return options_.cursor; }
  bool in_past() const { return in_past_; }
  // What the log handed over for that. `horizon`: the newest position when it was asked.
  void Add(session::EventLog::Page page, uint64_t horizon);

  // The next message. False: nothing is in hand; then the stream has ended, or needs a page.
  bool Next(StreamMessage* out);
  bool ended() const { return ended_; }
  const absl::Status& end_status() const { return end_status_; }

  // Control events get the position reached when they are written.
  void Push(v1::ProgressEvent event) { control_.push_back(std::move(event)); }
  // A repeated open question; moves no cursor.
  void PushResent(uint64_t position, std::string event);
  // A sign of life; `reached` may lie behind the last event where nothing in scope lies between.
  void PushHeartbeat(uint64_t reached);

 private:
  struct Resent {
    uint64_t position;
    std::string event;
  };

  bool TakeControl(StreamMessage* out);
  bool TakeEvent(StreamMessage* out);
  bool Write(size_t i, StreamMessage* out);
  bool EndsTurn(const ScannedEvent& event) const;
  bool Wants(const std::string& session_id) const;
  void OpenRow();
  void EndPast();
  void End(absl::Status status);
  bool NoteGap(uint64_t seq, uint64_t position);
  void NoteLost(const std::vector<session::LostEvents>& lost);
  void MoveTo(uint64_t position) { options_.cursor = std::max(options_.cursor, position); }

  Options options_;
  const bool looks_inside_;  // events have to be scanned
  bool in_past_ = true, ended_ = false;
  absl::Status end_status_;
  std::deque<v1::ProgressEvent> control_;
  std::deque<Resent> resent_;
  std::map<std::string, uint64_t> told_lost_;  // session_id -> next_seq of its last Gap
  // In hand: rows_[row_], from event_ on.
  std::vector<session::LogRowPtr> rows_;
  size_t row_ = 0, event_ = 0;
  std::optional<RowSlice> slice_;  // of rows_[row_], once an event of it is written
  bool row_wanted_ = true;         // its session has the labels asked for
};

}  // namespace acpd::server

#endif  // ACPD_SERVER_EVENT_FEED_H_
