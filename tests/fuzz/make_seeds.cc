// Writes the inputs that fuzzing starts from: make_seeds SOURCE_DIR OUT_DIR
// They are the lines that real agents wrote (tests/acp/data) and a few more, frames as the link's
// own code encodes them, what agents answer to a resume, and the example config.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "acp/line_splitter.h"
#include "acp/link_frames.h"
#include "acp/message.h"
#include "acp/terminal_frames.h"
#include "acp/types.h"

namespace acpd::fuzz {
namespace {

namespace fs = std::filesystem;
using acp::FrameType;

class Folder {
 public:
  explicit Folder(const fs::path& path) : path_(path) { fs::create_directories(path); }

  void Add(const std::string& seed) {
    std::ofstream(path_ / std::to_string(count_++), std::ios::binary) << seed;
  }

 private:
  fs::path path_;
  int count_ = 0;
};

std::string Contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What the recordings have none of.
constexpr std::string_view kFurtherLines[] = {
    R"({"jsonrpc":"2.0","id":3,"error":{"code":-32002,"message":"Session not found","data":{"sessionId":"s-1"}}})",
    R"({"jsonrpc":"2.0","id":"a","error":{"code":-32603,"message":"Internal error","data":{"details":"No conversation found with session ID: s-1"}}})",
    R"({"id":3,"error":{"code":-32603,"message":"Internal error","data":{"service":"session"}},"result":null})",
    R"({"jsonrpc":"2.0","id":4,"error":"Query closed before response received"})",
    R"({"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"q\u00e9"}})",
    R"({"jsonrpc":"2.0","id":null,"method":"fs/read_text_file","params":{"sessionId":"s-1","path":"/x"}})",
    R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"usage_update","used":1e3,"size":200000,"cost":{"amount":0.25,"currency":"USD"}}}})",
    R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"session_info_update","title":null}}})",
    R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"\ud83d\ude00 \ud83d \n"}}}})",
    R"({"jsonrpc":"2.0","id":123456789012345678901234567890,"result":{"stopReason":"end_turn","usage":{"inputTokens":1,"totalTokens":18446744073709551616}}})",
    R"([{"jsonrpc":"2.0","id":1,"result":{}}])",
    R"({"a":[[[[[[[[[[{"b":[]}]]]]]]]]]],"id":1,"method":"deep"})",
    "\xEF\xBB\xBF{\"id\":1,\"result\":\"\xFF\xC3\"}",
    "a warning on stdout",
};

