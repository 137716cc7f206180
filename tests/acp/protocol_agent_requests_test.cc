// agent_requests.h: files and terminals.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "acp/agent_requests.h"

namespace acpd::acp {
namespace {

using testing::HasSubstr;

std::string NumberOf(const std::optional<uint64_t>& number) {
  return number ? std::to_string(*number) : "-";
}

std::string Show(const ReadFileRequest& request) {
  return request.session_id + "|" + request.path + "|" + NumberOf(request.line) + "|" +
         NumberOf(request.limit);
}
std::string Show(const WriteFileRequest& request) {
  return request.session_id + "|" + request.path + "|" + request.content;
}
std::string Show(const CreateTerminalRequest& request) {
  std::string text = request.session_id + "|" + request.command;
  for (const std::string& arg : request.args) text += "|arg " + arg;
  for (const auto& [name, value] : request.env) text += "|env " + name + "=" + value;
  return text + "|" + request.cwd + "|" + NumberOf(request.output_byte_limit);
}
std::string Show(const TerminalRequest& request) {
  return request.session_id + "|" + request.terminal_id;
}

template <typename Request>
std::string ShowOr(const absl::StatusOr<Request>& request) {
  return request.ok() ? Show(*request) : std::string(request.status().message());
}

std::string ReadFile(const std::string& json) { return ShowOr(ReadReadFileRequest(json)); }
std::string WriteFile(const std::string& json) { return ShowOr(ReadWriteFileRequest(json)); }
std::string Create(const std::string& json) { return ShowOr(ReadCreateTerminalRequest(json)); }
std::string Terminal(const std::string& json) { return ShowOr(ReadTerminalRequest(json)); }

TEST(ReadFileRequest, Fields) {
  const std::pair<std::string, std::string> cases[] = {
      {R"({"sessionId":"s","path":"/a"})", "s|/a|-|-"},
      {R"({"path":"/\u00e9 \ud83d\ude00","limit":0,"line":3,"sessionId":"s","x":{}})",
       "s|/\xC3\xA9 \xF0\x9F\x98\x80|3|0"},
      {R"({"sessionId":"s","path":"/a","line":null,"limit":null})", "s|/a|-|-"},
      {R"({"sessionId":"s","path":"/a","line":2.0,"limit":18446744073709551615})",
       "s|/a|2|18446744073709551615"},
      {R"({"sessionId":"s","path":""})", "s||-|-"},
  };
  for (const auto& [json, shown] : cases) EXPECT_EQ(ReadFile(json), shown) << json;
}

TEST(WriteFileRequest, Fields) {
  EXPECT_EQ(WriteFile(R"({"sessionId":"s","path":"/a","content":"x\r\n\u00e9"})"),
            "s|/a|x\r\n\xC3\xA9");
  EXPECT_EQ(WriteFile(R"({"sessionId":"s","path":"/a","content":""})"), "s|/a|");
  EXPECT_EQ(WriteFile(R"({"sessionId":"s","path":"/a","content":"a\u0000b"})"),
            std::string("s|/a|a\0b", 8));
  const std::string large(8 << 20, 'x');
  EXPECT_EQ(WriteFile(R"({"sessionId":"s","path":"/a","content":")" + large + "\"}"),
            "s|/a|" + large);
}

TEST(CreateTerminalRequest, Fields) {
  const std::pair<std::string, std::string> cases[] = {
      {R"({"sessionId":"s","command":"ls"})", "s|ls||-"},
      {R"({"sessionId":"s","command":"ls","args":["-a","","\u00e9"],"env":[{"name":"A","value":"1"},)"
       R"({"name":"B","value":"","_meta":{}}],"cwd":"/p","outputByteLimit":1048576})",
       "s|ls|arg -a|arg |arg \xC3\xA9|env A=1|env B=|/p|1048576"},
      {R"({"sessionId":"s","command":"ls","args":null,"env":null,"cwd":null,)"
       R"("outputByteLimit":null})",
       "s|ls||-"},
      {R"({"sessionId":"s","command":"ls","args":[],"env":[],"outputByteLimit":0})", "s|ls||0"},
  };
  for (const auto& [json, shown] : cases) EXPECT_EQ(Create(json), shown) << json;
}

TEST(TerminalRequest, Fields) {
  EXPECT_EQ(Terminal(R"({"terminalId":"t","sessionId":"s","x":1})"), "s|t");
}

// `json` without one of its members, and with it of another type.
TEST(AgentRequests, EachRequiredFieldIsRequired) {
  const struct {
    std::string what;
    std::function<std::string(const std::string&)> read;
    std::vector<std::pair<std::string, std::string>> required;
  } cases[] = {
      {"fs/read_text_file", ReadFile, {{"sessionId", "\"s\""}, {"path", "\"/a\""}}},
      {"fs/write_text_file",
       WriteFile,
       {{"sessionId", "\"s\""}, {"path", "\"/a\""}, {"content", "\"c\""}}},
      {"terminal/create", Create, {{"sessionId", "\"s\""}, {"command", "\"ls\""}}},
      {"terminal request", Terminal, {{"sessionId", "\"s\""}, {"terminalId", "\"t\""}}},
  };
  for (const auto& [what, read, required] : cases) {
    for (const auto& [name, unused] : required) {
      for (const std::string bad : {"", "null", "5", "{}", "[\"x\"]", "true"}) {
        std::string json;
        for (const auto& [other, value] : required) {
          const std::string& used = other == name ? bad : value;
          if (!used.empty()) json += (json.empty() ? "{\"" : ",\"") + other + "\":" + used;
        }
        EXPECT_EQ(read(json + "}"),
                  "The agent's " + what + " has no readable `" + name + "` (a string is expected).")
            << json;
      }
    }
    for (const std::string json : {"", "null", "[]", "{", "7", "\"x\""}) {
      EXPECT_EQ(read(json), "The agent's " + what + " is not an object.") << json;
    }
  }
}

// The schema gives these no default for a wrong type.
TEST(AgentRequests, OptionalFieldsHaveTheirType) {
  const std::string file = R"({"sessionId":"s","path":"/a",)";
  for (const std::string name : {"line", "limit"}) {
    for (const std::string bad : {"-1", "1.5", "\"1\"", "true", "[]", "18446744073709551616"}) {
      EXPECT_THAT(ReadFile(file + "\"" + name + "\":" + bad + "}"), HasSubstr("`" + name + "`"));
    }
  }
  const std::string terminal = R"({"sessionId":"s","command":"ls",)";
  const std::pair<std::string, std::vector<std::string>> cases[] = {
      {"args", {"\"-a\"", "{}", "[5]", "[\"a\",null]", "[\"a\\u0000\"]"}},
      {"env",
       {"{\"A\":\"1\"}", "5", "[\"A=1\"]", "[{\"name\":\"A\"}]", "[{\"value\":\"1\"}]",
        "[{\"name\":\"A\",\"value\":1}]", "[{\"name\":\"\",\"value\":\"1\"}]",
        "[{\"name\":\"A=B\",\"value\":\"1\"}]", "[{\"name\":\"A\",\"value\":\"\\u0000\"}]",
        "[{\"name\":\"\\u0000\",\"value\":\"\"}]"}},
      {"cwd", {"5", "[]", "false", "\"/a\\u0000b\""}},
      {"outputByteLimit", {"-1", "\"5\"", "0.5", "{}"}},
  };
  for (const auto& [name, values] : cases) {
    for (const std::string& bad : values) {
      EXPECT_THAT(Create(terminal + "\"" + name + "\":" + bad + "}"), HasSubstr("`" + name + "`"))
          << bad;
    }
  }
}

// What is behind a NUL would not be seen by the kernel.
TEST(AgentRequests, PathsAndCommandsHaveNoNul) {
  EXPECT_THAT(ReadFile(R"({"sessionId":"s","path":"/a\u0000/../b"})"), HasSubstr("`path`"));
  EXPECT_THAT(WriteFile(R"({"sessionId":"s","path":"\u0000","content":""})"), HasSubstr("`path`"));
  EXPECT_THAT(Create(R"({"sessionId":"s","command":"ls\u0000"})"), HasSubstr("`command`"));
}

TEST(Answers, Files) {
  EXPECT_EQ(FileContentLine("7", "a\n\"\xC3\xA9"),
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":\"a\\n\\\"\xC3\xA9\"}}");
  EXPECT_EQ(EmptyResultLine(R"("b\u0037")"), R"({"jsonrpc":"2.0","id":"b\u0037","result":{}})");
  EXPECT_EQ(EmptyResultLine("9007199254740993"),
            R"({"jsonrpc":"2.0","id":9007199254740993,"result":{}})");
  EXPECT_EQ(TerminalCreatedLine("0", "t-1"),
            R"({"jsonrpc":"2.0","id":0,"result":{"terminalId":"t-1"}})");
}

TEST(Answers, TerminalExit) {
  const std::pair<TerminalExit, std::string> cases[] = {
      {{0, ""}, R"({"exitCode":0,"signal":null})"},
      {{255, ""}, R"({"exitCode":255,"signal":null})"},
      {{std::nullopt, "SIGKILL"}, R"({"exitCode":null,"signal":"SIGKILL"})"},
      {{std::nullopt, ""}, R"({"exitCode":null,"signal":null})"},
      {{-1, ""}, R"({"exitCode":null,"signal":null})"},
  };
  for (const auto& [exit, json] : cases) {
    EXPECT_EQ(TerminalExitLine("1", exit), R"({"jsonrpc":"2.0","id":1,"result":)" + json + "}");
    EXPECT_EQ(TerminalOutputLine("1", "", true, exit),
              R"({"jsonrpc":"2.0","id":1,"result":{"output":"","truncated":true,"exitStatus":)" +
                  json + "}}");
  }
}

TEST(Answers, TerminalOutputIsWholeCharacters) {
  const struct {
    std::string output;
    bool truncated;
    std::string shown;
  } cases[] = {
      {"plain", false, "plain"},
      {"plain", true, "plain"},
      // cut in the middle of a character: the rest of it goes
      {"\xA9x", true, "x"},
      {"\x9F\x98\x80x", true, "x"},
      {"\x80\x80", true, ""},
      // no more than a character's rest can be is taken for one
      {"\x80\x80\x80\x80x", true, "\xEF\xBF\xBDx"},
      // what was not cut is the program's
      {"\xA9x", false, "\xEF\xBF\xBDx"},
      {"a\xFF\xC3(\xF0\x9F", false, "a\xEF\xBF\xBD\xEF\xBF\xBD(\xEF\xBF\xBD"},
      {"\xED\xA0\x80", false, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
      {"\x1B[31m\r\n\t", false, R"(\u001b[31m\r\n\t)"},
      {std::string("\0", 1), false, R"(\u0000)"},
      {"\xF0\x9F\x98\x80", true, "\xF0\x9F\x98\x80"},
  };
  for (const auto& [output, truncated, shown] : cases) {
    EXPECT_EQ(TerminalOutputLine("1", output, truncated, std::nullopt),
              R"({"jsonrpc":"2.0","id":1,"result":{"output":")" + shown + R"(","truncated":)" +
                  (truncated ? "true" : "false") + "}}");
  }
}

}  // namespace
}  // namespace acpd::acp
