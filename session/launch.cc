#include "session/launch.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "session/errors.h"
#include "session/names.h"
#include "session/pack.h"
#include "session/paths.h"
#include "session/setting_packs.h"
#include "session/setup_settings.h"

namespace acpd::session {
namespace {

using Environment = std::vector<std::pair<std::string, std::string>>;

// What agents get of the daemon's environment, so that its own secrets do not leak into them. A `*`
// at the end: any name that begins so.
constexpr std::string_view kAllowed[] = {
    "PATH",
    "HOME",
    "USER",
    "SHELL",
    "LANG",
    "LC_*",
    "TZ",
    "TERM",
    "TMPDIR",
    "XDG_*",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
};

bool Matches(std::string_view name, std::string_view pattern) {
  if (!pattern.ends_with('*')) return name == pattern;
  pattern.remove_suffix(1);
  return name.starts_with(pattern);
}

bool IsInherited(std::string_view name, const std::vector<std::string>& inherit_env) {
  const auto matches = [name](std::string_view pattern) { return Matches(name, pattern); };
  return std::any_of(std::begin(kAllowed), std::end(kAllowed), matches) ||
         std::any_of(inherit_env.begin(), inherit_env.end(), matches);
}

void Set(Environment& env, const std::string& name, std::string value) {
  const auto found = std::find_if(env.begin(), env.end(),
                                  [&name](const auto& pair) { return pair.first == name; });
  if (found == env.end()) {
    env.emplace_back(name, std::move(value));
  } else {
    found->second = std::move(value);
  }
}

// The value that an API field cannot carry into an agent: it would be cut there.
bool HasNul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

absl::Status NulError(const std::string& where) {
  return MakeError("INVALID_REQUEST", where + " holds a NUL byte, which no process can be given.");
}

std::string SecretOf(const LaunchContext& context, const std::string& name) {
  if (context.secrets == nullptr) return {};
  const auto found = context.secrets->find(name);
  return found == context.secrets->end() ? std::string() : found->second;
}

// The context with the key that api_key_ref names. A key that came with the request goes before it.
absl::StatusOr<LaunchContext> WithKey(const LaunchContext& context) {
  LaunchContext out = context;
  const std::string& ref = context.model.api_key_ref;
  if (ref.empty() || !context.model.api_key.empty()) return out;
  out.model.api_key = SecretOf(context, ref);
  if (!out.model.api_key.empty()) return out;
  return MakeError("CREDENTIALS_NEEDED",
                   "The config's `secrets` have no entry \"" + ref +
                       "\" as api_key_ref asks for; add it there or send api_key.");
}

absl::StatusOr<std::vector<std::string>> BuildArgv(const AgentDefinition& agent,
                                                   const LaunchContext& context) {
  std::vector<std::string> templates = {agent.command};
  templates.insert(templates.end(), agent.args.begin(), agent.args.end());
  std::vector<std::string> argv;
  for (const std::string& text : templates) {
    auto expanded = ExpandTemplate(text, context);
    if (!expanded) {
      return MakeError("INVALID_REQUEST", "The command of agent \"" + agent.name + "\" holds \"" +
                                              text +
                                              "\", for which this request has no value; "
                                              "set it in model_provider or change agent_servers.");
    }
    if (HasNul(*expanded)) return NulError("\"" + text + "\" of agent \"" + agent.name + "\"");
    argv.push_back(std::move(*expanded));
  }
  return argv;
}

absl::StatusOr<Environment> BuildEnvironment(const AgentDefinition& agent,
                                             const LaunchContext& context) {
  Environment env;
  for (const auto& [name, value] : context.daemon_env) {
    if (IsInherited(name, agent.inherit_env)) Set(env, name, value);
  }
  const auto has_path = [](const auto& pair) {
    return pair.first == "PATH" && !pair.second.empty();
  };
  if (std::none_of(env.begin(), env.end(), has_path)) Set(env, "PATH", std::string(kDefaultPath));
  for (const auto& [name, text] : agent.env) {
    auto value = ExpandTemplate(text, context);
    if (!value) continue;  // an empty key breaks logins that would work without one
    if (HasNul(*value))
      return NulError("The variable " + name + " of agent \"" + agent.name + "\"");
    Set(env, name, std::move(*value));
  }
  return env;
}

void AppendModel(const ModelProvider& model, std::vector<std::string>& parts) {
  parts.insert(parts.end(), {model.provider, model.model, model.base_url, model.api_key_ref,
                             model.api_key, PackMap(model.options)});
}

}  // namespace

absl::StatusOr<acp::LaunchSpec> BuildLaunchSpec(const AgentDefinition& agent,
                                                const LaunchContext& context,
                                                const std::string& worker_id) {
  const auto with_key = WithKey(context);
  if (!with_key.ok()) return with_key.status();
  auto argv = BuildArgv(agent, *with_key);
  if (!argv.ok()) return argv.status();
  auto env = BuildEnvironment(agent, *with_key);
  if (!env.ok()) return env.status();
  Set(*env, "ACPD_WORKER_ID", worker_id);
  acp::LaunchSpec spec;
  spec.worker_id = worker_id;
  spec.argv = std::move(*argv);
  spec.env = std::move(*env);
  spec.cwd = context.cwd;
  return spec;
}

std::string LaunchFingerprint(const AgentDefinition& agent, const LaunchContext& context,
                              const std::string& key) {
  std::vector<std::string> env;
  for (const auto& [name, text] : agent.env) env.insert(env.end(), {name, text});
  std::vector<std::string> parts = {agent.command, Pack(agent.args), Pack(env),
                                    Pack(agent.inherit_env), context.cwd};
  // A secret that was changed under the same name is another key. One that is missing is
  // BuildLaunchSpec's to refuse.
  const auto with_key = WithKey(context);
  AppendModel(with_key.ok() ? with_key->model : context.model, parts);
  const auto expanded = ExpandSettings(context.setup, context);
  parts.push_back(PackSetup(expanded.ok() ? *expanded : context.setup));
  return Fingerprint(key, Pack(parts));
}

Environment DaemonEnvironment() {
  Environment env;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    env.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return env;
}

}  // namespace acpd::session
