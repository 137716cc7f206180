// The limits of what an agent may have of acpd at once: at, under and over their values.
#include "tests/session/services_harness.h"

namespace acpd::session {
namespace {

using ::testing::ElementsAre;

const char kUntilGo[] = "while [ ! -e go ]; do sleep 0.02; done";
const char kTooMany[] = "Too many requests are open";

class ServicesLimitsTest : public ServicesTest {
 protected:
  void AddGo(json& steps) {
    Add(steps, "fs/write_text_file", {{"path", Path("go")}, {"content", ""}},
        Result(json::object()));
  }
  json AskToWait(size_t bytes = 0) {
    json params = Of("term-1");
    if (bytes > 0) params["_meta"] = {{"pad", std::string(bytes, 'x')}};
    return Ask("terminal/wait_for_exit", params);
  }
};

TEST_F(ServicesLimitsTest, SoManyRequestsMayBeOpen) {
  Begin();
  json steps = json::array();
  Add(steps, "terminal/create", Shell(kUntilGo), Result(Of("term-1")));
  steps.push_back(AskToWait());
  const json first = Expect(Code(kCancelledCode));
  const json cancel_first = {
      {"notify", {{"method", "$/cancel_request"}, {"params", {{"requestId", last_id_}}}}}};
  for (size_t i = 1; i < 1024; ++i) steps.push_back(AskToWait());
  const json last = Expect(Result({{"exitCode", 0}}));
  steps.push_back(AskToWait());
  steps.push_back(Expect(Code(kInvalidRequestCode, kTooMany)));
  Add(steps, "fs/read_text_file", {{"path", Path("a")}}, Code(kInvalidRequestCode, kTooMany));
  // With one less there is room for one more.
  steps.push_back(cancel_first);
  steps.push_back(first);
  AddGo(steps);
  steps.push_back(last);
  const std::string session_id = Play(steps);
  EXPECT_EQ(Stored("agent_requests"), 0);
  EXPECT_FALSE(HasSeen(session_id, Path("a")));
}

TEST_F(ServicesLimitsTest, SoManyBytesOfRequestsMayBeOpen) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "70 MiB through the agent and its log take too long here";
#endif
  constexpr size_t kLine = 30u << 20;
  json steps = json::array();
  Add(steps, "terminal/create", Shell(kUntilGo), Result(Of("term-1")));
  steps.push_back(AskToWait(kLine));
  steps.push_back(AskToWait(kLine));
  const json second = Expect(Result({{"exitCode", 0}}));
  steps.push_back(AskToWait(kLine / 6));  // 65 MiB in all
  steps.push_back(Expect(Code(kInvalidRequestCode, kTooMany)));
  steps.push_back(AskToWait(kLine / 10));  // 63 MiB
  const json third = Expect(Result({{"exitCode", 0}}));
  AddGo(steps);
  steps.push_back(second);
  steps.push_back(third);
  steps.push_back(AskToWait(kLine / 6));
  steps.push_back(Expect(Result({{"exitCode", 0}})));
  steps.push_back(kDone);
  // The agent's own script: a prompt of that size is another limit's matter.
  UseScript(json({{"session/prompt", steps}}).dump());
  Begin();
  const ChatReply reply = Say("ask");
  EXPECT_EQ(reply.turn.result.outcome, Outcome::kCompleted) << reply.turn.result.error.message;
  EXPECT_EQ(Stored("agent_requests"), 0);
}

TEST_F(ServicesLimitsTest, OutputUpToWhatIsKept) {
  config().limits.max_terminal_output = 8;
  Begin();
  const struct {
    json limit;
    std::string written, kept;
    bool truncated;
  } cases[] = {
      {5, "1234", "1234", false},
      {5, "12345", "12345", false},
      {5, "123456", "23456", true},
      {0, "1", "", true},
      {nullptr, "12345678", "12345678", false},
      {nullptr, "123456789", "23456789", true},
      {9, "12345678", "12345678", false},
      {9, "123456789", "23456789", true},
  };
  json steps = json::array();
  int number = 1;
  for (const auto& each : cases) {
    const std::string id = "term-" + std::to_string(number);
    json create = Shell("printf " + each.written);
    create["outputByteLimit"] = each.limit;
    Add(steps, "terminal/create", create, Result(Of(id)));
    Add(steps, "terminal/wait_for_exit", Of(id), Result({{"exitCode", 0}}));
    Add(steps, "terminal/output", Of(id),
        Result({{"output", each.kept}, {"truncated", each.truncated}}));
    number += 3;
  }
  Play(steps);
}

TEST_F(ServicesLimitsTest, FilesUpToTheirSize) {
  config().limits.max_file_read = 100;
  config().limits.max_file_write = 50;
  Begin();
  WriteFile(Path("at"), std::string(100, 'x'));
  WriteFile(Path("over"), std::string(101, 'x'));
  json steps = json::array();
  const char kRead[] = "fs/read_text_file", kWrite[] = "fs/write_text_file";
  Add(steps, kRead, {{"path", Path("at")}}, Result({{"content", std::string(100, 'x')}}));
  Add(steps, kRead, {{"path", Path("over")}}, Code(kInvalidParamsCode, "100 bytes"));
  Add(steps, kWrite, {{"path", Path("new")}, {"content", std::string(50, 'y')}},
      Result(json::object()));
  Add(steps, kWrite, {{"path", Path("new")}, {"content", std::string(51, 'z')}},
      Code(kInvalidParamsCode, "50 of one write"));
  const std::string session_id = Play(steps);
  EXPECT_EQ(ReadFile(Path("new")), std::string(50, 'y'));
  EXPECT_THAT(Seen(session_id),
              ElementsAre("file_read " + Path("at") + " bytes=100 ",
                          "file_read " + Path("over") + " bytes=0 MESSAGE_TOO_LARGE",
                          "file_written " + Path("new") + " bytes=50 ",
                          "file_written " + Path("new") + " bytes=0 MESSAGE_TOO_LARGE"));
}

}  // namespace
}  // namespace acpd::session
