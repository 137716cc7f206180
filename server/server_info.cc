#include "server/server_info.h"

#include <variant>

#include "server/config_keys.h"
#include "server/durations.h"

namespace acpd::server {
namespace {

using session::Limits;

// Empty: no limit is of this type.
std::string FormatLimit(const Key<Limits>& key, const Limits& limits) {
  if (const auto* duration = std::get_if<milliseconds Limits::*>(&key.target))
    return FormatDuration(limits.**duration);
  const auto* number = std::get_if<size_t Limits::*>(&key.target);
  if (number == nullptr) return "";
  const auto value = static_cast<int64_t>(limits.**number);
  return key.type == KeyType::kSize ? FormatSize(value) : std::to_string(value);
}

}  // namespace

std::map<std::string, std::string> FormatLimits(const Limits& limits) {
  std::map<std::string, std::string> texts;
  for (const Key<Limits>& key : LimitsKeys())
    texts[std::string(key.name)] = FormatLimit(key, limits);
  return texts;
}

void ToProto(const session::ManagerCounts& counts, v1::GetServerInfoResponse::Counts* out) {
  for (const auto& [state, count] : counts.sessions) {
    auto* sessions = out->add_sessions();
    sessions->set_state(static_cast<v1::Session::State>(state));
    sessions->set_count(count);
  }
  out->set_queued_turns(counts.queued_turns);
  out->set_running_turns(counts.running_turns);
  out->set_workers(counts.workers);
  out->set_open_questions(counts.open_questions);
}

v1::WorkersAtShutdown ToProto(Workers workers) {
  return workers == Workers::kKeep ? v1::WORKERS_AT_SHUTDOWN_KEEP : v1::WORKERS_AT_SHUTDOWN_STOP;
}

}  // namespace acpd::server
