#include "tests/chaos/watch.h"

#include "tests/chaos/turn_plan.h"

namespace acpd::chaos {

Seen Shorten(const e2e::Event& event) {
  return {event.position(), event.seq(), HashOf(event.session_id()),
          HashOf(event.SerializeAsString())};
}

}  // namespace acpd::chaos
