#ifndef ACPD_SERVER_LOAD_CONFIG_H_
#define ACPD_SERVER_LOAD_CONFIG_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/daemon_config.h"
#include "server/options.h"

namespace acpd::server {

// The whole configuration of this start: the flags, then the file, then the defaults.
// INVALID_ARGUMENT with a sentence. Makes nothing. Blocking.
absl::StatusOr<DaemonConfig> LoadConfig(const Options& options);

struct DefaultFolders {
  std::string state_dir;  // empty: there is no place for it (no HOME)
  std::string runtime_dir;
};
// Where state and sockets go when nobody says: root has /var/lib/acpd and /run/acpd, others the XDG
// folders, and /tmp/acpd-UID without XDG_RUNTIME_DIR. Variables that are unset (nullptr), empty or
// relative do not count.
DefaultFolders FindDefaultFolders(uid_t uid, const char* xdg_state_home,
                                  const char* xdg_runtime_dir, const char* home);

// The built-in agents that can be started here: found in PATH, or in `program_folder` (where acpd
// itself lies).
std::vector<session::AgentDefinition> InstalledBuiltins(const std::string& program_folder);

// A command that is one of acpd's own programs, without a slash, becomes its path in
// `program_folder` if it is there.
void FindOwnPrograms(const std::string& program_folder,
                     std::vector<session::AgentDefinition>* agents);

}  // namespace acpd::server

#endif  // ACPD_SERVER_LOAD_CONFIG_H_
