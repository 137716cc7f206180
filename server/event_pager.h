#ifndef ACPD_SERVER_EVENT_PAGER_H_
#define ACPD_SERVER_EVENT_PAGER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/event_filter.h"
#include "server/event_scan.h"
#include "session/event_log.h"

namespace acpd::server {

// Makes one page of ListEvents of a session's events, which it is given one after the other,
// forwards or backwards: filters them, joins the chunks of messages and decides where the page
// ends. A page is what lies between two borders in the log: nothing of it is missing, nothing
// beyond is in it. So a border stands before or behind a message that is being joined with all
// that lies within it, unless that alone is more than a page. It reads nothing. One thread at a
// time. Owned by the reading of a page (list_events.cc).
class EventPager {
 public:
  struct Options {
    EventFilter filter;
    bool coalesce = false;
    bool descending = false;
    size_t max_events = 0;
    size_t max_bytes = 0;  // a larger event has a page of its own
  };
  explicit EventPager(Options options) : options_(std::move(options)) {}

  // The next event. False: the page has ended before it, or before one that was held back.
  bool Take(const session::LogRowPtr& row, size_t index);
  // Instead of a next event: there is none, or the page has taken enough of the log. Not after
  // Take returned false.
  void EndOfLog();
  void EndOfReading();

  // The seq behind which the next page goes on; nullopt: this is the last one.
  std::optional<uint64_t> next() const;
  // ListEventsResponse.events, encoded.
  const std::string& events() const { return events_; }

 private:
  struct Event {
    session::LogRowPtr row;  // keeps what the others point to
    size_t index = 0;
    ScannedEvent scanned;
    ScannedUpdate update;
    uint64_t seq() const { return row->first_seq + index; }
    std::string_view bytes() const { return row->event(index); }
  };
  // Chunks that are being joined.
  struct Message {
    Event newest;                    // what the joined event is made of
    Event latest;                    // the chunk that was read last
    std::vector<std::string> texts;  // as they were read
    size_t bytes = 0;
    std::vector<Event> within;  // wanted events between the chunks
  };

  static bool AreOfOneMessage(const Event& a, const Event& b);
  static bool IsPartAfter(const Event& event, const Event& before);
  static bool IsAside(const Event& event);

  bool TakeBackwards(Event event);
  bool Classify(Event event, bool is_chunk);
  void OpenMessage(Event chunk);
  bool Grow(Event chunk);
  bool CloseMessage();
  void WriteMessage();
  bool ReleaseTail();
  bool AddAlone(const Event& event);
  void Write(const Event& event, std::string_view bytes);
  bool Fits(size_t events, size_t bytes) const;

  const Options options_;
  std::string events_;
  size_t count_ = 0;
  uint64_t reached_ = 0;  // the border behind what is in the page or not wanted
  bool last_ = false;
  std::optional<Message> message_;
  std::vector<Event> aside_;  // wanted, since its latest chunk; they end no message
  std::vector<Event> tail_;   // backwards: parts without text, whose first part is not yet seen
};

}  // namespace acpd::server

#endif  // ACPD_SERVER_EVENT_PAGER_H_
