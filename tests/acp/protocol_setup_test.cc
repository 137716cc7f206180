// setup.h: initialize, and how sessions are set up.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "acp/setup.h"

namespace acpd::acp {
namespace {

using testing::HasSubstr;

std::string InitializeOf(const std::string& capabilities) {
  return R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,)"
         R"("clientCapabilities":)" +
         capabilities + R"(,"clientInfo":{"name":"acpd","title":"acpd","version":"1.2.3"}}})";
}

constexpr ClientCapabilities kNothing = {false, false, false, false, false,
                                         false, false, false, false};

TEST(Initialize, WhatIsOffIsLeftOut) {
  EXPECT_EQ(
      InitializeLine(0, "1.2.3", kNothing),
      InitializeOf(R"({"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false})"));
}

TEST(Initialize, Everything) {
  EXPECT_EQ(
      InitializeLine(0, "1.2.3", {true, true, true, true, true, true, true, true, true}),
      InitializeOf(R"({"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,)"
                   R"("session":{"configOptions":{"boolean":{}},"notices":{},"compaction":{}},)"
                   R"("auth":{"terminal":true},"elicitation":{"form":{},"url":{}},)"
                   R"("_meta":{"terminal-auth":true}})"));
}

TEST(Initialize, EachCapabilityAlone) {
  const std::string no_files = R"("fs":{"readTextFile":false,"writeTextFile":false})";
  const std::string off = "{" + no_files + R"(,"terminal":false)";
  const std::pair<bool ClientCapabilities::*, std::string> cases[] = {
      {&ClientCapabilities::read_text_file,
       R"({"fs":{"readTextFile":true,"writeTextFile":false},"terminal":false})"},
      {&ClientCapabilities::write_text_file,
       R"({"fs":{"readTextFile":false,"writeTextFile":true},"terminal":false})"},
      {&ClientCapabilities::terminal, "{" + no_files + R"(,"terminal":true})"},
      {&ClientCapabilities::elicitation_form, off + R"(,"elicitation":{"form":{}}})"},
      {&ClientCapabilities::elicitation_url, off + R"(,"elicitation":{"url":{}}})"},
      {&ClientCapabilities::boolean_options,
       off + R"(,"session":{"configOptions":{"boolean":{}}}})"},
      {&ClientCapabilities::notices, off + R"(,"session":{"notices":{}}})"},
      {&ClientCapabilities::compaction, off + R"(,"session":{"compaction":{}}})"},
      {&ClientCapabilities::auth_terminal,
       off + R"(,"auth":{"terminal":true},"_meta":{"terminal-auth":true}})"},
  };
  for (const auto& [member, json] : cases) {
    ClientCapabilities client = kNothing;
    client.*member = true;
    EXPECT_EQ(InitializeLine(0, "1.2.3", client), InitializeOf(json));
  }
}

struct SetupCall {
  std::function<std::string(const SessionSetup&)> line;
  std::string method, id_member;
};

const std::vector<SetupCall>& SetupCalls() {
  static const auto& calls = *new std::vector<SetupCall>{
      {[](const SessionSetup& setup) { return NewSessionLine(3, setup); }, "session/new", ""},
      {[](const SessionSetup& setup) { return LoadSessionLine(3, "s", setup); }, "session/load",
       R"("sessionId":"s",)"},
      {[](const SessionSetup& setup) { return ResumeSessionLine(3, "s", setup); }, "session/resume",
       R"("sessionId":"s",)"},
      {[](const SessionSetup& setup) { return ForkSessionLine(3, "s", setup); }, "session/fork",
       R"("sessionId":"s",)"},
  };
  return calls;
}

// The same params in all four.
void ExpectSetup(const SessionSetup& setup, const std::string& params) {
  for (const SetupCall& call : SetupCalls()) {
    EXPECT_EQ(call.line(setup), R"({"jsonrpc":"2.0","id":3,"method":")" + call.method +
                                    R"(","params":{)" + call.id_member + params + "}}");
  }
}

SessionSetup ProjectSetup() {
  SessionSetup setup;
  setup.cwd = "/p";
  return setup;
}

SessionSetup SetupWithMeta(std::string meta_json, std::string resume_id = "") {
  SessionSetup setup = ProjectSetup();
  setup.meta_json = std::move(meta_json);
  setup.meta_resume_id = std::move(resume_id);
  return setup;
}

TEST(SessionSetup, TheLeastHasAnEmptyListOfServersAndNoMeta) {
  ExpectSetup(ProjectSetup(), R"("cwd":"/p","mcpServers":[])");
}

McpServer ServerOf(McpServer::Kind kind, const std::string& name) {
  McpServer server;  // those of other kinds must not be sent
  server.kind = kind;
  server.name = name;
  server.command = "/bin/mcp";
  server.url = "https://x";
  return server;
}

