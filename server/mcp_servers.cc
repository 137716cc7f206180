#include "server/mcp_servers.h"

#include <map>
#include <set>

#include "acp/text.h"
#include "server/strings.h"

namespace acpd::server {
namespace {

using TextMap = google::protobuf::Map<std::string, std::string>;
using ServerKind = acp::McpServer::Kind;
using v1::McpServer;

constexpr int kMaxServers = 64;
constexpr size_t kMaxServer = 64u << 10;
constexpr size_t kShownTemplate = 100;
constexpr std::string_view kSecret = "${secret:";

// The first template that names no secret, or does not end; empty: there is none.
std::string_view ForeignTemplate(std::string_view text) {
  while (!text.empty()) {
    const size_t dollar = text.find('$');
    if (dollar == text.npos) break;
    text.remove_prefix(dollar);
    if (ConsumePrefix(&text, "$$")) continue;
    if (!text.starts_with("${")) {
      text.remove_prefix(1);
      continue;
    }
    const size_t end = text.find('}');
    if (end == text.npos) return text.substr(0, 2);
    if (!text.starts_with(kSecret) || end == kSecret.size()) return text.substr(0, end + 1);
    text.remove_prefix(end + 1);
  }
  return {};
}

// A text that stands in the daemon's config alone.
bool IsSecretName(std::string_view text) {
  return text.starts_with(kSecret) && text.find('}') == text.size() - 1;
}

void CheckValues(const std::string& field, const TextMap& values, Checks& checks) {
  checks.Map(field, values);
  for (const auto& [name, value] : values) {
    checks.Require(!name.empty(), "INVALID_REQUEST", Cat(field, " has an entry without a name."));
    const std::string_view foreign = ForeignTemplate(value);
    if (foreign.empty()) continue;
    checks.Require(false, "INVALID_REQUEST",
                   Cat(field, ".", ShownText(name, kShownTemplate), " has ",
                       ShownText(foreign, kShownTemplate),
                       "; only ${secret:NAME} of the daemon's config has a value here, and a "
                       "dollar sign is written $$."));
  }
}

void CheckStdio(const std::string& field, const v1::McpStdio& stdio, Checks& checks) {
  checks.Require(stdio.command().starts_with('/'), "INVALID_REQUEST",
                 Cat(field, ".command is no absolute path."));
  checks.Text(Cat(field, ".command"), stdio.command());
  for (const std::string& arg : stdio.args()) checks.Text(Cat(field, ".args"), arg);
  CheckValues(Cat(field, ".env"), stdio.env(), checks);
}

void CheckHttp(const std::string& field, const v1::McpHttp& http, Checks& checks) {
  const std::string& url = http.url();
  checks.Require(url.starts_with("http://") || url.starts_with("https://"), "INVALID_REQUEST",
                 Cat(field, ".url begins neither with http:// nor with https://."));
  checks.Text(Cat(field, ".url"), url);
  CheckValues(Cat(field, ".headers"), http.headers(), checks);
}

void CheckServer(const std::string& field, const McpServer& server, Checks& checks) {
  checks.Require(!server.name().empty(), "INVALID_REQUEST", Cat(field, ".name is empty."));
  checks.Text(Cat(field, ".name"), server.name());
  switch (server.transport_case()) {
    case McpServer::kStdio:
      CheckStdio(Cat(field, ".stdio"), server.stdio(), checks);
      break;
    case McpServer::kHttp:
      CheckHttp(Cat(field, ".http"), server.http(), checks);
      break;
    case McpServer::kSse:
      CheckHttp(Cat(field, ".sse"), server.sse(), checks);
      break;
    case McpServer::TRANSPORT_NOT_SET:
      checks.Require(false, "INVALID_REQUEST",
                     Cat(field, " has no transport; set stdio, http or sse."));
  }
  checks.Size(field, server.ByteSizeLong(), kMaxServer);
}

acp::McpServer::Pairs PairsFrom(const TextMap& texts) {
  const std::map<std::string, std::string> sorted(texts.begin(), texts.end());
  return {sorted.begin(), sorted.end()};
}

acp::McpServer HttpFrom(ServerKind kind, const v1::McpHttp& from) {
  acp::McpServer server;
  server.kind = kind;
  server.url = from.url();
  server.headers = PairsFrom(from.headers());
  return server;
}

acp::McpServer StdioFrom(const v1::McpStdio& from) {
  acp::McpServer server;
  server.kind = ServerKind::kStdio;
  server.command = from.command();
  server.args = {from.args().begin(), from.args().end()};
  server.env = PairsFrom(from.env());
  return server;
}

acp::McpServer ServerFrom(const McpServer& from) {
  if (from.has_http()) return HttpFrom(ServerKind::kHttp, from.http());
  if (from.has_sse()) return HttpFrom(ServerKind::kSse, from.sse());
  return StdioFrom(from.stdio());
}

bool HideTexts(TextMap* texts) {
  bool hidden = false;
  for (auto& [name, value] : *texts) {
    if (value.empty() || IsSecretName(value)) continue;
    value.clear();
    hidden = true;
  }
  return hidden;
}

}  // namespace

void CheckMcpServers(const McpServers& servers, Checks& checks) {
  checks.Count("mcp_servers", servers.size(), kMaxServers);
  std::set<std::string> names;
  for (int i = 0; i < servers.size() && checks.status().ok(); ++i) {
    const std::string field = Cat("mcp_servers[", i, "]");
    CheckServer(field, servers[i], checks);
    checks.Require(names.insert(servers[i].name()).second, "INVALID_REQUEST",
                   Cat(field, ".name is that of another server too."));
  }
}

std::vector<acp::McpServer> McpServersFrom(const McpServers& servers) {
  std::vector<acp::McpServer> list;
  for (const McpServer& server : servers) {
    list.push_back(ServerFrom(server));
    list.back().name = server.name();
  }
  return list;
}

bool HideValues(McpServers* servers) {
  bool hidden = false;
  for (McpServer& server : *servers) {
    if (server.has_stdio()) hidden |= HideTexts(server.mutable_stdio()->mutable_env());
    if (server.has_http()) hidden |= HideTexts(server.mutable_http()->mutable_headers());
    if (server.has_sse()) hidden |= HideTexts(server.mutable_sse()->mutable_headers());
  }
  return hidden;
}

}  // namespace acpd::server
