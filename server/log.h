#ifndef ACPD_SERVER_LOG_H_
#define ACPD_SERVER_LOG_H_

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/daemon_config.h"

namespace spdlog {
class logger;
namespace details {
class thread_pool;
}
}  // namespace spdlog

namespace acpd::server {

using LogFields = std::vector<std::pair<std::string, std::string>>;

// One line of the log: a JSON object with ts (UTC, microseconds), level, msg and the fields, those
// without a value left out. Text is repaired, and cut at 16 KiB.
std::string FormatLogLine(std::chrono::system_clock::time_point time, LogLevel level,
                          std::string_view message, const LogFields& fields);

// The log: lines go to a file (stderr) from a thread of its own. It never waits: when the reader of
// stderr is slow and 4,096 lines are in hand, the oldest are dropped, and a line says how many.
// Thread-safe. Owned by main, outlives everything that logs.
class Log {
 public:
  explicit Log(LogLevel level, std::FILE* file = stderr);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void Write(LogLevel level, std::string_view message, const LogFields& fields = {});

  // Writes what is in hand; later lines are dropped. False when that took longer than `timeout`: a
  // thread still waits for the file then, and the process has to end by _exit.
  bool Close(std::chrono::milliseconds timeout);

 private:
  const LogLevel level_;
  std::atomic<size_t> reported_lost_{0};
  absl::Mutex mutex_;
  std::shared_ptr<spdlog::details::thread_pool> pool_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<spdlog::logger> logger_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace acpd::server

#endif  // ACPD_SERVER_LOG_H_
