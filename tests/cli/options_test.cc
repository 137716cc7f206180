// acpctl chat's files, mode and model; set, fork, sessions --agent-side, login and logout.

#include <fstream>

#include "tests/cli/acpctl.h"

namespace acpd::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class OptionCommandsTest : public CliTest {
 protected:
  void SetUp() override {
    const json modes = {{"currentModeId", "code"},
                        {"availableModes",
                         {{{"id", "code"}, {"name", "Code"}}, {{"id", "plan"}, {"name", "Plan"}}}}};
    const json model = {
        {"id", "model"},
        {"name", "Model"},
        {"category", "model"},
        {"type", "select"},
        {"currentValue", "small"},
        {"options",
         {{{"value", "small"}, {"name", "Small"}}, {{"value", "large"}, {"name", "Large"}}}}};
    UseScript(
        {{"setup", {{"modes", modes}, {"configOptions", {model}}}},
         {"auth_methods",
          {{{"id", "key"}, {"name", "By key"}},
           {{"id", "hand"}, {"name", "By hand"}, {"type", "terminal"}}}},
         {"session_pages",
          {{"", {{"sessions", {{{"sessionId", "s-1"}, {"cwd", "/srv"}, {"title", "Old"}}}}}}}},
         {"capabilities",
          {{"promptCapabilities", {{"image", true}, {"embeddedContext", true}}},
           {"auth", {{"logout", json::object()}}},
           {"sessionCapabilities", {{"fork", json::object()}, {"list", json::object()}}}}}});
    StartDaemon();
  }
  json LastParams(const std::string& method) {
    const auto received = log().Received(method);
    return received.empty() ? json() : received.back().at("params");
  }
  std::string Write(const std::string& name, const std::string& bytes) {
    const std::string path = dir() / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
};

TEST_F(OptionCommandsTest, FilesGoWithThePrompt) {
  const std::string image = Write("a.png", "\x89PNG");
  const std::string text = Write("a b.txt", "hello");
  const std::string link = Write("c.md", "# c");
  Run(0, {"chat", "-f", image, "--file", text, "--link", link, "look"});
  const json prompt = LastParams("session/prompt").at("prompt");
  ASSERT_EQ(prompt.size(), 4u);
  EXPECT_EQ(prompt[1], (json{{"type", "image"}, {"data", "iVBORw=="}, {"mimeType", "image/png"}}));
  EXPECT_EQ(prompt[2]["resource"]["text"], "hello");
  EXPECT_THAT(prompt[2]["resource"]["uri"].get<std::string>(), HasSubstr("/a%20b.txt"));
  EXPECT_EQ(prompt[3]["type"], "resource_link");
  EXPECT_EQ(prompt[3]["name"], "c.md");
}

TEST_F(OptionCommandsTest, AFileThatIsNotThereIsSaidAndNothingIsSent) {
  const auto chat = Run(2, {"chat", "-f", "/no/such/file", "look"});
  EXPECT_THAT(chat->Err(), HasSubstr("/no/such/file: No such file or directory"));
  EXPECT_TRUE(log().Pids().empty());
}

TEST_F(OptionCommandsTest, ModeAndModelAreSetBeforeThePrompt) {
  const auto chat = Run(0, {"chat", "--mode", "plan", "--model", "large", "hello"});
  EXPECT_EQ(LastParams("session/set_mode").at("modeId"), "plan");
  EXPECT_EQ(LastParams("session/set_config_option").at("value"), "large");
  const auto wrong = Run(1, {"chat", "--mode", "yolo", "hello"});
  EXPECT_THAT(wrong->Err(), HasSubstr("NOT_SUPPORTED_BY_AGENT"));
  Run(2, {"chat", "--option", "no-equals-sign", "hello"});
}

TEST_F(OptionCommandsTest, SetChangesAndShows) {
  const auto chat = Run(0, {"chat", "hello"});
  const std::string id = chat->WordAfter("session: ");
  const auto shown = Run(0, {"set", id});
  EXPECT_THAT(shown->Out(), AllOf(HasSubstr("mode: code\n"), HasSubstr("  plan: Plan\n"),
                                  HasSubstr("model: small\n"), HasSubstr("  large: Large\n")));
  const auto set =
      Run(0, {"set", id, "--mode", "plan", "--option", "model=large", "--title", "Door"});
  EXPECT_THAT(set->Out(), AllOf(HasSubstr("title: Door\n"), HasSubstr("mode: plan\n"),
                                HasSubstr("model: large\n")));
  Run(3, {"set", id, "--option", "model=huge"});
}

TEST_F(OptionCommandsTest, ForkPrintsTheCopy) {
  const auto chat = Run(0, {"chat", "remember the number 42"});
  const auto fork = Run(0, {"fork", chat->WordAfter("session: ")});
  const std::string copy = fork->Out().substr(0, fork->Out().find('\n'));
  EXPECT_EQ(Run(0, {"chat", "-s", copy, "what number did I say?"})->Out(), "42\n");
}

TEST_F(OptionCommandsTest, SessionsOfTheAgent) {
  EXPECT_EQ(Run(0, {"sessions", "--agent-side"})->Out(), "s-1  /srv  Old\n");
  EXPECT_EQ(json::parse(Run(0, {"--json", "sessions", "--agent-side", "-a", "fake"})->Out())
                .at("agent_session_id"),
            "s-1");
}

TEST_F(OptionCommandsTest, LoginAndLogout) {
  const auto methods = Run(0, {"login", "fake"});
  EXPECT_THAT(methods->Out(), AllOf(HasSubstr("key "), HasSubstr("hand "), HasSubstr("terminal")));
  EXPECT_EQ(Run(0, {"login", "fake", "--method", "key"})->Out(), "logged in\n");
  Run(2, {"login", "fake", "--method", "nothing"});
  Run(0, {"logout", "fake"});
  EXPECT_EQ(log().Received("logout").size(), 1u);
  EXPECT_THAT(Run(3, {"login", "nobody"})->Err(), HasSubstr("AGENT_NOT_FOUND"));
}

// The agent's own command is run by acpctl; the fake one ends at its stdin's end.
TEST_F(OptionCommandsTest, ALoginInATerminalRunsTheAgentsCommand) {
  const auto login = Run(0, {"login", "fake", "--method", "hand"});
  EXPECT_THAT(login->Err(), HasSubstr("logged in\n"));
}

}  // namespace
}  // namespace acpd::cli
