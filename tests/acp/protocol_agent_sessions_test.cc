// agent_sessions.h: what the agent itself knows, and its logins.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "acp/agent_sessions.h"

namespace acpd::acp {
namespace {

using testing::HasSubstr;

std::string Show(const AgentSessionPage& page) {
  std::string text;
  for (const AgentSession& session : page.sessions) {
    text += session.session_id + "|" + session.cwd + "|" + session.title + "|" +
            session.updated_at + "\n";
  }
  return text + "next:" + page.next_cursor;
}

TEST(ListSessions, Line) {
  const auto line = [](const std::string& params) {
    return R"({"jsonrpc":"2.0","id":8,"method":"session/list","params":)" + params + "}";
  };
  EXPECT_EQ(ListSessionsLine(8, "", ""), line("{}"));
  EXPECT_EQ(ListSessionsLine(8, "/p", ""), line(R"({"cwd":"/p"})"));
  EXPECT_EQ(ListSessionsLine(8, "", "c=="), line(R"({"cursor":"c=="})"));
  EXPECT_EQ(ListSessionsLine(8, "/p", "\"\n"), line(R"({"cwd":"/p","cursor":"\"\n"})"));
}

TEST(ListSessions, Page) {
  const std::pair<std::string, std::string> cases[] = {
      {R"({"sessions":[]})", "next:"},
      {R"({"sessions":[{"sessionId":"a","cwd":"/a","title":"T","updatedAt":"2026-01-02T03:04:05Z",)"
       R"("additionalDirectories":["/x"],"_meta":{}},{"cwd":"/b","sessionId":"b"}],)"
       R"("nextCursor":"n\u0001"})",
       "a|/a|T|2026-01-02T03:04:05Z\nb|/b||\nnext:n\x01"},
      {R"({"sessions":[{"sessionId":"no cwd"},{"cwd":"/no/id"},{"sessionId":1,"cwd":"/"},)"
       R"({"sessionId":"x","cwd":null},5,null,{"sessionId":"a","cwd":"/a","title":null,)"
       R"("updatedAt":5}],"nextCursor":null})",
       "a|/a||\nnext:"},
      {R"({"sessions":{"sessionId":"a","cwd":"/a"},"nextCursor":7})", "next:"},
      {R"({"sessions":null})", "next:"},
  };
  for (const auto& [json, shown] : cases) {
    const auto page = ReadSessionPage(json);
    ASSERT_TRUE(page.ok()) << json << page.status();
    EXPECT_EQ(Show(*page), shown) << json;
  }
}

TEST(ListSessions, ErrorsNameTheField) {
  const std::pair<std::string, std::string> cases[] = {
      {"{}", "`sessions`"},     {R"({"nextCursor":"x"})", "`sessions`"},
      {"null", "session/list"}, {"[]", "session/list"},
      {"", "session/list"},
  };
  for (const auto& [json, field] : cases) {
    const auto page = ReadSessionPage(json);
    EXPECT_EQ(page.status().code(), absl::StatusCode::kInvalidArgument) << json;
    EXPECT_THAT(std::string(page.status().message()), HasSubstr(field)) << json;
  }
}

std::string Show(const AuthMethod& method) {
  std::string text = method.id + "|" + method.name + "|" + method.description + "|" + method.type;
  for (const std::string& arg : method.args) text += "|arg " + arg;
  for (const auto& [name, value] : method.env) text += "|env " + name + "=" + value;
  for (const std::string& name : method.variables) text += "|variable " + name;
  return text;
}

std::vector<std::string> Methods(const std::string& json) {
  std::vector<std::string> shown;
  for (const AuthMethod& method : ReadAuthMethods(json)) shown.push_back(Show(method));
  return shown;
}

TEST(AuthMethods, EachType) {
  const std::pair<std::string, std::string> cases[] = {
      {R"({"id":"a","name":"A","description":"d"})", "a|A|d|agent"},
      {R"({"id":"a"})", "a|a||agent"},
      {R"({"id":"a","name":5,"description":null,"type":null})", "a|a||agent"},
      {R"({"id":"a","name":"A","type":"agent","args":["x"]})", "a|A||agent"},
      {R"({"id":"t","name":"T","type":"terminal","args":["--cli","auth login",7],)"
       R"("env":{"B":"1","A":"","N":5}})",
       "t|T||terminal|arg --cli|arg auth login|env B=1|env A="},
      {R"({"id":"t","name":"T","type":"terminal","args":null,"env":null})", "t|T||terminal"},
      {R"({"id":"t","name":"T","type":"terminal","env":[{"name":"A","value":"1"},{"value":"x"}]})",
       "t|T||terminal|env A=1"},
      {R"({"id":"e","name":"E","type":"env_var","vars":[{"name":"KEY"},{"name":"URL"},{}]})",
       "e|E||env_var|variable KEY|variable URL"},
      {R"({"id":"e","name":"E","type":"env_var","varName":"KEY"})", "e|E||env_var|variable KEY"},
      {R"({"id":"o","name":"O","type":"own","vars":[{"name":"KEY"}]})", "o|O||own"},
  };
  for (const auto& [json, shown] : cases) {
    EXPECT_THAT(Methods("[" + json + "]"), testing::ElementsAre(shown)) << json;
  }
}

TEST(AuthMethods, WhatCannotBeReadIsLeftOut) {
  EXPECT_THAT(Methods(R"([{"id":"b"},{"name":"no id"},{"id":5},"x",null,{"id":"a"}])"),
              testing::ElementsAre("b|b||agent", "a|a||agent"));
  for (const std::string json : {"", "null", "{}", "[", R"({"id":"a"})"}) {
    EXPECT_THAT(Methods(json), testing::IsEmpty()) << json;
  }
}

TEST(Logout, Line) {
  EXPECT_EQ(LogoutLine(9), R"({"jsonrpc":"2.0","id":9,"method":"logout","params":{}})");
}

}  // namespace
}  // namespace acpd::acp
