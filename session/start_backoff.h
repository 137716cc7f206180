#ifndef ACPD_SESSION_START_BACKOFF_H_
#define ACPD_SESSION_START_BACKOFF_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "acp/asio.h"
#include "session/types.h"

namespace acpd::session {

// How long an agent that fails to start is left alone: after the first failure `first`, after each
// further one twice as long, up to `longest`. A success, or a failure long after the last one,
// begins it anew. It only keeps count, of at most 1,024 keys: what has been left alone longest is
// forgotten first. Loop thread only. Owned by the manager's core.
class StartBackoff {
 public:
  struct Policy {
    milliseconds first{0};  // 0: nothing is ever left alone
    milliseconds longest{0};
  };
  explicit StartBackoff(Policy policy) : policy_(policy) {}

  // What is started, and with what: another config, key or model is tried at once.
  static std::string KeyOf(const std::string& agent, const std::string& fingerprint,
                           const std::string& project_id);
  // Whether a start that ended with this status counts. A login that is missing does not: it helps
  // nobody to wait for it.
  static bool Counts(const absl::Status& failure);

  // Returns how long it is to be left alone now.
  milliseconds Failed(const std::string& key, const absl::Status& why, SteadyTime now);
  void Succeeded(const std::string& key) { entries_.erase(key); }
  // OK, or the error for a caller who would have it started now: UNAVAILABLE with the reason of the
  // last failure, and when to try again.
  absl::Status Check(const std::string& key, SteadyTime now) const;

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }

 private:
  static constexpr size_t kMaxEntries = 1024;
  struct Entry {
    uint32_t failures = 0;  // in a row
    milliseconds pause{0};
    SteadyTime until;
    std::string reason, message;  // of the last one
  };
  void MakeRoom();

  const Policy policy_;
  std::map<std::string, Entry> entries_;
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_START_BACKOFF_H_
