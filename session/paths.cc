#include "session/paths.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>

#include "acp/text.h"
#include "session/errors.h"
#include "session/names.h"

namespace acpd::session {
namespace {

constexpr mode_t kPrivate = 0700;

struct FreeText {
  void operator()(char* text) const { std::free(text); }
};

// nullopt with errno set: it does not exist or cannot be reached.
std::optional<std::string> RealPath(const std::string& path) {
  const std::unique_ptr<char, FreeText> real(::realpath(path.c_str(), nullptr));
  if (!real) return std::nullopt;
  return std::string(real.get());
}

// The real path of a configured root, which need not exist yet: then that of what exists of it.
std::string RealRoot(const std::string& root) {
  std::error_code error;
  std::string path = std::filesystem::weakly_canonical(root, error).string();
  if (error) path = std::filesystem::path(root).lexically_normal().string();
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

bool IsFolder(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

// Whether real path `path` is `root` or lies below it; /a/bc does not lie below /a/b.
bool IsWithin(std::string_view path, std::string_view root) {
  if (root == "/") return true;
  return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

bool IsBelow(std::string_view path, std::string_view root) {
  return path != root && IsWithin(path, root);
}

// Below projects_root everything is some project's folder, unless an allowed root that lies deeper
// says otherwise: a root that holds projects_root itself opens no other project.
bool IsAllowed(const CwdRules& rules, const std::string& real) {
  const std::string projects = RealRoot(rules.projects_root);
  const std::string own = (projects == "/" ? "" : projects) + "/" + rules.project_id;
  if (IsWithin(real, own)) return true;
  const bool others = IsBelow(real, projects);
  return std::any_of(rules.allowed_roots.begin(), rules.allowed_roots.end(),
                     [&](const std::string& allowed) {
                       const std::string root = RealRoot(allowed);
                       return IsWithin(real, root) && (!others || IsBelow(root, projects));
                     });
}

// Makes `path` and what is missing above it. 0, or the errno.
int MakeFolders(const std::string& path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (::mkdir(part.c_str(), kPrivate) != 0 && errno != EEXIST) {
      // A folder above that we may not write to is fine as long as it is there.
      const int error = errno;
      if (!IsFolder(part)) return error;
    }
    if (end == std::string::npos) return 0;
  }
}

absl::Status NotFound(const std::string& cwd, int error) {
  return MakeError("CWD_NOT_FOUND", "The folder " + cwd + " cannot be used: " +
                                        std::generic_category().message(error) +
                                        "; make it on the daemon's host or name another cwd.");
}

absl::Status NotAllowed(const std::string& cwd, std::string_view why) {
  return MakeError("CWD_NOT_ALLOWED", "cwd " + cwd + " is not allowed: " + std::string(why) + ".");
}

absl::Status CheckFolder(const CwdRules& rules, const std::string& cwd) {
  const auto real = RealPath(cwd);
  if (!real) return NotFound(cwd, errno);
  if (!IsFolder(*real)) return NotFound(cwd, ENOTDIR);
  if (!IsAllowed(rules, *real)) {
    return NotAllowed(cwd, "its real path " + RepairText(*real) +
                               " lies neither in the project's own folder "
                               "nor below one of the config's allowed_roots, or belongs to another "
                               "project");
  }
  return absl::OkStatus();
}

enum class Runnable { kYes, kNoSuchFile, kNotExecutable };

Runnable CheckFile(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return Runnable::kNoSuchFile;
  if (!S_ISREG(info.st_mode)) return Runnable::kNotExecutable;
  return ::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0 ? Runnable::kYes
                                                                    : Runnable::kNotExecutable;
}

// As exec does it: an empty element is the current folder, a file that cannot be run does not end
// the search.
Runnable SearchPath(const std::string& command, std::string_view path_variable,
                    const std::string& cwd) {
  Runnable found = Runnable::kNoSuchFile;
  while (true) {
    const size_t end = std::min(path_variable.find(':'), path_variable.size());
    const std::filesystem::path folder = std::filesystem::path(cwd) / path_variable.substr(0, end);
    const Runnable here = CheckFile((folder / command).string());
    if (here == Runnable::kYes) return here;
    if (here == Runnable::kNotExecutable) found = here;
    if (end == path_variable.size()) return found;
    path_variable.remove_prefix(end + 1);
  }
}

}  // namespace

absl::StatusOr<std::string> CheckCwd(const CwdRules& rules, const std::string& cwd) {
  if (!IsProjectId(rules.project_id)) {
    return MakeError("INVALID_PROJECT_ID",
                     "A project_id is 1 to 128 letters, digits, dots, underscores and dashes and "
                     "begins with a letter or digit.");
  }
  if (cwd.empty()) {
    std::string own = rules.projects_root;
    if (!own.ends_with('/')) own += '/';
    own += rules.project_id;
    if (const int error = MakeFolders(own); error != 0) return NotFound(own, error);
    const absl::Status status = CheckFolder(rules, own);
    if (!status.ok()) return status;
    return own;
  }
  if (cwd[0] != '/') return NotAllowed(cwd, "it is relative; give an absolute path");
  if (cwd.find('\0') != std::string::npos) {
    return NotAllowed("of this request", "it holds a NUL byte");
  }
  const absl::Status status = CheckFolder(rules, cwd);
  if (!status.ok()) return status;
  return cwd;
}

bool SameFolder(const std::string& a, const std::string& b) {
  const auto real_a = RealPath(a);
  const auto real_b = RealPath(b);
  return real_a && real_b && *real_a == *real_b && IsFolder(*real_a);
}

absl::Status CheckCommand(const std::string& command, const std::string& path_variable,
                          const std::string& cwd) {
  Runnable found = Runnable::kNoSuchFile;
  if (command.find('/') != std::string::npos) {
    found = CheckFile((std::filesystem::path(cwd) / command).string());
  } else if (!command.empty()) {
    found = SearchPath(command, path_variable.empty() ? kDefaultPath : path_variable, cwd);
  }
  switch (found) {
    case Runnable::kYes:
      break;
    case Runnable::kNoSuchFile:
      return MakeError("AGENT_START_FAILED",
                       "There is no such command: \"" + command +
                           "\"; install the agent or correct its command in agent_servers.");
    case Runnable::kNotExecutable:
      return MakeError("AGENT_START_FAILED",
                       "The command \"" + command +
                           "\" is not executable; correct its permissions or name the program.");
  }
  return absl::OkStatus();
}

}  // namespace acpd::session
