#include "server/event_filter.h"

#include <algorithm>

namespace acpd::server {
bool EventFilter::Keeps(const ScannedEvent& event) const {
  if (!turn_id.empty() && event.turn_id != turn_id) return false;
  if (!event_kinds.empty() && event_kinds.count(event.kind) == 0) return false;
  if (update_kinds.empty() || event.kind != kSessionUpdate) return true;
  return update_kinds.find(StringField(event.payload, kUpdateKind)) != update_kinds.end();
}

bool EventFilter::KeepsSession(const session::Labels& its_labels) const {
  return std::all_of(labels.begin(), labels.end(), [&](const auto& label) {
    const auto found = its_labels.find(label.first);
    return found != its_labels.end() && found->second == label.second;
  });
}

}  // namespace acpd::server
