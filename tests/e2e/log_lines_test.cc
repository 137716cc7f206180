// What an operator reads of a turn: a line for each step, with all its ids.

#include <sstream>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

class LogLinesTest : public TurnsTest {
 protected:
  // The lines with this text, in order.
  std::vector<json> Lines(const std::string& text) {
    std::vector<json> lines;
    std::istringstream log(daemon().Log());
    for (std::string line; std::getline(log, line);) {
      json object = json::parse(line);
      if (object.value("msg", "") == text) lines.push_back(std::move(object));
    }
    return lines;
  }
  json TheLine(const std::string& text) {
    EXPECT_TRUE(WaitUntil([&] { return Lines(text).size() == 1; })) << text;
    const std::vector<json> lines = Lines(text);
    return lines.empty() ? json() : lines.front();
  }
};

TEST_F(LogLinesTest, ATurnIsToldStepByStep) {
  StartDaemon();
  const auto chat = client().Say(kProject, "", "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  for (const char* text : {"turn accepted", "session ready", "turn started", "turn ended"}) {
    const json line = TheLine(text);
    EXPECT_EQ(line.value("project", ""), kProject) << text;
    EXPECT_EQ(line.value("session", ""), chat.response.session_id()) << text;
    EXPECT_EQ(line.value("turn", ""), chat.response.turn_id()) << text;
  }
  EXPECT_EQ(TheLine("session ready").value("origin", ""), "NEW");
  EXPECT_EQ(TheLine("turn ended").value("outcome", ""), "COMPLETED");
  EXPECT_NE(TheLine("turn ended").value("worker", ""), "");
  EXPECT_EQ(TheLine("worker started").value("worker", ""), TheLine("turn ended")["worker"]);
  EXPECT_EQ(TheLine("turn ended").value("level", ""), "info");
}

TEST_F(LogLinesTest, AFailureIsAWarningWithItsReason) {
  options().agents["none"] = {.command = "/nowhere/agent", .args = {}, .env = {}};
  StartDaemon();
  api::ChatRequest request = ChatOf(kProject, "", "hello", api::WAIT_FOR_FINISHED);
  request.set_agent("none");
  EXPECT_FALSE(client().Chat(request).ok());
  const json line = TheLine("turn ended");
  EXPECT_EQ(line.value("level", ""), "warning");
  EXPECT_EQ(line.value("outcome", ""), "FAILED");
  EXPECT_EQ(line.value("reason", ""), "AGENT_START_FAILED");
  EXPECT_NE(line.value("error", "").find("/nowhere/agent"), std::string::npos);
}

TEST_F(LogLinesTest, KeysThatAnAgentSaysStayOutOfIt) {
  const std::vector<std::string> keys = {"sk-of-the-caller", "sk-of-the-team",
                                         "token-of-the-agent"};
  options().extra["secrets"] = {{"team", keys[1]}};
  options().agents["fake"].env["SOME_TOKEN"] = keys[2];
  StartDaemon();
  const std::string words = "cannot log in with " + keys[0] + ", " + keys[1] + " or " + keys[2];
  api::ChatRequest request =
      ChatOf(kProject, "", Scripted(Steps(Step("stderr", words), Step("crash", "KILL"))),
             api::WAIT_FOR_FINISHED);
  request.mutable_model_provider()->set_api_key(keys[0]);
  const auto chat = client().Chat(request);
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  // The words themselves are in the line.
  EXPECT_THAT(TheLine("turn ended").value("error", ""),
              ::testing::HasSubstr("cannot log in with ***, *** or ***"));
  EXPECT_EQ(daemon().Stop(), (ExitStatus{0, 0}));
  for (const std::string& key : keys) EXPECT_EQ(daemon().Log().find(key), std::string::npos) << key;
}

}  // namespace
}  // namespace acpd::e2e
