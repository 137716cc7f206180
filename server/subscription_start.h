#ifndef ACPD_SERVER_SUBSCRIPTION_START_H_
#define ACPD_SERVER_SUBSCRIPTION_START_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "acp/asio.h"
#include "acpd/v1/session_service.pb.h"
#include "server/requests.h"
#include "session/event_log.h"
#include "session/session_manager.h"

namespace acpd::server {

// SessionManager::PlanSubscription, or a test's stand-in.
using PlanSubscription = std::function<awaitable<absl::StatusOr<session::SubscriptionPlan>>(
    session::CallPtr, session::SubscriptionQuery)>;

// Where a stream begins.
struct StreamStart {
  session::LogScope scope;
  uint64_t cursor = 0;
  uint64_t next_seq = 0;  // as in EventFeed::Options
  uint64_t past_end = 0;
  bool until_turn_ended = false;  // by past_end
  session::LogBounds bounds;      // of the scope
  std::optional<v1::Gap> gap;     // to be sent first
  std::vector<std::pair<uint64_t, std::string>>
      open_questions;  // positions and bytes of their events
};

struct StartSources {
  PlanSubscription plan;
  // Whether a turn's end is committed; `done` may come on another thread.
  std::function<void(const std::string& turn_id, std::function<void(bool ended)> done)> turn_ended;
  session::EventLog* log = nullptr;
  std::string epoch;
};

// Resolves scope and cursor of a request: SESSION_NOT_FOUND, TURN_NOT_FOUND, CURSOR_AHEAD come from
// here, before anything is written. Runs on the loop.
awaitable<absl::StatusOr<StreamStart>> FindStart(StartSources sources, session::CallPtr call,
                                                 SubscribeParams params);

}  // namespace acpd::server

#endif  // ACPD_SERVER_SUBSCRIPTION_START_H_
