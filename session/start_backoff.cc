#include "session/start_backoff.h"

#include <algorithm>

#include "acp/text.h"
#include "session/errors.h"

namespace acpd::session {
namespace {

constexpr size_t kQuoted = 400;  // of the last failure, in a refusal

std::string Seconds(milliseconds time) {
  return std::to_string((time.count() + 999) / 1000) + " s";
}

}  // namespace

std::string StartBackoff::KeyOf(const std::string& agent, const std::string& fingerprint,
                                const std::string& project_id) {
  return agent + "/" + project_id + "/" + fingerprint;
}

bool StartBackoff::Counts(const absl::Status& failure) {
  const std::string reason = ReasonOf(failure);
  return reason == "AGENT_START_FAILED" || reason == "START_TIMEOUT" ||
         reason == "PROTOCOL_MISMATCH";
}

milliseconds StartBackoff::Failed(const std::string& key, const absl::Status& why, SteadyTime now) {
  if (policy_.first.count() == 0) return milliseconds(0);
  if (!entries_.count(key)) MakeRoom();
  Entry& entry = entries_[key];
  if (entry.failures > 0 && now > entry.until + policy_.longest) entry = Entry();
  ++entry.failures;
  entry.pause = entry.failures == 1 ? policy_.first : 2 * entry.pause;
  entry.pause = std::min(entry.pause, std::max(policy_.longest, policy_.first));
  entry.until = now + entry.pause;
  entry.reason = ReasonOf(why);
  entry.message = std::string(why.message());
  return entry.pause;
}

absl::Status StartBackoff::Check(const std::string& key, SteadyTime now) const {
  const auto it = entries_.find(key);
  if (it == entries_.end() || now >= it->second.until) return absl::OkStatus();
  const Entry& entry = it->second;
  // Rounded up: who comes back then is not refused again.
  const milliseconds left = std::chrono::ceil<milliseconds>(entry.until - now);
  absl::Status refusal = MakeError(
      absl::StatusCode::kUnavailable, entry.reason,
      "The agent failed to start " + std::to_string(entry.failures) +
          " time(s) in a row and is not started again for " + Seconds(left) +
          "; correct what is wrong with it, then send the call again. The last failure: " +
          std::string(CutText(entry.message, kQuoted)));
  AttachRetryAfter(refusal, left);
  return refusal;
}

void StartBackoff::MakeRoom() {
  if (entries_.size() < kMaxEntries) return;
  entries_.erase(std::min_element(
      entries_.begin(), entries_.end(),
      [](const auto& a, const auto& b) { return a.second.until < b.second.until; }));
}

}  // namespace acpd::session
