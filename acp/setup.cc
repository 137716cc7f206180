#include "acp/setup.h"

#include "acp/lines.h"
#include "acp/setup_meta.h"

namespace acpd::acp {
namespace {

LineJson CapabilitiesJson(const ClientCapabilities& client) {
  const LineJson on = LineJson::object();  // how ACP marks a capability that is no bool
  LineJson json = {
      {"fs", {{"readTextFile", client.read_text_file}, {"writeTextFile", client.write_text_file}}},
      {"terminal", client.terminal}};
  if (client.boolean_options) json["session"]["configOptions"]["boolean"] = on;
  if (client.notices) json["session"]["notices"] = on;
  if (client.compaction) json["session"]["compaction"] = on;
  if (client.auth_terminal) json["auth"]["terminal"] = true;
  if (client.elicitation_form) json["elicitation"]["form"] = on;
  if (client.elicitation_url) json["elicitation"]["url"] = on;
  // What auth.terminal was before it was part of ACP.
  if (client.auth_terminal) json["_meta"]["terminal-auth"] = true;
  return json;
}

// v1 requires the lists, also when they are empty.
LineJson ServerJson(const McpServer& server) {
  if (server.kind == McpServer::Kind::kStdio) {
    return {{"name", server.name},
            {"command", server.command},
            {"args", server.args},
            {"env", NamesAndValues(server.env)}};
  }
  return {{"type", server.kind == McpServer::Kind::kHttp ? "http" : "sse"},
          {"name", server.name},
          {"url", server.url},
          {"headers", NamesAndValues(server.headers)}};
}

void AddSetup(const SessionSetup& setup, LineJson& params) {
  params["cwd"] = setup.cwd;
  LineJson& servers = params["mcpServers"] = LineJson::array();
  for (const McpServer& server : setup.mcp_servers) servers.push_back(ServerJson(server));
  if (!setup.additional_directories.empty()) {
    params["additionalDirectories"] = setup.additional_directories;
  }
}

std::string ReopenLine(uint64_t id, std::string_view method, std::string_view session_id,
                       const SessionSetup& setup) {
  LineJson params = {{"sessionId", session_id}};
  AddSetup(setup, params);
  SetMeta(SetupMeta(setup), params);
  return RequestLine(id, method, std::move(params));
}

}  // namespace

std::string_view MissingCapability(McpServer::Kind kind, const McpCapabilities& capabilities) {
  switch (kind) {
    case McpServer::Kind::kStdio:
      return "";
    case McpServer::Kind::kHttp:
      return capabilities.http ? "" : "mcpCapabilities.http";
    case McpServer::Kind::kSse:
      return capabilities.sse ? "" : "mcpCapabilities.sse";
  }
  return "";
}

std::string InitializeLine(uint64_t id, std::string_view version,
                           const ClientCapabilities& client) {
  // Exactly 1: some agents answer a higher version with the draft of the next protocol.
  return RequestLine(id, "initialize",
                     {{"protocolVersion", 1},
                      {"clientCapabilities", CapabilitiesJson(client)},
                      {"clientInfo", {{"name", "acpd"}, {"title", "acpd"}, {"version", version}}}});
}

std::string NewSessionLine(uint64_t id, const SessionSetup& setup) {
  LineJson params = LineJson::object();
  AddSetup(setup, params);
  SetMeta(NewSessionMeta(setup), params);
  return RequestLine(id, "session/new", std::move(params));
}

std::string LoadSessionLine(uint64_t id, std::string_view session_id, const SessionSetup& setup) {
  return ReopenLine(id, "session/load", session_id, setup);
}

std::string ResumeSessionLine(uint64_t id, std::string_view session_id, const SessionSetup& setup) {
  return ReopenLine(id, "session/resume", session_id, setup);
}

std::string ForkSessionLine(uint64_t id, std::string_view session_id, const SessionSetup& setup) {
  return ReopenLine(id, "session/fork", session_id, setup);
}

}  // namespace acpd::acp
