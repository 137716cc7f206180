#include "server/store_watch.h"

#include <utility>

#include "server/strings.h"

namespace acpd::server {

StoreWatch::StoreWatch(asio::any_io_executor loop, Health health, Write write)
    : health_(std::move(health)), write_(std::move(write)), timer_(std::move(loop)) {}

void StoreWatch::Start(milliseconds every) { Look(every); }

void StoreWatch::Look(milliseconds every) {
  Tell(health_());
  timer_.expires_after(every);
  timer_.async_wait([this, every](const boost::system::error_code& error) {
    if (!error) Look(every);
  });
}

void StoreWatch::Tell(const absl::Status& health) {
  if (health.ok() != in_trouble_) return;
  in_trouble_ = !health.ok();
  const SteadyTime now = std::chrono::steady_clock::now();
  if (in_trouble_) {
    since_ = now;
    write_(LogLevel::kError, std::string(health.message()), {{"reason", "STORE_UNAVAILABLE"}});
    return;
  }
  const auto lasted = std::chrono::duration_cast<milliseconds>(now - since_);
  write_(LogLevel::kInfo, "the store writes again", {{"after_ms", Cat(lasted.count())}});
}

}  // namespace acpd::server
