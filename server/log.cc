#include "server/log.h"

#include <spdlog/async_logger.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <future>
#include <nlohmann/json.hpp>
#include <thread>

#include "absl/time/time.h"
#include "acp/text.h"

namespace acpd::server {
namespace {

constexpr size_t kMaxText = 16 << 10;
constexpr size_t kMaxLines = 4096;

const char* NameOf(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      return "error";
  }
  return "error";
}

std::string Shown(std::string_view text) {
  std::string shown = RepairText(text.substr(0, kMaxText + 4));
  if (text.size() <= kMaxText) return shown;
  return std::string(CutText(shown, kMaxText)) + "...";
}

}  // namespace

std::string FormatLogLine(std::chrono::system_clock::time_point time, LogLevel level,
                          std::string_view message, const LogFields& fields) {
  nlohmann::ordered_json line;
  line["ts"] =
      absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", absl::FromChrono(time), absl::UTCTimeZone());
  line["level"] = NameOf(level);
  line["msg"] = Shown(message);
  for (const auto& [name, value] : fields) {
    if (!value.empty()) line[Shown(name)] = Shown(value);
  }
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Log::Log(LogLevel level, std::FILE* file) : level_(level) {
  using Sink = spdlog::sinks::stdout_sink_base<spdlog::details::console_mutex>;
  absl::MutexLock lock(&mutex_);
  pool_ = std::make_shared<spdlog::details::thread_pool>(kMaxLines, 1);
  logger_ = std::make_shared<spdlog::async_logger>("acpd", std::make_shared<Sink>(file), pool_,
                                                   spdlog::async_overflow_policy::overrun_oldest);
  logger_->set_pattern("%v");
  logger_->set_level(spdlog::level::trace);
  logger_->set_error_handler([](const std::string&) {});  // there is nobody left to tell
}

Log::~Log() { Close(std::chrono::hours(1)); }

void Log::Write(LogLevel level, std::string_view message, const LogFields& fields) {
  if (level < level_) return;
  const auto now = std::chrono::system_clock::now();
  std::string line = FormatLogLine(now, level, message, fields);
  absl::MutexLock lock(&mutex_);
  if (logger_ == nullptr) return;
  const size_t lost = pool_->overrun_counter();
  if (const size_t before = reported_lost_.exchange(lost); lost > before) {
    logger_->info(FormatLogLine(now, LogLevel::kWarning,
                                "log lines were dropped: stderr is read too slowly",
                                {{"count", std::to_string(lost - before)}}));
  }
  logger_->info(line);
}

bool Log::Close(std::chrono::milliseconds timeout) {
  std::shared_ptr<spdlog::details::thread_pool> pool;
  {
    absl::MutexLock lock(&mutex_);
    if (logger_ == nullptr) return true;
    logger_ = nullptr;
    pool = std::move(pool_);
  }
  // The pool's destructor writes what is queued and joins its thread: it takes as long as the file
  // does.
  auto done = std::make_shared<std::promise<void>>();
  std::future<void> written = done->get_future();
  std::thread([pool = std::move(pool), done]() mutable {
    pool.reset();
    done->set_value();
  }).detach();
  return written.wait_for(timeout) == std::future_status::ready;
}

}  // namespace acpd::server
