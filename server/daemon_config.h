#ifndef ACPD_SERVER_DAEMON_CONFIG_H_
#define ACPD_SERVER_DAEMON_CONFIG_H_

#include <chrono>
#include <string>
#include <vector>

#include "session/config.h"

namespace acpd::server {

// What becomes of the workers when acpd stops.
enum class Workers { kKeep, kStop };
enum class LogLevel { kDebug, kInfo, kWarning, kError };

// All of the configuration: what the domain needs, and what only the daemon itself does. A plain
// value.
struct DaemonConfig : session::Config {
  std::vector<std::string> listen;
  bool allow_insecure = false;
  std::chrono::milliseconds shutdown_timeout = std::chrono::seconds(30);
  Workers shutdown_workers = Workers::kKeep;
  LogLevel log_level = LogLevel::kInfo;
};

}  // namespace acpd::server

#endif  // ACPD_SERVER_DAEMON_CONFIG_H_
