// Files that acpd reads and writes for an agent (fs/*): the good case, each error, each limit.
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tests/session/services_harness.h"

namespace acpd::session {
namespace {

using ::testing::ElementsAre;

TEST_F(ServicesTest, FilesAreWrittenAndReadAndReadersSeeIt) {
  Begin();
  json steps = json::array();
  Add(steps, "fs/write_text_file", {{"path", Path("new/a.txt")}, {"content", "one\ntwo\nthree\n"}},
      Result(json::object()));
  Add(steps, "fs/read_text_file", {{"path", Path("new/a.txt")}},
      Result({{"content", "one\ntwo\nthree\n"}}));
  Add(steps, "fs/read_text_file", {{"path", Path("new/a.txt")}, {"line", 2}, {"limit", 1}},
      Result({{"content", "two\n"}}));
  const std::string session_id = Play(steps);
  EXPECT_EQ(ReadFile(Path("new/a.txt")), "one\ntwo\nthree\n");
  const std::string path = Path("new/a.txt");
  EXPECT_THAT(Seen(session_id),
              ElementsAre("file_written " + path + " bytes=14 ", "file_read " + path + " bytes=14 ",
                          "file_read " + path + " bytes=4 "));
  EXPECT_EQ(Stored("agent_requests"), 0);
}

TEST_F(ServicesTest, WhatIsNotTheSessionsToTouchIsRefused) {
  config().limits.max_file_read = 100;
  config().limits.max_file_write = 100;
  Begin();
  WriteFile(Path("large"), std::string(101, 'x'));
  std::filesystem::create_directories(Path("folder"));
  const std::string outside = config().projects_root + "/outside.txt";
  WriteFile(outside, "secret");
  std::filesystem::create_symlink(outside, Path("link"));
  json steps = json::array();
  const char kRead[] = "fs/read_text_file", kWrite[] = "fs/write_text_file";
  Add(steps, kRead, {{"path", Path("missing")}}, Code(kNotFoundCode, "No such file"));
  Add(steps, kRead, {{"path", outside}}, Code(kInvalidParamsCode));
  Add(steps, kRead, {{"path", Path("../outside.txt")}}, Code(kInvalidParamsCode));
  Add(steps, kRead, {{"path", Path("link")}}, Code(kInvalidParamsCode));
  Add(steps, kRead, {{"path", Path("folder")}}, Code(kInvalidParamsCode));
  Add(steps, kRead, {{"path", "relative"}}, Code(kInvalidParamsCode));
  Add(steps, kRead, {{"path", Path("large")}}, Code(kInvalidParamsCode, "100"));
  Add(steps, kRead, {{"path", Path("no/folder")}}, Code(kNotFoundCode, "No such file"));
  Add(steps, kWrite, {{"path", outside}, {"content", "x"}}, Code(kInvalidParamsCode));
  Add(steps, kWrite, {{"path", Path("link")}, {"content", "x"}}, Code(kInvalidParamsCode));
  Add(steps, kWrite, {{"path", Path("much")}, {"content", std::string(101, 'x')}},
      Code(kInvalidParamsCode, "100"));
  const std::string session_id = Play(steps);
  EXPECT_EQ(ReadFile(outside), "secret");
  EXPECT_FALSE(std::filesystem::exists(Path("much")));
  const auto read = [](const std::string& path, const std::string& reason) {
    return "file_read " + path + " bytes=0 " + reason;
  };
  const auto written = [](const std::string& path, const std::string& reason) {
    return "file_written " + path + " bytes=0 " + reason;
  };
  EXPECT_THAT(
      Seen(session_id),
      ElementsAre(read(Path("missing"), "CWD_NOT_FOUND"), read(outside, "CWD_NOT_ALLOWED"),
                  read(Path("../outside.txt"), "CWD_NOT_ALLOWED"),
                  read(Path("link"), "CWD_NOT_ALLOWED"), read(Path("folder"), "INVALID_REQUEST"),
                  read("relative", "INVALID_REQUEST"), read(Path("large"), "MESSAGE_TOO_LARGE"),
                  read(Path("no/folder"), "CWD_NOT_FOUND"), written(outside, "CWD_NOT_ALLOWED"),
                  written(Path("link"), "CWD_NOT_ALLOWED"),
                  written(Path("much"), "MESSAGE_TOO_LARGE")));
}

// Sets or clears the immutable flag: not even root may write such a file. False: not here.
bool SetImmutableFlag(const std::string& path, bool on) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  int flags = 0;
  bool done = ::ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0;
  flags = on ? flags | FS_IMMUTABLE_FL : flags & ~FS_IMMUTABLE_FL;
  done = done && ::ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
  ::close(fd);
  return done;
}

TEST_F(ServicesTest, WhatTheSystemDeniesIsSaidToBeSo) {
  Begin();
  WriteFile(Path("fixed"), "old");
  if (!SetImmutableFlag(Path("fixed"), true)) GTEST_SKIP() << "no right to make files immutable";
  json steps = json::array();
  Add(steps, "fs/write_text_file", {{"path", Path("fixed")}, {"content", "new"}},
      Code(kInternalErrorCode, "EPERM"));
  const std::string session_id = Play(steps);
  EXPECT_TRUE(SetImmutableFlag(Path("fixed"), false));
  EXPECT_EQ(ReadFile(Path("fixed")), "old");
  EXPECT_THAT(Seen(session_id),
              ElementsAre("file_written " + Path("fixed") + " bytes=0 PERMISSION_DENIED"));
}

TEST_F(ServicesTest, RequestsThatSayNothingSensibleAreRefused) {
  Begin();
  json steps = json::array();
  Add(steps, "fs/read_text_file", {{"line", 1}}, Code(kInvalidParamsCode, "path"));
  Add(steps, "fs/write_text_file", {{"path", Path("a")}}, Code(kInvalidParamsCode, "content"));
  Add(steps, "fs/read_text_file", {{"sessionId", "other"}, {"path", Path("a")}},
      Code(kInvalidParamsCode, "sessionId"));
  Add(steps, "fs/write_text_file", {{"sessionId", "other"}, {"path", Path("a")}, {"content", "x"}},
      Code(kInvalidParamsCode, "sessionId"));
  Add(steps, "terminal/create", {{"args", json::array()}}, Code(kInvalidParamsCode, "command"));
  Add(steps, "terminal/create", {{"sessionId", "other"}, {"command", "true"}},
      Code(kInvalidParamsCode, "sessionId"));
  Add(steps, "terminal/output", json::object(), Code(kInvalidParamsCode, "terminalId"));
  Add(steps, "terminal/output", {{"sessionId", "other"}, {"terminalId", "term-1"}},
      Code(kInvalidParamsCode, "sessionId"));
  const std::string session_id = Play(steps);
  EXPECT_FALSE(std::filesystem::exists(Path("a")));
  EXPECT_THAT(Seen(session_id), ElementsAre());
}

TEST_F(ServicesTest, WhatTheConfigSwitchesOffIsNoMethod) {
  agent().capabilities.fs = false;
  agent().capabilities.terminal = false;
  Begin();
  json steps = json::array();
  Add(steps, "fs/read_text_file", {{"path", Path("a")}},
      Code(kMethodNotFoundCode, "capabilities.fs"));
  Add(steps, "fs/write_text_file", {{"path", Path("a")}, {"content", ""}},
      Code(kMethodNotFoundCode));
  Add(steps, "terminal/create", {{"command", "true"}},
      Code(kMethodNotFoundCode, "capabilities.terminal"));
  for (const char* method : {"output", "wait_for_exit", "kill", "release"}) {
    Add(steps, std::string("terminal/") + method, Of("term-1"), Code(kMethodNotFoundCode));
  }
  EXPECT_THAT(Seen(Play(steps)), ElementsAre());
}

TEST_F(ServicesTest, FurtherFoldersAreTheSessionsToo) {
  UseScript(R"({"capabilities":{"sessionCapabilities":{"additionalDirectories":{}}}})");
  const std::string further = config().runtime_dir + "/further";
  config().allowed_roots = {further};
  WriteFile(further + "/b.txt", "here");
  Begin();
  json steps = json::array();
  Add(steps, "fs/read_text_file", {{"path", further + "/b.txt"}}, Result({{"content", "here"}}));
  json pwd = Shell("pwd");
  pwd["cwd"] = further;
  Add(steps, "terminal/create", pwd, Result(Of("term-2")));
  Add(steps, "terminal/wait_for_exit", Of("term-2"), Result({{"exitCode", 0}}));
  Add(steps, "terminal/output", Of("term-2"), Result({{"output", further + "\n"}}));
  ChatRequest request = Request(Prompt(steps));
  request.additional_directories = std::vector<std::string>{further};
  const auto reply = Chat(std::move(request));
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->turn.result.outcome, Outcome::kCompleted)
      << reply->turn.result.error.message << reply->turn.result.error.agent_data;
}

