#ifndef ACPD_ACP_AGENT_SESSIONS_H_
#define ACPD_ACP_AGENT_SESSIONS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "acp/content.h"

// The sessions that an agent itself knows (https://agentclientprotocol.com/protocol/session-list),
// and its logins. No threads.
namespace acpd::acp {

struct AgentSession {
  std::string session_id, cwd, title;
  std::string updated_at;  // ISO 8601 as the agent wrote it; empty: it does not say
};
struct AgentSessionPage {
  std::vector<AgentSession> sessions;  // entries that cannot be read are left out
  std::string next_cursor;             // opaque; empty: the last page
};

// Empty `cwd`, `cursor`: none.
std::string ListSessionsLine(uint64_t id, std::string_view cwd, std::string_view cursor,
                             const TraceContext& trace = {});
absl::StatusOr<AgentSessionPage> ReadSessionPage(std::string_view result_json);

// One of authMethods (https://agentclientprotocol.com/protocol/authentication).
struct AuthMethod {
  std::string id, name, description;
  std::string type;               // agent (where none is given), terminal, or the agent's own word
  std::vector<std::string> args;  // of type terminal: behind the agent's command
  std::vector<std::pair<std::string, std::string>> env;  // of type terminal
  std::vector<std::string> variables;                    // of type env_var: what has to be set
};
std::vector<AuthMethod> ReadAuthMethods(std::string_view auth_methods_json);
std::string LogoutLine(uint64_t id, const TraceContext& trace = {});

}  // namespace acpd::acp

#endif  // ACPD_ACP_AGENT_SESSIONS_H_
