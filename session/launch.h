#ifndef ACPD_SESSION_LAUNCH_H_
#define ACPD_SESSION_LAUNCH_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "acp/link_frames.h"
#include "session/config.h"
#include "session/types.h"

namespace acpd::session {

// What the templates of an agent's command, args and env may name. ${env:NAME} and ${file:PATH} are
// replaced when the config is read; ${secret:NAME}, ${model.api_key}, ${model.base_url},
// ${model.model}, ${model.provider}, ${model.options.NAME}, ${project_id} and ${cwd} here, at each
// start.
struct LaunchContext {
  std::string project_id, cwd;
  ModelProvider model;
  SetupSettings setup;  // of the session; for the fingerprint only
  const std::map<std::string, std::string>* secrets = nullptr;
  std::vector<std::pair<std::string, std::string>>
      daemon_env;  // of which the allow-list and inherit_env are taken
};

// Replaces every ${...}; `$$` is a dollar. nullopt when a named value does not exist (or is empty).
std::optional<std::string> ExpandTemplate(const std::string& text, const LaunchContext& context);
// Checks the syntax and the names of a template, without values: INVALID_ARGUMENT names the unknown
// one.
absl::Status CheckTemplate(const std::string& text);

// The launch spec of an agent: argv, the whole environment (a short allow-list: PATH, HOME, USER,
// SHELL, LANG, LC_*, TZ, TERM, TMPDIR, XDG_*, proxies, certificates; then inherit_env; then env,
// whose entries without a value are left out; ACPD_WORKER_ID last). An arg without a value is
// INVALID_REQUEST; api_key_ref that is not in `secrets` is CREDENTIALS_NEEDED.
absl::StatusOr<acp::LaunchSpec> BuildLaunchSpec(const AgentDefinition& agent,
                                                const LaunchContext& context,
                                                const std::string& worker_id);

// What of a launch makes another worker necessary when it changes: command, args and env as
// configured, model provider with its key, cwd, what the session is set up with. HMAC under the
// store's key.
std::string LaunchFingerprint(const AgentDefinition& agent, const LaunchContext& context,
                              const std::string& key);

// The current process's environment, as pairs.
std::vector<std::pair<std::string, std::string>> DaemonEnvironment();

}  // namespace acpd::session

#endif  // ACPD_SESSION_LAUNCH_H_
