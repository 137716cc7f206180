#ifndef ACPD_SERVER_LOOP_THREAD_H_
#define ACPD_SERVER_LOOP_THREAD_H_

#include <functional>
#include <future>
#include <thread>

#include "acp/asio.h"

namespace acpd::server {

// The one loop thread and its io_context. What is posted before Run waits for it. Owned by main.
class LoopThread {
 public:
  asio::any_io_executor executor() { return io_.get_executor(); }
  void Run();

  // Runs `call` or `work` on the loop and waits for its end. False when that did not come within
  // `timeout`: it goes on then, so what it uses has to stay. Never from the loop.
  bool Call(std::function<void()> call, milliseconds timeout);
  bool Await(awaitable<void> work, milliseconds timeout,
             std::function<void(const std::string& what)> on_error);

  // Ends the thread. False when it did not end within `timeout`.
  bool Stop(milliseconds timeout);

 private:
  asio::io_context io_{1};
  // Keeps the loop running while nothing is to be done.
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  std::promise<void> ended_;
  std::thread thread_;
};

}  // namespace acpd::server

#endif  // ACPD_SERVER_LOOP_THREAD_H_
