#ifndef ACPD_SERVER_EVENT_FILTER_H_
#define ACPD_SERVER_EVENT_FILTER_H_

#include <set>
#include <string>
#include <string_view>

#include "server/event_scan.h"
#include "session/types.h"

namespace acpd::server {

// Which stored events a subscriber wants: by kind, update kind, turn and labels of the session.
// Empty parts let everything through. Immutable once filled in.
struct EventFilter {
  std::set<uint32_t> event_kinds;  // numbers of EventKind
  std::set<std::string, std::less<>> update_kinds;
  std::string turn_id;
  session::Labels labels;

  // Nothing of an event has to be looked at.
  bool empty() const { return event_kinds.empty() && update_kinds.empty() && turn_id.empty(); }
  bool Keeps(const ScannedEvent& event) const;
  // Whether a session with these labels is wanted.
  bool KeepsSession(const session::Labels& its_labels) const;
};

}  // namespace acpd::server

#endif  // ACPD_SERVER_EVENT_FILTER_H_
