#ifndef ACPD_SERVER_CONFIG_AGENT_OPTIONS_H_
#define ACPD_SERVER_CONFIG_AGENT_OPTIONS_H_

#include <string>

#include "absl/status/status.h"
#include "server/json_position.h"
#include "session/config.h"

// What an agent of `agent_servers` may do, logs in by and begins with. Rows of the tables in
// server/config_keys.cc.
namespace acpd::server {

absl::Status ReadCapabilities(const JsonNode& node, const std::string& path,
                              session::AgentDefinition* out);
absl::Status ReadAuthByVariable(const JsonNode& node, const std::string& path,
                                session::AgentDefinition* out);
absl::Status ReadConfigOptions(const JsonNode& node, const std::string& path,
                               session::AgentDefinition* out);
absl::Status ReadPermissionRules(const JsonNode& node, const std::string& path,
                                 session::AgentDefinition* out);

}  // namespace acpd::server

#endif  // ACPD_SERVER_CONFIG_AGENT_OPTIONS_H_
