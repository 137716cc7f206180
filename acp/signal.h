#ifndef ACPD_ACP_SIGNAL_H_
#define ACPD_ACP_SIGNAL_H_

#include <list>
#include <memory>

#include "acp/asio.h"

namespace acpd {

// Wakes coroutines of one thread: each waits until it is notified or its deadline comes. It keeps
// no state of its own: the waiter looks at what it waits for before and after. Loop thread only. It
// must outlive nobody: waiters of a destroyed Signal are woken.
class Signal {
 public:
  explicit Signal(asio::any_io_executor executor) : executor_(std::move(executor)) {}
  ~Signal();
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  // Returns true when notified, false when `deadline` came first. SteadyTime::max() waits for ever.
  awaitable<bool> Wait(SteadyTime deadline);
  void Notify();

 private:
  struct Waiter {
    explicit Waiter(const asio::any_io_executor& executor) : timer(executor) {}
    asio::steady_timer timer;
    bool notified = false;
  };
  asio::any_io_executor executor_;
  std::list<std::weak_ptr<Waiter>>
      waiters_;  // owned by the waiting coroutines, so that a Signal may outlive the loop
};

}  // namespace acpd

#endif  // ACPD_ACP_SIGNAL_H_
