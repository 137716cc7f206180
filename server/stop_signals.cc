#include "server/stop_signals.h"

#include <signal.h>
#include <unistd.h>

namespace acpd::server {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kSameRequest{1};

bool IsIgnored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

StopSignals::StopSignals() {
  signals_.add(SIGTERM);
  signals_.add(SIGINT);
  if (!IsIgnored(SIGHUP)) signals_.add(SIGHUP);
  WaitForNext();
  thread_ = std::thread([this] { io_.run(); });
}

StopSignals::~StopSignals() {
  io_.stop();
  thread_.join();
}

StopRequest StopSignals::Wait() { return first_.get_future().get(); }

bool StopSignals::Ask(StopRequest request) {
  if (asked_.exchange(true)) return false;
  first_.set_value(request);
  return true;
}

void StopSignals::WaitForNext() {
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (error) return;
    const auto now = steady_clock::now();
    if (first_at_ && now - *first_at_ >= kSameRequest) _exit(128 + signal);
    if (!first_at_) {
      first_at_ = now;
      Ask({signal, std::nullopt});
    }
    WaitForNext();
  });
}

}  // namespace acpd::server
