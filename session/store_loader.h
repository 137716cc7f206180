#ifndef ACPD_SESSION_STORE_LOADER_H_
#define ACPD_SESSION_STORE_LOADER_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "session/commit_plan.h"
#include "session/event_log.h"
#include "session/log_sizes.h"
#include "session/sqlite.h"
#include "session/store.h"

namespace acpd::session {

// What a start reads from the tables, in one transaction: the domain's state, the fences' marks and
// the log's directory.
struct StoredState {
  explicit StoredState(const Retention& retention) : sizes(retention) {}
  LoadedState state;
  SessionMarks marks;
  std::vector<SessionRow> sessions;  // all of them, tombstones too
  std::vector<std::pair<std::string, LogBounds>> session_bounds, project_bounds;
  LogBounds bounds;
  std::vector<std::pair<std::string, uint64_t>> cuts;  // sessions, and the positions they lost last
  LogSizes sizes;
  std::map<std::string, uint64_t> epoch_ends;
};

absl::StatusOr<StoredState> LoadState(Database& db, const Retention& retention);

}  // namespace acpd::session

#endif  // ACPD_SESSION_STORE_LOADER_H_
