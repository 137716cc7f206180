#include "session/setup_settings.h"

#include <algorithm>
#include <string>
#include <utility>

#include "session/errors.h"

namespace acpd::session {
namespace {

using Pairs = acp::McpServer::Pairs;

bool IsSecretName(std::string_view value) {
  constexpr std::string_view kBegin = "${secret:";
  return value.starts_with(kBegin) && value.find('}') == value.size() - 1;
}

bool HoldsSecrets(const Pairs& pairs) {
  return std::any_of(pairs.begin(), pairs.end(), [](const auto& pair) {
    return !pair.second.empty() && !IsSecretName(pair.second);
  });
}

// What stands in the store in the place of a value that does not. No JSON, and no text that anybody
// would send.
constexpr std::string_view kNotStored =
    "\x1f"
    "acpd: not stored";

void MarkSecrets(Pairs& pairs) {
  for (auto& [name, value] : pairs) {
    if (!value.empty() && !IsSecretName(value)) value = kNotStored;
  }
}

bool HasMark(const Pairs& pairs) {
  return std::any_of(pairs.begin(), pairs.end(),
                     [](const auto& pair) { return pair.second == kNotStored; });
}

// The first `${secret:NAME}` in a value that has none. The value itself is a secret, too: it stands
// in no sentence.
std::string MissingIn(std::string_view value, const LaunchContext& context) {
  for (size_t at = value.find('$'); at < value.size(); at = value.find('$', at)) {
    const size_t end = value.find('}', at);
    if (!value.substr(at).starts_with("${") || end == value.npos) {
      at += 2;  // a dollar sign, written twice
      continue;
    }
    const std::string name(value.substr(at, end + 1 - at));
    if (!ExpandTemplate(name, context)) return name;
    at = end + 1;
  }
  return "a value";
}

absl::Status ExpandPairs(const std::string& server, const LaunchContext& context, Pairs& pairs) {
  for (auto& [name, value] : pairs) {
    std::optional<std::string> expanded = ExpandTemplate(value, context);
    // An empty value is one, too.
    if (!expanded && !value.empty()) {
      return MakeError("CREDENTIALS_NEEDED", "The MCP server \"" + server + "\" wants " +
                                                 MissingIn(value, context) + " for " + name +
                                                 ", which the config's `secrets` do not have; add "
                                                 "it there.");
    }
    value = std::move(expanded).value_or("");
  }
  return absl::OkStatus();
}

}  // namespace

void TakeSettings(const ChatRequest& request, SetupSettings& settings) {
  if (request.mcp_servers) settings.mcp_servers = *request.mcp_servers;
  if (request.system_prompt) settings.system_prompt = *request.system_prompt;
  if (request.meta_json) settings.meta_json = *request.meta_json;
  if (request.additional_directories)
    settings.additional_directories = *request.additional_directories;
}

bool ChangesSettings(const ChatRequest& request, const SetupSettings& settings) {
  SetupSettings changed = settings;
  TakeSettings(request, changed);
  return changed != settings;
}

absl::StatusOr<SetupSettings> ExpandSettings(const SetupSettings& settings,
                                             const LaunchContext& context) {
  SetupSettings expanded = settings;
  for (acp::McpServer& server : expanded.mcp_servers) {
    absl::Status status = ExpandPairs(server.name, context, server.env);
    if (status.ok()) status = ExpandPairs(server.name, context, server.headers);
    if (!status.ok()) return status;
  }
  return expanded;
}

bool HoldsSecrets(const SetupSettings& settings) {
  const auto& servers = settings.mcp_servers;
  return !settings.meta_json.empty() ||
         std::any_of(servers.begin(), servers.end(), [](const acp::McpServer& server) {
           return HoldsSecrets(server.env) || HoldsSecrets(server.headers);
         });
}

SetupSettings WithoutSecrets(const SetupSettings& settings) {
  SetupSettings marked = settings;
  if (!marked.meta_json.empty()) marked.meta_json = kNotStored;
  for (acp::McpServer& server : marked.mcp_servers) {
    MarkSecrets(server.env);
    MarkSecrets(server.headers);
  }
  return marked;
}

bool LacksSecrets(const SetupSettings& settings) {
  const auto& servers = settings.mcp_servers;
  return settings.meta_json == kNotStored ||
         std::any_of(servers.begin(), servers.end(), [](const acp::McpServer& server) {
           return HasMark(server.env) || HasMark(server.headers);
         });
}

std::vector<std::string> SecretsIn(const SetupSettings& settings) {
  std::vector<std::string> secrets;
  for (const acp::McpServer& server : settings.mcp_servers) {
    for (const Pairs* pairs : {&server.env, &server.headers}) {
      for (const auto& [name, value] : *pairs) {
        if (!IsSecretName(value)) secrets.push_back(value);
      }
    }
  }
  return secrets;
}

absl::Status CheckSupported(const SetupSettings& settings, const acp::InitializeResult& agent) {
  for (const acp::McpServer& server : settings.mcp_servers) {
    const std::string_view missing = acp::MissingCapability(server.kind, agent.mcp);
    if (missing.empty()) continue;
    return MakeError("NOT_SUPPORTED_BY_AGENT",
                     "The agent cannot use the MCP server \"" + server.name + "\": it lacks " +
                         std::string(missing) + "; use a stdio server or another agent.");
  }
  if (settings.additional_directories.empty() || agent.additional_directories)
    return absl::OkStatus();
  return MakeError("NOT_SUPPORTED_BY_AGENT",
                   "The agent cannot have additional_directories: it lacks "
                   "sessionCapabilities.additionalDirectories; leave them out.");
}

absl::Status CheckContent(const std::vector<acp::ContentBlock>& blocks,
                          const acp::PromptCapabilities& capabilities) {
  for (size_t i = 0; i < blocks.size(); ++i) {
    const std::string_view missing = acp::MissingCapability(blocks[i].kind, capabilities);
    if (missing.empty()) continue;
    return MakeError("UNSUPPORTED_CONTENT", "The agent does not take content[" + std::to_string(i) +
                                                "] (" + std::string(acp::NameOf(blocks[i].kind)) +
                                                "): it lacks " + std::string(missing) +
                                                "; send text, or a link.");
  }
  return absl::OkStatus();
}

}  // namespace acpd::session
