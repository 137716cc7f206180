// The lines we send, byte by byte.

#include <gtest/gtest.h>

#include "acp/agent_requests.h"
#include "acp/agent_sessions.h"
#include "acp/elicitation.h"
#include "acp/message.h"
#include "acp/types.h"

namespace acpd::acp {
namespace {

TEST(Requests, Authenticate) {
  EXPECT_EQ(AuthenticateLine(1, "api-key"),
            R"({"jsonrpc":"2.0","id":1,"method":"authenticate","params":{"methodId":"api-key"}})");
}

TEST(Requests, CloseDeleteAndCancel) {
  EXPECT_EQ(CloseSessionLine(5, "s"),
            R"({"jsonrpc":"2.0","id":5,"method":"session/close","params":{"sessionId":"s"}})");
  EXPECT_EQ(DeleteSessionLine(18446744073709551615u, "s"),
            R"({"jsonrpc":"2.0","id":18446744073709551615,"method":"session/delete",)"
            R"("params":{"sessionId":"s"}})");
  EXPECT_EQ(CancelLine("s"),
            R"({"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}})");
  EXPECT_EQ(CancelLine("s", {"p", "s", "b"}),
            R"({"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s",)"
            R"("_meta":{"traceparent":"p","tracestate":"s","baggage":"b"}}})");
}

TEST(Requests, TraceContextIsInTheRootOfMeta) {
  const TraceContext trace = {"p", "s", "b"};
  const std::string meta = R"("_meta":{"traceparent":"p","tracestate":"s","baggage":"b"}})";
  const auto line = [](const std::string& method, const std::string& params) {
    return R"({"jsonrpc":"2.0","id":7,"method":")" + method + R"(","params":{)" + params + "}";
  };
  EXPECT_EQ(AuthenticateLine(7, "key", trace), line("authenticate", R"("methodId":"key",)" + meta));
  EXPECT_EQ(CloseSessionLine(7, "s", trace), line("session/close", R"("sessionId":"s",)" + meta));
  EXPECT_EQ(DeleteSessionLine(7, "s", trace), line("session/delete", R"("sessionId":"s",)" + meta));
  EXPECT_EQ(ListSessionsLine(7, "/p", "", trace), line("session/list", R"("cwd":"/p",)" + meta));
  EXPECT_EQ(ListSessionsLine(7, "", "", trace), line("session/list", meta));
  EXPECT_EQ(LogoutLine(7, trace), line("logout", meta));
}

TEST(Requests, EveryLineIsOneLineOfJsonWhateverIsInIt) {
  const std::string nasty("\r\n\"\\\0\xFF\xED\xA0\x80\xE2\x80\xA8 end", 17);
  const std::string raw_id = R"("a\nb")";
  const TraceContext trace = {nasty, nasty, nasty};
  ContentBlock block;
  block.text = block.data = block.mime_type = block.uri = block.name = block.title =
      block.description = nasty;
  std::vector<ContentBlock> blocks(5, block);
  for (size_t i = 0; i < blocks.size(); ++i) blocks[i].kind = ContentBlock::Kind(i);
  McpServer server;
  server.name = server.command = server.url = nasty;
  server.args = {nasty};
  server.env = server.headers = {{nasty, nasty}};
  SessionSetup setup;
  setup.cwd = setup.system_prompt = setup.meta_resume_id = nasty;
  setup.mcp_servers = {server, server};
  setup.mcp_servers[1].kind = McpServer::Kind::kSse;
  setup.additional_directories = {nasty};
  setup.meta_json = "{\"a\":\n\"\\n\"}";
  setup.trace = trace;
  for (const std::string& line :
       {InitializeLine(1, nasty, {}),
        AuthenticateLine(1, nasty, trace),
        NewSessionLine(1, setup),
        LoadSessionLine(1, nasty, setup),
        ResumeSessionLine(1, nasty, setup),
        ForkSessionLine(1, nasty, setup),
        CloseSessionLine(1, nasty, trace),
        DeleteSessionLine(1, nasty, trace),
        ListSessionsLine(1, nasty, nasty, trace),
        LogoutLine(1, trace),
        PromptLine(1, nasty, blocks, trace),
        SetModeLine(1, nasty, nasty, trace),
        SetModelLine(1, nasty, nasty, trace),
        SetConfigOptionLine(1, nasty, {nasty, false, false, nasty}, trace),
        CancelLine(nasty, trace),
        PermissionSelectedLine(raw_id, nasty),
        PermissionCancelledLine(raw_id),
        ErrorLine(raw_id, kInvalidParams, nasty),
        FileContentLine(raw_id, nasty),
        TerminalCreatedLine(raw_id, nasty),
        TerminalOutputLine(raw_id, nasty, true, TerminalExit{std::nullopt, nasty}),
        TerminalExitLine(raw_id, {std::nullopt, nasty}),
        ElicitationAcceptLine(raw_id, "{\"a\":\n\"\\n\"}"),
        ElicitationAcceptLine(raw_id, nasty)}) {
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
    MessageParser parser;
    const Message message = parser.Parse(line);
    EXPECT_NE(message.kind, Message::Kind::kNotJson) << line;
    EXPECT_NE(message.kind, Message::Kind::kInvalid) << line;
  }
}

TEST(Answers, EchoTheIdAsItCame) {
  EXPECT_EQ(PermissionSelectedLine("9007199254740993", "allow"),
            R"({"jsonrpc":"2.0","id":9007199254740993,"result":{"outcome":{"outcome":"selected",)"
            R"("optionId":"allow"}}})");
  EXPECT_EQ(PermissionCancelledLine(R"("b\u0037")"),
            R"({"jsonrpc":"2.0","id":"b\u0037","result":{"outcome":{"outcome":"cancelled"}}})");
  EXPECT_EQ(ErrorLine("null", kMethodNotFound, "no"),
            R"({"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no"}})");
  EXPECT_EQ(ErrorLine("", kInvalidRequest, "no"),
            R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}})");
}

}  // namespace
}  // namespace acpd::acp