TEST_F(ServicesTest, ARequestSeesWhatTheOnesBeforeItWrote) {
  Begin();
  json steps = json::array();
  for (int i = 0; i < 50; ++i) {
    steps.push_back(
        Ask("fs/write_text_file", {{"path", Path("a")}, {"content", std::to_string(i)}}));
    steps.push_back(Ask("fs/read_text_file", {{"path", Path("a")}}));
  }
  for (int i = 0; i < 50; ++i) {
    json wanted = Result({{"content", std::to_string(i)}});
    wanted["id"] = last_id_ - 100 + 2 * (i + 1);
    steps.push_back({{"expect_answer", wanted}});
  }
  Play(steps);
}

TEST_F(ServicesTest, AFileThatIsNotUtf8IsRepairedAndSaidSoOnce) {
  Begin();
  WriteFile(Path("odd"), "caf\xE9\n");
  json steps = json::array();
  for (int i = 0; i < 2; ++i) {
    Add(steps, "fs/read_text_file", {{"path", Path("odd")}}, Result({{"content", "caf\uFFFD\n"}}));
  }
  const std::string session_id = Play(steps);
  const std::vector<std::string> events = Events(session_id);
  EXPECT_EQ(std::count(events.begin(), events.end(), "notice FILE_REPAIRED"), 1);
}

