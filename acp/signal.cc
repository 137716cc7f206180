#include "acp/signal.h"

namespace acpd {

Signal::~Signal() { Notify(); }

awaitable<bool> Signal::Wait(SteadyTime deadline) {
  auto waiter = std::make_shared<Waiter>(executor_);
  waiters_.push_back(waiter);
  waiter->timer.expires_at(deadline);
  boost::system::error_code ignored;
  co_await waiter->timer.async_wait(asio::redirect_error(use_awaitable, ignored));
  // Notified: the list entry is gone, and `this` may be too. Not notified: `this` lives, since its
  // destructor notifies.
  if (!waiter->notified) {
    waiters_.remove_if([&waiter](const std::weak_ptr<Waiter>& other) {
      return other.expired() || other.lock() == waiter;
    });
  }
  co_return waiter->notified;
}

void Signal::Notify() {
  std::list<std::weak_ptr<Waiter>> woken;
  woken.swap(waiters_);
  for (const std::weak_ptr<Waiter>& entry : woken) {
    const std::shared_ptr<Waiter> waiter = entry.lock();
    if (!waiter) continue;
    waiter->notified = true;
    waiter->timer.cancel();
  }
}

}  // namespace acpd
