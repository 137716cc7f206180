#include <gtest/gtest.h>

#include <functional>

#include "server/mcp_servers.h"
#include "session/errors.h"

namespace acpd::server {
namespace {

constexpr size_t kMcpKiB = 1u << 10;

v1::McpServer Stdio() {
  v1::McpServer server;
  server.set_name("files");
  server.mutable_stdio()->set_command("/usr/bin/files");
  return server;
}
v1::McpServer Http() {
  v1::McpServer server;
  server.set_name("web");
  server.mutable_http()->set_url("https://example.org/mcp");
  return server;
}

absl::Status StatusOf(const std::vector<v1::McpServer>& list) {
  const McpServers servers(list.begin(), list.end());
  Checks checks;
  CheckMcpServers(servers, checks);
  return checks.status();
}

TEST(McpServersTest, AreChecked) {
  struct Case {
    v1::McpServer server;
    std::function<void(v1::McpServer&)> change;
    const char* named;  // "": fine
  };
  const auto header = [](std::string value) {
    return [value](v1::McpServer& s) { (*s.mutable_http()->mutable_headers())["Key"] = value; };
  };
  const Case cases[] = {
      {Stdio(), [](auto&) {}, ""},
      {Http(), [](auto&) {}, ""},
      {Stdio(), [](auto& s) { s.clear_name(); }, "mcp_servers[0].name"},
      {Stdio(), [](auto& s) { s.clear_transport(); }, "mcp_servers[0] has no transport"},
      {Stdio(), [](auto& s) { s.mutable_stdio()->set_command("files"); },
       "mcp_servers[0].stdio.command"},
      {Stdio(), [](auto& s) { s.mutable_stdio()->set_command(""); },
       "mcp_servers[0].stdio.command"},
      {Http(), [](auto& s) { s.mutable_http()->set_url(""); }, "mcp_servers[0].http.url"},
      {Http(), [](auto& s) { s.mutable_http()->set_url("ftp://x"); }, "mcp_servers[0].http.url"},
      {Http(), [](auto& s) { s.mutable_http()->set_url("http://x"); }, ""},
      {Http(), [](auto& s) { s.mutable_sse()->set_url("file:///x"); }, "mcp_servers[0].sse.url"},
      {Http(), [](auto& s) { s.mutable_sse()->set_url("https://x"); }, ""},
      {Stdio(), [](auto& s) { (*s.mutable_stdio()->mutable_env())[""] = "x"; },
       "mcp_servers[0].stdio.env"},
      {Http(), header("Bearer ${secret:web}"), ""},
      {Http(), header("$$${secret:a}${secret:b}$"), ""},
      {Http(), header("$${env:HOME}"), ""},
      {Http(), header("${env:HOME}"), "mcp_servers[0].http.headers.Key has ${env:HOME}"},
      {Http(), header("${secret:a}${model.api_key}"), "${model.api_key}"},
      {Http(), header("${secret:}"), "${secret:}"},
      {Http(), header("a${secret:b"), "headers.Key has ${;"},
      {Stdio(), [](auto& s) { (*s.mutable_stdio()->mutable_env())["A"] = "${cwd}"; },
       "mcp_servers[0].stdio.env.A has ${cwd}"},
      // They are no templates.
      {Stdio(), [](auto& s) { s.mutable_stdio()->add_args("${cwd}"); }, ""},
  };
  for (const Case& one : cases) {
    v1::McpServer server = one.server;
    one.change(server);
    const absl::Status status = StatusOf({server});
    const bool fine = std::string(one.named).empty();
    EXPECT_EQ(session::ReasonOf(status), fine ? "" : "INVALID_REQUEST") << server.DebugString();
    EXPECT_NE(std::string(status.message()).find(one.named), std::string::npos) << status;
  }
}

// Only the template itself is repeated, not what stands around it.
TEST(McpServersTest, AValueIsNotRepeated) {
  v1::McpServer server = Http();
  (*server.mutable_http()->mutable_headers())["Key"] = "hush-hush${env:X}";
  EXPECT_EQ(StatusOf({server}).message().find("hush"), absl::string_view::npos);
  (*server.mutable_http()->mutable_headers())["Key"] = "${hush-hush";
  EXPECT_EQ(StatusOf({server}).message().find("hush"), absl::string_view::npos);
}

TEST(McpServersTest, NamesAreUnique) {
  v1::McpServer other = Http();
  EXPECT_TRUE(StatusOf({Stdio(), other}).ok());
  other.set_name("files");
  const absl::Status status = StatusOf({Stdio(), other});
  EXPECT_EQ(session::ReasonOf(status), "INVALID_REQUEST");
  EXPECT_NE(status.message().find("mcp_servers[1].name"), absl::string_view::npos) << status;
}

// Each at, under and over its limit.
TEST(McpServersTest, TextsAreBounded) {
  const std::pair<const char*, std::function<v1::McpServer(std::string)>> texts[] = {
      {"name",
       [](std::string text) {
         v1::McpServer server = Stdio();
         server.set_name(text);
         return server;
       }},
      {"stdio.command",
       [](std::string text) {
         v1::McpServer server = Stdio();
         text[0] = '/';
         server.mutable_stdio()->set_command(text);
         return server;
       }},
      {"stdio.args",
       [](std::string text) {
         v1::McpServer server = Stdio();
         server.mutable_stdio()->add_args(text);
         return server;
       }},
      {"http.url", [](std::string text) {
         v1::McpServer server = Http();
         server.mutable_http()->set_url("http://" + text.substr(7));
         return server;
       }}};
  for (const auto& [name, make] : texts) {
    for (const size_t size : {4 * kMcpKiB - 1, 4 * kMcpKiB, 4 * kMcpKiB + 1}) {
      const absl::Status status = StatusOf({make(std::string(size, 'x'))});
      EXPECT_EQ(session::ReasonOf(status), size <= 4 * kMcpKiB ? "" : "INVALID_REQUEST") << name;
      if (size <= 4 * kMcpKiB) continue;
      EXPECT_NE(std::string(status.message()).find(name), std::string::npos) << status;
    }
  }
}

TEST(McpServersTest, AServerHas64KiB) {
  v1::McpServer server = Stdio();
  while (server.ByteSizeLong() < 61 * kMcpKiB)
    server.mutable_stdio()->add_args(std::string(1020, 'x'));
  std::string* last = server.mutable_stdio()->add_args();
  while (server.ByteSizeLong() < 64 * kMcpKiB) last->push_back('x');
  ASSERT_EQ(server.ByteSizeLong(), 64 * kMcpKiB);
  EXPECT_TRUE(StatusOf({server}).ok()) << StatusOf({server});
  last->push_back('x');
  EXPECT_EQ(session::ReasonOf(StatusOf({server})), "INVALID_REQUEST");
  EXPECT_NE(StatusOf({server}).message().find("mcp_servers[0]"), absl::string_view::npos);
}

TEST(McpServersTest, MapsHave64Entries) {
  v1::McpServer server = Http();
  for (int i = 0; i < 65; ++i) {
    EXPECT_TRUE(StatusOf({server}).ok()) << i;
    (*server.mutable_http()->mutable_headers())[std::to_string(i)] = "x";
  }
  EXPECT_EQ(session::ReasonOf(StatusOf({server})), "INVALID_REQUEST");
}

TEST(McpServersTest, EachKindComesOverWhole) {
  v1::McpServer stdio = Stdio(), http = Http(), sse;
  stdio.mutable_stdio()->add_args("-v");
  stdio.mutable_stdio()->add_args("");
  for (const char* name : {"C", "A", "B"}) (*stdio.mutable_stdio()->mutable_env())[name] = "x";
  (*http.mutable_http()->mutable_headers())["Key"] = "${secret:web}";
  sse.set_name("old");
  sse.mutable_sse()->set_url("http://old");
  const std::vector<acp::McpServer> expected = {
      {acp::McpServer::Kind::kStdio,
       "files",
       "/usr/bin/files",
       {"-v", ""},
       {{"A", "x"}, {"B", "x"}, {"C", "x"}},
       "",
       {}},
      {acp::McpServer::Kind::kHttp,
       "web",
       "",
       {},
       {},
       "https://example.org/mcp",
       {{"Key", "${secret:web}"}}},
      {acp::McpServer::Kind::kSse, "old", "", {}, {}, "http://old", {}},
  };
  McpServers servers;
  *servers.Add() = stdio;
  *servers.Add() = http;
  *servers.Add() = sse;
  EXPECT_EQ(McpServersFrom(servers), expected);
}

TEST(McpServersTest, ValuesAreHidden) {
  McpServers servers;
  *servers.Add() = Stdio();
  *servers.Add() = Http();
  EXPECT_FALSE(HideValues(&servers));
  auto& env = *servers.Mutable(0)->mutable_stdio()->mutable_env();
  auto& headers = *servers.Mutable(1)->mutable_http()->mutable_headers();
  env["A"] = "${secret:a}";
  env["EMPTY"] = "";
  EXPECT_FALSE(HideValues(&servers)) << "these are no secrets";
  env["B"] = "plain";
  headers["C"] = "Bearer ${secret:a}";
  headers["D"] = "${secret:a}${secret:b}";
  EXPECT_TRUE(HideValues(&servers));
  EXPECT_EQ(env.at("A"), "${secret:a}");
  EXPECT_EQ(env.at("B") + headers.at("C") + headers.at("D"), "");
  EXPECT_EQ(servers[0].stdio().command(), "/usr/bin/files");
  servers.Mutable(1)->mutable_sse()->set_url("http://x");
  (*servers.Mutable(1)->mutable_sse()->mutable_headers())["E"] = "plain";
  EXPECT_TRUE(HideValues(&servers));
}

}  // namespace
}  // namespace acpd::server