TEST_F(ServicesTest, TooManyWaitingFileRequestsAreRefused) {
  Begin();
  std::filesystem::create_directories(Folder());
  MakeSlowFile(Path("slow"));
  json steps = json::array();
  steps.push_back(Ask("fs/read_text_file", {{"path", Path("slow")}, {"line", 999}, {"limit", 1}}));
  steps.push_back(Ask("fs/write_text_file", {{"path", Path("a")}, {"content", "x"}}));
  for (int i = 1; i < 256; ++i) {
    steps.push_back(Ask("fs/read_text_file", {{"path", Path("a")}}));
  }
  const json last_waiting = Expect(Result({{"content", "x"}}));
  Add(steps, "fs/read_text_file", {{"path", Path("a")}}, Code(kInvalidRequestCode, "256"));
  steps.push_back(last_waiting);
  Play(steps);
}

TEST_F(ServicesTest, ACancelledFileRequestThatWaitsDoesNotBegin) {
  Begin();
  std::filesystem::create_directories(Folder());
  MakeSlowFile(Path("slow"));
  json steps = json::array();
  steps.push_back(Ask("fs/read_text_file", {{"path", Path("slow")}, {"line", 999}, {"limit", 1}}));
  const json slow = Expect(Result({{"content", ""}}));
  steps.push_back(Ask("fs/write_text_file", {{"path", Path("a")}, {"content", "x"}}));
  steps.push_back(
      {{"notify", {{"method", "$/cancel_request"}, {"params", {{"requestId", last_id_}}}}}});
  steps.push_back(Expect(Code(kCancelledCode)));
  steps.push_back(slow);
  const std::string session_id = Play(steps);
  EXPECT_FALSE(std::filesystem::exists(Path("a")));
  EXPECT_FALSE(HasSeen(session_id, "file_written"));
}

}  // namespace
}  // namespace acpd::session
