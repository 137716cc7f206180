#ifndef ACPD_SESSION_TRANSCRIPT_H_
#define ACPD_SESSION_TRANSCRIPT_H_

#include <cstddef>
#include <deque>
#include <string>

#include "session/events.h"

namespace acpd::session {

// Our record of a conversation that an agent has lost, for the first prompt of the session that
// stands in: what was said and which tools ran with which outcome; the newest of it, cut on the
// borders of messages, and marked as a record and not as instructions. Takes the events in their
// order. Bounded by its size. No threads.
class Transcript {
 public:
  explicit Transcript(size_t max_bytes) : max_bytes_(max_bytes) {}

  void Add(const StoredTalk& talk);
  // The whole text; empty: nothing was said.
  std::string Text() const;

 private:
  struct Entry {
    StoredTalk::Kind kind = StoredTalk::Kind::kNone;
    std::string turn_id, id;  // of the message or tool call; may be empty
    std::string text;         // of a tool call: its title
    std::string status;       // of a tool call
  };
  Entry* OpenMessage(const StoredTalk& talk);
  Entry* FindTool(const StoredTalk& talk);
  void Trim();

  const size_t max_bytes_;
  std::deque<Entry> entries_;  // oldest first
  size_t bytes_ = 0;
  bool trimmed_ = false;
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_TRANSCRIPT_H_
