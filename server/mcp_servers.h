#ifndef ACPD_SERVER_MCP_SERVERS_H_
#define ACPD_SERVER_MCP_SERVERS_H_

#include <string_view>
#include <vector>

#include "acp/setup.h"
#include "acpd/v1/session_service.pb.h"
#include "server/request_checks.h"

// ChatRequest.mcp_servers: the servers of tools that a session's agent is given. Pure functions.
namespace acpd::server {

using McpServers = google::protobuf::RepeatedPtrField<v1::McpServer>;

void CheckMcpServers(const McpServers& servers, Checks& checks);
// Env and headers by their names, so that equal requests make equal lists.
std::vector<acp::McpServer> McpServersFrom(const McpServers& servers);

// Takes the values of env and headers away, but for those that are nothing but a `${secret:NAME}`;
// names stay. False: there were none.
bool HideValues(McpServers* servers);

}  // namespace acpd::server

#endif  // ACPD_SERVER_MCP_SERVERS_H_
