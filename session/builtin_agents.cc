#include "session/builtin_agents.h"

#include <algorithm>
#include <array>
#include <optional>

namespace acpd::session {
namespace {

using enum ResumeMethod;
using EnvTemplates = std::vector<std::pair<std::string_view, std::string_view>>;

const EnvTemplates& ClaudeEnv() {
  static const EnvTemplates env = {
      {"ANTHROPIC_API_KEY", "${model.api_key}"},
      {"ANTHROPIC_BASE_URL", "${model.base_url}"},
      {"ANTHROPIC_MODEL", "${model.model}"},
  };
  return env;
}

const std::vector<BuiltinAgent>& Table() {
  static const std::vector<BuiltinAgent> table = {
      {.name = "claude-code-acp",
       .command = "claude-code-acp",
       .args = {},
       .programs = {"claude-code-acp"},
       .resume = {kMeta, kSessionResume, kSessionLoad},
       .missing_patterns = {},
       .env = ClaudeEnv()},
      {.name = "claude-agent-acp",
       .command = "claude-agent-acp",
       .args = {},
       .programs = {"claude-agent-acp"},
       .resume = {kMeta, kSessionResume, kSessionLoad},
       .missing_patterns = {},
       .env = ClaudeEnv()},
      {.name = "codex-acp",
       .command = "codex-acp",
       .args = {},
       .programs = {"codex-acp"},
       .resume = {kSessionResume, kSessionLoad},
       .missing_patterns = {},
       .env = {{"OPENAI_API_KEY", "${model.api_key}"},
               {"CODEX_API_KEY", "${model.api_key}"},
               {"OPENAI_BASE_URL", "${model.base_url}"}},
       // The older program's methods, then the newer one's.
       .auth_by_variable = {{"CODEX_API_KEY", "codex-api-key"},
                            {"OPENAI_API_KEY", "openai-api-key"},
                            {"CODEX_API_KEY", "api-key"},
                            {"OPENAI_API_KEY", "api-key"}}},
      {.name = "gemini",
       .command = "gemini",
       .args = {"--acp"},
       .programs = {"gemini", "gemini-cli"},
       .resume = {kSessionLoad},
       .missing_patterns = {},
       .env = {{"GEMINI_API_KEY", "${model.api_key}"},
               {"GOOGLE_GEMINI_BASE_URL", "${model.base_url}"},
               {"GEMINI_MODEL", "${model.model}"}},
       .auth_by_variable = {{"GEMINI_API_KEY", "gemini-api-key"}},
       .loads_in_later_minute = true,
       // Whatever words acpd uses, its check for a file that is not there yet does not see them.
       .fs_read = false},
      // Which variable takes its key depends on the provider that its own config names, so none is
      // set here. What it says of a missing session is a weak sign that it also gives otherwise: no
      // pattern of its own.
      {.name = "opencode",
       .command = "opencode",
       .args = {"acp"},
       .programs = {"opencode", "opencode-ai"},
       .resume = {kSessionResume, kSessionLoad},
       .missing_patterns = {},
       .env = {}},
      {.name = "demo",
       .command = "acpd-demo-agent",
       .args = {},
       .programs = {"acpd-demo-agent"},
       .resume = {kSessionResume, kSessionLoad},
       .missing_patterns = {},
       .env = {}},
  };
  return table;
}

// How a starter's arguments name what it starts.
struct Starter {
  std::string_view name;
  bool is_package;  // it takes an npm package; else a script
};
constexpr std::array kStarters = {
    Starter{"npx", true},   Starter{"bunx", true}, Starter{"pnpx", true},
    Starter{"node", false}, Starter{"bun", false}, Starter{"deno", false},
};

// Options of the starters whose value is the next argument, and of these the ones that name the
// package.
constexpr std::array<std::string_view, 8> kValueOptions = {
    "-r", "--require", "--import", "--loader", "--env-file", "-p", "--package", "--registry"};
constexpr std::string_view kPackageOption = "--package";

// Folders in which packages keep their programs.
constexpr std::array<std::string_view, 7> kInnerFolders = {"dist", "bin", "bundle", "build",
                                                           "lib",  "out", "src"};

template <typename Range>
bool Has(const Range& range, std::string_view text) {
  return std::find(std::begin(range), std::end(range), text) != std::end(range);
}

const BuiltinAgent* FindProgram(std::string_view program) {
  for (const BuiltinAgent& agent : Table()) {
    if (Has(agent.programs, program)) return &agent;
  }
  return nullptr;
}

std::vector<std::string_view> SplitPath(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    if (end > 0) parts.push_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return parts;
}

std::string_view BaseName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// "node22" is node.
const Starter* FindStarter(std::string_view program) {
  const size_t end = program.find_last_not_of("0123456789.");
  const std::string_view stem = program.substr(0, end == std::string_view::npos ? 0 : end + 1);
  const auto found = std::find_if(kStarters.begin(), kStarters.end(),
                                  [stem](const Starter& starter) { return starter.name == stem; });
  return found == kStarters.end() ? nullptr : &*found;
}

// "@scope/name@1.2" is name.
const BuiltinAgent* FindPackage(std::string_view package) {
  if (package.starts_with('@')) {
    const size_t slash = package.find('/');
    if (slash == std::string_view::npos) return nullptr;
    package.remove_prefix(slash + 1);
  }
  return FindProgram(package.substr(0, package.find('@')));
}

// By the script's own name without its ending, else by the folder of its package.
const BuiltinAgent* FindScript(std::string_view path) {
  std::vector<std::string_view> parts = SplitPath(path);
  if (parts.empty()) return nullptr;
  const std::string_view file = parts.back();
  if (const auto* agent = FindProgram(file.substr(0, file.rfind('.')))) return agent;
  parts.pop_back();
  while (!parts.empty() && Has(kInnerFolders, parts.back())) parts.pop_back();
  return parts.empty() ? nullptr : FindProgram(parts.back());
}

// The package that an option names, else the first argument that is no option (nor `run`, deno's
// and bun's word).
std::string_view StartedBy(const Starter& starter, const std::vector<std::string>& args) {
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string_view arg = args[i];
    const bool names_package = starter.is_package && (arg == "-p" || arg == kPackageOption);
    if (names_package && i + 1 < args.size()) return args[i + 1];
    if (starter.is_package && arg.starts_with("--package=")) {
      return arg.substr(kPackageOption.size() + 1);
    }
    if (Has(kValueOptions, arg)) {
      ++i;
    } else if (!arg.starts_with('-') && arg != "run") {
      return arg;
    }
  }
  return {};
}

}  // namespace

