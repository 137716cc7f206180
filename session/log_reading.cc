#include "session/log_reading.h"

#include <memory>
#include <utility>

#include "session/delivery.h"

namespace acpd::session {
namespace {

constexpr size_t kPage = 256u << 10;

}  // namespace

awaitable<EventLog::Page> ReadPage(Core& core, LogScope scope, uint64_t after) {
  const auto delivery = std::make_shared<Delivery<EventLog::Page>>(core.deps.loop);
  EventLog::Page page;
  uint64_t ticket = 0;
  const bool at_once = core.deps.log->Next(scope, after, kPage, /*past_only=*/true, &page,
                                           DeliverTo(delivery), &ticket);
  if (at_once) co_return page;
  const SteadyTime never = SteadyTime::max();
  co_await Arrive(delivery, never);
  co_return std::move(*delivery->value);
}

awaitable<SessionRows> ReadRange(Core& core, SessionRange range, size_t max_bytes) {
  const auto delivery = std::make_shared<Delivery<SessionRows>>(core.deps.loop);
  core.deps.log->ReadSession(std::move(range), max_bytes, DeliverTo(delivery));
  const SteadyTime never = SteadyTime::max();
  co_await Arrive(delivery, never);
  co_return std::move(*delivery->value);
}

awaitable<uint64_t> Locate(Core& core, std::string session_id, uint64_t seq) {
  const auto delivery = std::make_shared<Delivery<uint64_t>>(core.deps.loop);
  core.deps.log->Locate(std::move(session_id), seq, DeliverTo(delivery));
  const SteadyTime never = SteadyTime::max();
  co_await Arrive(delivery, never);
  co_return *delivery->value;
}

}  // namespace acpd::session
