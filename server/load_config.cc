#include "server/load_config.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

#include "absl/strings/str_replace.h"
#include "server/address.h"
#include "server/config_reader.h"
#include "server/files.h"
#include "server/strings.h"
#include "session/builtin_agents.h"
#include "session/paths.h"

namespace acpd::server {
namespace {

constexpr char kDefaultAddress[] = "127.0.0.1:7420";
// 107 bytes less what the sockets' paths have below it: "/", 12 of the store's id, "/", 32 of the
// worker's.
constexpr size_t kMaxRuntimeDir = 107 - 46;
constexpr char kOwnAgent[] = "acpd-demo-agent";

// Where the command lies if it is a program of ours; "" else.
std::string OwnProgram(const std::string& program_folder, const std::string& command) {
  if (command != kOwnAgent) return "";
  const std::string path = Cat(program_folder, "/", command);
  return IsExecutable(path) ? path : "";
}

bool IsAbsolute(const char* path) { return path != nullptr && *path == '/'; }

std::string HomeFolder() {
  if (const char* home = getenv("HOME"); IsAbsolute(home)) return home;
  const passwd* user = getpwuid(geteuid());
  return user != nullptr && IsAbsolute(user->pw_dir) ? user->pw_dir : "";
}

absl::Status FillDefaults(DaemonConfig* config) {
  const std::string home = HomeFolder();
  const DefaultFolders folders = FindDefaultFolders(geteuid(), getenv("XDG_STATE_HOME"),
                                                    getenv("XDG_RUNTIME_DIR"), home.c_str());
  if (config->listen.empty()) config->listen = {kDefaultAddress};
  if (config->state_dir.empty()) config->state_dir = folders.state_dir;
  if (config->state_dir.empty()) {
    return absl::InvalidArgumentError(
        "there is no HOME to keep the state in: set --state-dir or \"state_dir\"");
  }
  if (config->runtime_dir.empty()) config->runtime_dir = folders.runtime_dir;
  if (config->runtime_dir.size() > kMaxRuntimeDir) {
    return absl::InvalidArgumentError(
        Cat("runtime_dir ", config->runtime_dir, " is too long: it may have ", kMaxRuntimeDir,
            " bytes, because the paths of the workers' sockets below it may have 107"));
  }
  if (config->projects_root.empty()) config->projects_root = Cat(config->state_dir, "/projects");
  if (config->default_agent.empty() && !config->agents.empty())
    config->default_agent = config->agents[0].name;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DaemonConfig> LoadConfig(const Options& options) {
  const std::string program_folder = ProgramFolder();
  DaemonConfig config;
  config.agents = InstalledBuiltins(program_folder);
  if (!options.config_file.empty()) {
    if (absl::Status read = ReadConfigFile(options.config_file, &config); !read.ok()) return read;
  }
  if (!options.listen.empty()) config.listen = options.listen;
  if (!options.state_dir.empty()) config.state_dir = options.state_dir;
  if (absl::Status filled = FillDefaults(&config); !filled.ok()) return OneLine(filled);
  FindOwnPrograms(program_folder, &config.agents);
  if (absl::Status allowed = CheckListenAddresses(config.listen, config.allow_insecure);
      !allowed.ok())
    return OneLine(allowed);
  return config;
}

DefaultFolders FindDefaultFolders(uid_t uid, const char* xdg_state_home,
                                  const char* xdg_runtime_dir, const char* home) {
  if (uid == 0) return {"/var/lib/acpd", "/run/acpd"};
  DefaultFolders folders;
  if (IsAbsolute(xdg_state_home)) {
    folders.state_dir = Cat(xdg_state_home, "/acpd");
  } else if (IsAbsolute(home)) {
    folders.state_dir = Cat(home, "/.local/state/acpd");
  }
  folders.runtime_dir =
      IsAbsolute(xdg_runtime_dir) ? Cat(xdg_runtime_dir, "/acpd") : Cat("/tmp/acpd-", uid);
  return folders;
}

std::vector<session::AgentDefinition> InstalledBuiltins(const std::string& program_folder) {
  const char* path = getenv("PATH");
  std::vector<session::AgentDefinition> found;
  for (const session::BuiltinAgent& builtin : session::BuiltinAgents()) {
    const std::string command(builtin.command);
    if (OwnProgram(program_folder, command).empty() &&
        !session::CheckCommand(command, path == nullptr ? "" : path, "/").ok()) {
      continue;
    }
    found.push_back(session::MakeDefinition(builtin));
  }
  return found;
}

void FindOwnPrograms(const std::string& program_folder,
                     std::vector<session::AgentDefinition>* agents) {
  for (session::AgentDefinition& agent : *agents) {
    const std::string path = OwnProgram(program_folder, agent.command);
    if (!path.empty())
      agent.command = absl::StrReplaceAll(path, {{"$", "$$"}});  // it is a template
  }
}

}  // namespace acpd::server
