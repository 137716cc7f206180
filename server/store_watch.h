#ifndef ACPD_SERVER_STORE_WATCH_H_
#define ACPD_SERVER_STORE_WATCH_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "acp/asio.h"
#include "server/log.h"

namespace acpd::server {

// Says in the log when the store stops writing, be the disk full or stalled, and when it writes
// again: callers read it in their errors, but running turns only wait. Loop thread only. Owned by
// the daemon.
class StoreWatch {
 public:
  using Health = std::function<absl::Status()>;
  using Write = std::function<void(LogLevel, const std::string& message, const LogFields&)>;

  StoreWatch(asio::any_io_executor loop, Health health, Write write);

  // Looks from now on, once in `every`.
  void Start(milliseconds every);

 private:
  void Look(milliseconds every);
  void Tell(const absl::Status& health);

  const Health health_;
  const Write write_;
  asio::steady_timer timer_;
  bool in_trouble_ = false;
  SteadyTime since_;  // of the trouble
};

}  // namespace acpd::server

#endif  // ACPD_SERVER_STORE_WATCH_H_