TEST(SessionSetup, McpServers) {
  McpServer full = ServerOf(McpServer::Kind::kStdio, "full");
  full.args = {"-a", ""};
  full.env = {{"A", "1"}, {"B", ""}};
  McpServer http = ServerOf(McpServer::Kind::kHttp, "web");
  http.headers = {{"H", "v"}};
  SessionSetup setup = ProjectSetup();
  setup.mcp_servers = {ServerOf(McpServer::Kind::kStdio, "bare"), full, http,
                       ServerOf(McpServer::Kind::kSse, "old")};
  ExpectSetup(setup,
              R"("cwd":"/p","mcpServers":[{"name":"bare","command":"/bin/mcp","args":[],"env":[]},)"
              R"({"name":"full","command":"/bin/mcp","args":["-a",""],)"
              R"("env":[{"name":"A","value":"1"},{"name":"B","value":""}]},)"
              R"({"type":"http","name":"web","url":"https://x",)"
              R"("headers":[{"name":"H","value":"v"}]},)"
              R"({"type":"sse","name":"old","url":"https://x","headers":[]}])");
}

TEST(SessionSetup, FurtherDirectories) {
  SessionSetup setup = ProjectSetup();
  setup.additional_directories = {"/a", "/b \xC3\xA9"};
  ExpectSetup(setup,
              "\"cwd\":\"/p\",\"mcpServers\":[],"
              "\"additionalDirectories\":[\"/a\",\"/b \xC3\xA9\"]");
}

TEST(SessionSetup, MetaIsTheCallersWithSystemPromptAndTrace) {
  SessionSetup setup = ProjectSetup();
  setup.system_prompt = "be \"short\"";
  ExpectSetup(setup,
              R"("cwd":"/p","mcpServers":[],"_meta":{"systemPrompt":{"append":"be \"short\""}})");
  ExpectSetup(SetupWithMeta(R"( {"z":[1,{"y":null}], "a":9007199254740993} )"),
              R"("cwd":"/p","mcpServers":[],"_meta":{"a":9007199254740993,"z":[1,{"y":null}]})");
  ExpectSetup(SetupWithMeta("{}"), R"("cwd":"/p","mcpServers":[])");
  setup.meta_json = R"({"claudeCode":{"options":{"model":"opus"},"other":true},"k":1})";
  setup.trace = {"p", "s", "b"};
  ExpectSetup(setup,
              R"("cwd":"/p","mcpServers":[],"_meta":{"claudeCode":{"options":{"model":"opus"},)"
              R"("other":true},"k":1,"systemPrompt":{"append":"be \"short\""},"traceparent":"p",)"
              R"("tracestate":"s","baggage":"b"})");
}

TEST(SessionSetup, TheResumeIdIsInTheMetaOfNewAlone) {
  const SessionSetup setups[] = {
      SetupWithMeta("", "old"),
      SetupWithMeta(R"({"k":1})", "old"),
      SetupWithMeta(R"({"claudeCode":{"options":{"model":"m"},"z":1}})", "old"),
  };
  const std::string metas[] = {
      R"({"claudeCode":{"options":{"resume":"old"}}})",
      R"({"k":1,"claudeCode":{"options":{"resume":"old"}}})",
      R"({"claudeCode":{"options":{"model":"m","resume":"old"},"z":1}})",
  };
  for (size_t i = 0; i < std::size(setups); ++i) {
    EXPECT_EQ(NewSessionLine(3, setups[i]),
              R"({"jsonrpc":"2.0","id":3,"method":"session/new","params":{"cwd":"/p",)"
              R"("mcpServers":[],"_meta":)" +
                  metas[i] + "}}");
    for (const SetupCall& call : SetupCalls()) {
      if (call.method == "session/new") continue;
      EXPECT_THAT(call.line(setups[i]), testing::Not(HasSubstr("old")));
      EXPECT_THAT(call.line(setups[i]), testing::Not(HasSubstr("resume\":")));
    }
  }
}

TEST(SessionSetup, MetaThatMayNotPassIsLeftOut) {
  for (const std::string meta :
       {"[]", "{", "x", "\"{}\"", R"({"claudeCode":"x"})", R"({"claudeCode":{"options":[]}})",
        R"({"k":1,"claudeCode":{"options":{"resume":"x"}}})"}) {
    ExpectSetup(SetupWithMeta(meta), R"("cwd":"/p","mcpServers":[])");
    EXPECT_EQ(NewSessionLine(3, SetupWithMeta(meta, "old")),
              NewSessionLine(3, SetupWithMeta("", "old")));
  }
}

TEST(McpCapabilities, PerKind) {
  using Kind = McpServer::Kind;
  EXPECT_EQ(MissingCapability(Kind::kStdio, {}), "");
  EXPECT_EQ(MissingCapability(Kind::kHttp, {false, true}), "mcpCapabilities.http");
  EXPECT_EQ(MissingCapability(Kind::kHttp, {true, false}), "");
  EXPECT_EQ(MissingCapability(Kind::kSse, {true, false}), "mcpCapabilities.sse");
  EXPECT_EQ(MissingCapability(Kind::kSse, {false, true}), "");
}

}  // namespace
}  // namespace acpd::acp
