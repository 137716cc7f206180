#ifndef ACPD_SESSION_DELIVERY_H_
#define ACPD_SESSION_DELIVERY_H_

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "acp/signal.h"

namespace acpd::session {

// A value that a reader thread of the store brings to a coroutine of the loop.
template <typename Value>
struct Delivery {
  explicit Delivery(asio::any_io_executor executor) : loop(executor), signal(std::move(executor)) {}
  asio::any_io_executor loop;
  Signal signal;
  std::optional<Value> value;
};

// What the reader thread calls, once.
template <typename Value>
std::function<void(Value)> DeliverTo(const std::shared_ptr<Delivery<Value>>& delivery) {
  return [delivery](Value value) {
    asio::post(delivery->loop, [delivery, value = std::move(value)]() mutable {
      delivery->value = std::move(value);
      delivery->signal.Notify();
    });
  };
}

// Waits for it on the loop. False: the deadline came first.
template <typename Value>
awaitable<bool> Arrive(std::shared_ptr<Delivery<Value>> delivery, SteadyTime deadline) {
  while (!delivery->value) {
    const bool notified = co_await delivery->signal.Wait(deadline);
    if (!notified) co_return false;
  }
  co_return true;
}

}  // namespace acpd::session

#endif  // ACPD_SESSION_DELIVERY_H_
