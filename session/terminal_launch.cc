#include "session/terminal_launch.h"

#include <string.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "acp/text.h"
#include "session/paths.h"

namespace acpd::session {
namespace {

constexpr size_t kMaxShownCommand = 4096;
constexpr size_t kMaxShownFolder = 1024;
constexpr std::string_view kWhitespace = " \t\n";
// What the worker finds its processes by.
constexpr std::string_view kWorkerMark = "ACPD_WORKER_ID";

absl::Status Invalid(const std::string& why) { return absl::InvalidArgumentError(why); }

// Whether real path `path` is the real path of `root` or lies below it.
bool LiesWithin(const std::filesystem::path& path, const std::string& root) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(root, error);
  if (error) return false;
  const auto [in_root, in_path] = std::mismatch(real.begin(), real.end(), path.begin(), path.end());
  return in_root == real.end();
}

absl::Status CheckFolder(const std::string& cwd, const std::vector<std::string>& roots) {
  const std::string shown = ShownText(cwd, kMaxShownFolder);
  if (!cwd.starts_with('/')) {
    return Invalid("cwd " + shown + " is relative; give an absolute path.");
  }
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(cwd, error);
  const bool inside =
      !error && std::any_of(roots.begin(), roots.end(),
                            [&](const std::string& root) { return LiesWithin(real, root); });
  if (!error && !inside) {
    return Invalid("cwd " + shown +
                   " lies outside of the session's folders; name its cwd, one of its additional "
                   "directories, or a folder below them.");
  }
  if (error || !std::filesystem::is_directory(real, error)) {
    return Invalid("cwd " + shown + " is no folder (" +
                   (error ? error.message() : "Not a directory") + "); make it first.");
  }
  return absl::OkStatus();
}

std::vector<std::pair<std::string, std::string>> MergedEnv(
    std::vector<std::pair<std::string, std::string>> env,
    const std::vector<std::pair<std::string, std::string>>& added) {
  for (const auto& [name, value] : added) {
    if (name == kWorkerMark) continue;
    std::erase_if(env, [&](const auto& pair) { return pair.first == name; });
    env.emplace_back(name, value);
  }
  return env;
}

std::string QuotedWord(const std::string& word) {
  if (!word.empty() && word.find_first_of(kWhitespace) == std::string::npos) return word;
  return "'" + word + "'";
}

}  // namespace

absl::StatusOr<acp::TerminalSpec> PlanTerminal(const acp::CreateTerminalRequest& request,
                                               const TerminalRules& rules) {
  if (request.command.empty()) return Invalid("`command` is empty; name a program.");
  acp::TerminalSpec spec;
  spec.cwd = !request.cwd.empty() || rules.roots.empty() ? request.cwd : rules.roots.front();
  if (absl::Status status = CheckFolder(spec.cwd, rules.roots); !status.ok()) return status;
  spec.env = MergedEnv(rules.env, request.env);
  std::string path;
  for (const auto& [name, value] : spec.env) {
    if (name == "PATH") path = value;
  }
  const bool line = request.args.empty() &&
                    request.command.find_first_of(kWhitespace) != std::string::npos &&
                    !CheckCommand(request.command, path, spec.cwd).ok();
  if (line) {
    spec.argv = {"/bin/sh", "-c", request.command};
    return spec;
  }
  spec.argv = {request.command};
  spec.argv.insert(spec.argv.end(), request.args.begin(), request.args.end());
  return spec;
}

std::string ShownCommand(const acp::CreateTerminalRequest& request) {
  std::string shown = request.command;
  for (const std::string& arg : request.args) {
    if (shown.size() > kMaxShownCommand) break;
    shown += " " + QuotedWord(arg);
  }
  return RepairText(CutText(shown, kMaxShownCommand));
}

std::string SignalName(int number) {
  const char* name = ::sigabbrev_np(number);
  return "SIG" + (name != nullptr ? std::string(name) : std::to_string(number));
}

}  // namespace acpd::session
