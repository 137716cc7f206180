#ifndef ACPD_SESSION_STORE_META_H_
#define ACPD_SESSION_STORE_META_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "session/sqlite.h"

// What the store knows about itself: the one row of `meta`, and the epochs that ended.
namespace acpd::session {

struct StoreMeta {
  std::string epoch;  // hex: it is the first half of SSE ids
  std::string store_id;
  std::string fingerprint_key;
  uint64_t generation = 0;
  uint64_t newest_position = 0;  // of all that was ever committed, as far as the file knows
};

// The id of this boot of the host; empty when it cannot be read.
std::string BootId();

// Reads the row, making it in a new store. An epoch ends when the host went down (`boot_id`
// differs) without a clean stop: commits that readers saw may be gone, so their positions mean
// something else from now on.
absl::StatusOr<StoreMeta> OpenMeta(Database& db, const std::string& boot_id);
// Raises the generation, durably, and marks the store as running.
absl::StatusOr<uint64_t> RaiseGeneration(Database& db, const std::string& boot_id);
// Marks a clean stop, durably.
absl::Status MarkCleanStop(Database& db);

}  // namespace acpd::session

#endif  // ACPD_SESSION_STORE_META_H_
