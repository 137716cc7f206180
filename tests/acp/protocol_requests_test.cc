// The lines we send, byte by byte.

#include <gtest/gtest.h>

#include "acp/message.h"
#include "acp/types.h"

namespace acpd::acp {
namespace {

TEST(Requests, Initialize) {
  EXPECT_EQ(InitializeLine(0, "1.2.3"),
            R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,)"
            R"("clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},)"
            R"("terminal":false},"clientInfo":{"name":"acpd","title":"acpd","version":"1.2.3"}}})");
}

TEST(Requests, Authenticate) {
  EXPECT_EQ(AuthenticateLine(1, "api-key"),
            R"({"jsonrpc":"2.0","id":1,"method":"authenticate","params":{"methodId":"api-key"}})");
}

TEST(Requests, NewSession) {
  EXPECT_EQ(NewSessionLine(2, {"/project", ""}),
            R"({"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/project",)"
            R"("mcpServers":[]}})");
  EXPECT_EQ(NewSessionLine(2, {"/project", "old"}),
            R"({"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/project",)"
            R"("mcpServers":[],"_meta":{"claudeCode":{"options":{"resume":"old"}}}}})");
}

TEST(Requests, LoadAndResumeHaveNoResumeIdInMeta) {
  const std::string params = R"("params":{"sessionId":"s","cwd":"/project","mcpServers":[]}})";
  for (const std::string meta : {"", "old"}) {
    EXPECT_EQ(LoadSessionLine(3, "s", {"/project", meta}),
              R"({"jsonrpc":"2.0","id":3,"method":"session/load",)" + params);
    EXPECT_EQ(ResumeSessionLine(4, "s", {"/project", meta}),
              R"({"jsonrpc":"2.0","id":4,"method":"session/resume",)" + params);
  }
}

TEST(Requests, CloseDeleteAndCancel) {
  EXPECT_EQ(CloseSessionLine(5, "s"),
            R"({"jsonrpc":"2.0","id":5,"method":"session/close","params":{"sessionId":"s"}})");
  EXPECT_EQ(DeleteSessionLine(18446744073709551615u, "s"),
            R"({"jsonrpc":"2.0","id":18446744073709551615,"method":"session/delete",)"
            R"("params":{"sessionId":"s"}})");
  EXPECT_EQ(CancelLine("s"),
            R"({"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}})");
}

TEST(Requests, Prompt) {
  EXPECT_EQ(PromptLine(6, "s", "two\nlines \"quoted\" \xC3\xA9 \x01"),
            R"({"jsonrpc":"2.0","id":6,"method":"session/prompt","params":{"sessionId":"s",)"
            R"("prompt":[{"type":"text","text":"two\nlines \"quoted\" )"
            "\xC3\xA9"
            R"( \u0001"}]}})");
}

TEST(Requests, EveryLineIsOneLineOfJsonWhateverIsInIt) {
  const std::string nasty("\r\n\"\\\0\xFF\xED\xA0\x80\xE2\x80\xA8 end", 17);
  const std::string raw_id = R"("a\nb")";
  for (const std::string& line :
       {InitializeLine(1, nasty), AuthenticateLine(1, nasty), NewSessionLine(1, {nasty, nasty}),
        LoadSessionLine(1, nasty, {nasty, ""}), ResumeSessionLine(1, nasty, {nasty, ""}),
        CloseSessionLine(1, nasty), DeleteSessionLine(1, nasty), PromptLine(1, nasty, nasty),
        CancelLine(nasty), PermissionSelectedLine(raw_id, nasty), PermissionCancelledLine(raw_id),
        ErrorLine(raw_id, kInvalidParams, nasty)}) {
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
