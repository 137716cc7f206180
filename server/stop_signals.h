#ifndef ACPD_SERVER_STOP_SIGNALS_H_
#define ACPD_SERVER_STOP_SIGNALS_H_

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <future>
#include <optional>
#include <thread>

#include "server/daemon_config.h"

namespace acpd::server {

// Why and how to stop.
struct StopRequest {
  int signal = 0;                  // 0: a caller asked
  std::optional<Workers> workers;  // nullopt: as the config says
};

// SIGTERM, SIGINT and SIGHUP (unless nohup had it ignored) as requests to stop: the first one ends
// Wait; one that comes a second or more later ends the process at once, whatever the other threads
// do. What comes within that second is the same request, told twice: a terminal's Ctrl-C and the
// SIGTERM of the script that it ended. It has a thread of its own, so that a stuck loop does not
// matter. Owned by main.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Blocks until the first request. Once.
  StopRequest Wait();
  // A request that is no signal: the next signal is the first one. False: one has come before.
  // Thread-safe.
  bool Ask(StopRequest request);

 private:
  void WaitForNext();

  boost::asio::io_context io_{1};
  boost::asio::signal_set signals_{io_};
  std::optional<std::chrono::steady_clock::time_point> first_at_;  // its own thread's
  std::atomic<bool> asked_ = false;
  std::promise<StopRequest> first_;
  std::thread thread_;
};

}  // namespace acpd::server

#endif  // ACPD_SERVER_STOP_SIGNALS_H_
