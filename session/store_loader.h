#ifndef ACPD_SESSION_STORE_LOADER_H_
#define ACPD_SESSION_STORE_LOADER_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "session/commit_plan.h"
#include "session/event_log.h"
#include "session/sqlite.h"
#include "session/store.h"

namespace acpd::session {

// What a start reads from the tables, in one transaction: the domain's state, the fences' marks and
// the log's directory.
struct StoredState {
  LoadedState state;
  SessionMarks marks;
  std::vector<SessionRow> sessions;  // all of them, tombstones too
  std::vector<std::pair<std::string, LogBounds>> session_bounds, project_bounds;
  LogBounds bounds;
};

absl::StatusOr<StoredState> LoadState(Database& db);

}  // namespace acpd::session

#endif  // ACPD_SESSION_STORE_LOADER_H_