std::vector<std::string> AllLines(const fs::path& data) {
  std::vector<std::string> lines;
  for (const auto& entry : fs::directory_iterator(data)) {
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  lines.insert(lines.begin(), std::begin(kFurtherLines), std::end(kFurtherLines));
  return lines;
}

// Each line by itself, and runs of lines as they come on one connection.
void MakeLines(const std::vector<std::string>& lines, Folder out) {
  std::string run;
  for (size_t i = 0; i < lines.size(); ++i) {
    const char pieces = static_cast<char>(i);
    out.Add(std::string("\0", 1) + pieces + lines[i] + "\n");
    run += lines[i] + (i % 3 == 0 ? "\r\n" : "\n");
    if (run.size() < 3000) continue;
    out.Add(static_cast<char>(i % 4) + (pieces + run));
    run.clear();
  }
  for (const std::string& line : lines) {
    acp::LineSplitter splitter(20);
    acp::LineSplitter::Line none;
    splitter.Feed(line, 0);
    if (!splitter.Next(&none)) out.Add(std::string("\3\1") + splitter.discarded());
  }
}

acp::Hello SampleHello() {
  acp::Hello hello;
  hello.agent_pid = 4242;
  hello.agent_start_ticks = 1 << 20;
  hello.start_error = "No such file or directory";
  hello.first_kept_offset = 100;
  hello.last_stdin_done = 3;
  hello.spec = {"w-1", {"agent", "", "--flag"}, {{"A", "1"}, {"EMPTY", ""}}, "/somewhere", 5000};
  return hello;
}

void MakeLink(const std::vector<std::string>& lines, Folder out) {
  std::vector<std::string> frames = {
      acp::EncodeHello(SampleHello()),
      acp::EncodeHello({}),
      acp::EncodeExit({true, 9, "last words", 200}),
      acp::EncodeAttach({1, 100, 1 << 20}),
      acp::EncodeStderr("a warning\n"),
      acp::EncodeStop(5000),
      acp::EncodeAckExit(),
      acp::EncodeNumbered(FrameType::kStdinDone, 4),
      acp::EncodeNumbered(FrameType::kAck, 150),
      acp::EncodeTerminalOpen({1, 1 << 20, {{"make", "all"}, {{"A", "b"}}, "/src"}}),
      acp::EncodeTwoNumbers(FrameType::kTerminalWatch, 1, 100),
      acp::EncodeNumbered(FrameType::kTerminalKill, 1),
      acp::EncodeTerminalState({.number = 1, .known = true, .pid = 42, .end = 3, .exited = true}),
      acp::EncodeTerminalOutput({1, 100, "some output\n"}),
      acp::EncodeTerminalSnapshot({.number = 1, .tag = 5, .known = true, .end = 3, .bytes = "abc"}),
      std::string("\x06\0\0\0\x7fwhat?", 10),
  };
  for (size_t i = 0; i < lines.size(); i += 9) {
    frames.push_back(acp::EncodeNumbered(FrameType::kStdout, 100 * i, lines[i] + "\n"));
    frames.push_back(acp::EncodeNumbered(FrameType::kStdin, i, lines[i]));
  }
  std::string all;
  for (const std::string& frame : frames) {
    out.Add('\x05' + frame);
    out.Add('\x05' + frame.substr(5));  // a bare payload
    if (all.size() < 6000) all += frame;
  }
  out.Add('\x06' + all);
}

void MakeSpools(const std::vector<std::string>& lines, Folder out) {
  const std::string hello = acp::EncodeHello(SampleHello());
  std::string spool = hello;
  uint64_t offset = SampleHello().first_kept_offset;
  for (size_t i = 0; i < 20; ++i) {
    const std::string line = lines[i * 5].substr(0, 200) + "\n";
    spool += acp::EncodeNumbered(FrameType::kStdout, offset, line);
    offset += line.size();
    const std::string whole = spool + acp::EncodeExit({false, 0, "last words", offset});
    out.Add(static_cast<char>(i) + whole);
    out.Add('\0' + whole.substr(0, whole.size() - 20));
  }
  out.Add('\0' + hello + acp::EncodeExit({true, 9, "", SampleHello().first_kept_offset}));
}

std::string Fields(std::initializer_list<std::string> fields) {
  std::string text;
  for (const std::string& field : fields) text.append(field).push_back('\0');
  return text;
}

// The errors among the lines, each under every code, and the four kinds of answers.
void MakeResume(const std::vector<std::string>& lines, Folder out) {
  std::vector<std::pair<std::string, std::string>> errors = {
      {"No conversation found with session ID: 0", ""},
      {"Internal error", R"({"details":"Session \"s-1\" not found"})"},
      {"Query closed before response received", "ENOENT"},
      {"Internal error", R"({ "service" : "session" })"},
      {"requires a valid session ID", "no rollout found for thread id"}};
  acp::MessageParser parser;
  for (const std::string& line : lines) {
    const acp::Message message = parser.Parse(line);
    if (message.kind != acp::Message::Kind::kError) continue;
    const acp::RpcError error = acp::ReadError(message.error);
    errors.emplace_back(error.message, error.data);
  }
  for (char code = 0; code < 12; ++code) {
    for (const auto& [message, data] : errors) {
      out.Add(std::string({'\x03', '\x03', code}) +
              Fields({"s-1", "", message, data, "not found"}));
    }
  }
  for (char kind = 0; kind < 3; ++kind) {
    out.Add(std::string({kind, '\x01', '\0'}) + Fields({"s-1", "s-1", "", ""}));
    out.Add(std::string({kind, '\x01', '\0'}) + Fields({"s-1", "s-2", "", ""}));
  }
}

// The whole example, and each of its lines as a config of its own.
void MakeConfig(const std::string& example, Folder out) {
  out.Add(example);
  out.Add(
      R"({"agent_servers": {"a": {"extends": "demo", "args": ["${env:ACPD_FUZZ}", "$$", "${cwd}"],
"env": {"K": "${secret:s}"}, "resume": ["meta"], "inherit_env": ["LC_*"]}}, "secrets": {"s": "x"},
"listen": ["unix:/run/a.sock", "[::1]:0", "localhost:1"], "default_agent": "a"})");
  for (size_t begin = 0; begin < example.size();) {
    const size_t end = example.find('\n', begin);
    const std::string line = example.substr(begin, end - begin);
    begin = end == std::string::npos ? example.size() : end + 1;
    const size_t comma = line.find_last_of(',');
    out.Add("{" + line.substr(0, comma) + "}");
    out.Add("{\"agent_servers\": {\"a\": {\"command\": \"x\",\n" + line.substr(0, comma) + "}}}");
  }
}

}  // namespace
}  // namespace acpd::fuzz

int main(int argc, char** argv) {
  using namespace acpd::fuzz;
  if (argc != 3) return std::fprintf(stderr, "usage: make_seeds SOURCE_DIR OUT_DIR\n"), 2;
  const fs::path source = argv[1], out = argv[2];
  const std::vector<std::string> lines = AllLines(source / "tests/acp/data");
  fs::remove_all(out);
  MakeLines(lines, Folder(out / "lines"));
  MakeLink(lines, Folder(out / "link"));
  MakeSpools(lines, Folder(out / "spool"));
  MakeResume(lines, Folder(out / "resume"));
  MakeConfig(Contents(source / "deploy/acpd.example.json"), Folder(out / "config"));
  return 0;
}