std::span<const BuiltinAgent> BuiltinAgents() { return Table(); }

const BuiltinAgent* FindBuiltin(std::string_view name) {
  for (const BuiltinAgent& agent : Table()) {
    if (agent.name == name) return &agent;
  }
  return FindProgram(name);
}

const BuiltinAgent* BuiltinForCommand(const std::string& command,
                                      const std::vector<std::string>& args) {
  const std::string_view program = BaseName(command);
  if (const auto* agent = FindProgram(program)) return agent;
  const Starter* starter = FindStarter(program);
  if (starter == nullptr) return nullptr;
  const std::string_view started = StartedBy(*starter, args);
  return starter->is_package ? FindPackage(started) : FindScript(started);
}

AgentDefinition MakeDefinition(const BuiltinAgent& builtin) {
  AgentDefinition agent;
  agent.name = builtin.name;
  agent.command = builtin.command;
  agent.args.assign(builtin.args.begin(), builtin.args.end());
  agent.env.assign(builtin.env.begin(), builtin.env.end());
  agent.builtin = builtin.name;
  agent.resume = builtin.resume;
  agent.resume_missing_patterns.assign(builtin.missing_patterns.begin(),
                                       builtin.missing_patterns.end());
  for (const auto& [variable, method] : builtin.auth_by_variable)
    agent.auth_by_variable.emplace_back(variable, method);
  agent.loads_in_later_minute = builtin.loads_in_later_minute;
  agent.capabilities.fs_read = builtin.fs_read;
  return agent;
}

std::vector<ResumeMethod> DefaultResumeOrder() { return {kSessionResume, kSessionLoad}; }

}  // namespace acpd::session
