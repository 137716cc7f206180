#include "tests/e2e/harness/invariants.h"

#include <map>
#include <set>

namespace acpd::e2e {
namespace {

bool IsStored(const Event& event) { return event.seq() != 0 && !event.resent(); }

std::string Where(const Event& event) {
  return "session " + event.session_id() + ", seq " + std::to_string(event.seq()) + ", position " +
         std::to_string(event.position());
}

}  // namespace

std::vector<std::string> CheckTurnsEndOnce(const std::vector<Event>& events,
                                           const std::map<std::string, std::string>& accepted) {
  std::vector<std::string> violations;
  std::map<std::string, int> ends;
  std::set<std::string> queued, deleted;
  for (const Event& event : events) {
    if (!IsStored(event)) continue;
    if (event.has_session_deleted()) deleted.insert(event.session_id());
    if (event.has_turn_queued()) queued.insert(event.turn_id());
    if (event.has_turn_ended()) ++ends[event.turn_id()];
    if (!event.turn_id().empty() && !queued.contains(event.turn_id())) {
      violations.push_back("turn " + event.turn_id() + " before its TurnQueued: " + Where(event));
    }
  }
  for (const auto& [turn_id, count] : ends) {
    if (count != 1) {
      violations.push_back("turn " + turn_id + " ended " + std::to_string(count) + " times");
    }
  }
  for (const std::string& turn_id : queued) {
    if (!ends.contains(turn_id)) violations.push_back("turn " + turn_id + " never ended");
  }
  for (const auto& [turn_id, session_id] : accepted) {
    if (!queued.contains(turn_id) && !deleted.contains(session_id)) {
      violations.push_back("turn " + turn_id + " was accepted and is not in the log");
    }
  }
  return violations;
}

std::vector<std::string> CheckNoHoleNoRepeat(const std::vector<Event>& events) {
  std::vector<std::string> violations;
  std::map<std::string, uint64_t> last_seq;
  uint64_t last_position = 0;
  for (const Event& event : events) {
    if (event.has_gap()) last_seq.erase(event.session_id());
    if (!IsStored(event)) continue;
    const auto last = last_seq.find(event.session_id());
    if (last != last_seq.end() && event.seq() != last->second + 1) {
      violations.push_back("seq after " + std::to_string(last->second) + ": " + Where(event));
    }
    if (event.position() <= last_position) {
      violations.push_back("position after " + std::to_string(last_position) + ": " + Where(event));
    }
    last_seq[event.session_id()] = event.seq();
    last_position = event.position();
  }
  return violations;
}

}  // namespace acpd::e2e
