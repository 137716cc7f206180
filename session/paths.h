#ifndef ACPD_SESSION_PATHS_H_
#define ACPD_SESSION_PATHS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace acpd::session {

// Where commands are looked up when nobody says: an agent's PATH when the daemon has none.
inline constexpr std::string_view kDefaultPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// What a session's cwd is checked against.
struct CwdRules {
  std::string projects_root;
  std::string project_id;
  std::vector<std::string> allowed_roots;
};

// Checks `cwd` (empty: the project's own folder projects_root/project_id, which is made, 0700, when
// it is missing). Returns the string to keep, as first given. CWD_NOT_ALLOWED: relative, or its
// real path is neither the project's folder, nor below it, nor below an allowed root, or lies in
// another project's folder. CWD_NOT_FOUND: it does not exist or is no folder. Blocking: call it on
// the pool.
absl::StatusOr<std::string> CheckCwd(const CwdRules& rules, const std::string& cwd);
// Whether two paths name the same real folder. Blocking.
bool SameFolder(const std::string& a, const std::string& b);
// Whether a command can be started: its path when it has a slash, else looked up in
// `path_variable`. OK, or AGENT_START_FAILED (FAILED_PRECONDITION) that says "no such command" or
// "not executable". Blocking.
absl::Status CheckCommand(const std::string& command, const std::string& path_variable,
                          const std::string& cwd);

}  // namespace acpd::session

#endif  // ACPD_SESSION_PATHS_H_
