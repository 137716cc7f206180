#ifndef ACPD_SESSION_SETUP_SETTINGS_H_
#define ACPD_SESSION_SETUP_SETTINGS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "acp/types.h"
#include "session/launch.h"
#include "session/types.h"

// What a session's set-up is given beside its folder: MCP servers, system prompt, `_meta`, further
// folders. Pure functions.
namespace acpd::session {

// Takes over what a Chat says of it; what it leaves unset stays.
void TakeSettings(const ChatRequest& request, SetupSettings& settings);
// Whether TakeSettings would change anything.
bool ChangesSettings(const ChatRequest& request, const SetupSettings& settings);

// With every `${secret:NAME}` in env and headers replaced. CREDENTIALS_NEEDED: the config has no
// such secret.
absl::StatusOr<SetupSettings> ExpandSettings(const SetupSettings& settings,
                                             const LaunchContext& context);

// Values that came with a request and would be read in the store: of env and headers those that are
// no mere `${secret:NAME}`, and `meta`.
bool HoldsSecrets(const SetupSettings& settings);
// With a mark in the place of each; and whether such a mark is left.
SetupSettings WithoutSecrets(const SetupSettings& settings);
bool LacksSecrets(const SetupSettings& settings);
// The secrets in env and headers, for who hides them.
std::vector<std::string> SecretsIn(const SetupSettings& settings);

// NOT_SUPPORTED_BY_AGENT, naming what the agent cannot have and the capability that it lacks.
absl::Status CheckSupported(const SetupSettings& settings, const acp::InitializeResult& agent);

// UNSUPPORTED_CONTENT, naming the first block that the agent does not take, and the capability.
absl::Status CheckContent(const std::vector<acp::ContentBlock>& blocks,
                          const acp::PromptCapabilities& capabilities);

}  // namespace acpd::session

#endif  // ACPD_SESSION_SETUP_SETTINGS_H_
