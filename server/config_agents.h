#ifndef ACPD_SERVER_CONFIG_AGENTS_H_
#define ACPD_SERVER_CONFIG_AGENTS_H_

#include <string>

#include "absl/status/status.h"
#include "server/daemon_config.h"
#include "server/json_position.h"

// The `agent_servers` of the config file. Rows of the tables in server/config_keys.cc.
namespace acpd::server {

absl::Status ReadAgents(const JsonNode& node, const std::string& path, DaemonConfig* out);

absl::Status ReadAgentEnv(const JsonNode& node, const std::string& path,
                          session::AgentDefinition* out);
absl::Status ReadInheritEnv(const JsonNode& node, const std::string& path,
                            session::AgentDefinition* out);
absl::Status ReadExtends(const JsonNode& node, const std::string& path,
                         session::AgentDefinition* out);
absl::Status ReadResume(const JsonNode& node, const std::string& path,
                        session::AgentDefinition* out);
absl::Status ReadPermissionMode(const JsonNode& node, const std::string& path,
                                session::AgentDefinition* out);

}  // namespace acpd::server

#endif  // ACPD_SERVER_CONFIG_AGENTS_H_
