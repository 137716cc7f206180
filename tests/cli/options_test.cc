// acpctl chat's files, mode and model; set, fork, sessions --agent-side, login and logout.

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/acpctl.h"

namespace acpd::cli {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
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

TEST_F(OptionCommandsTest, AFileNeedsNoPrompt) {
  Run(0, {"chat", "-f", Write("a.png", "\x89PNG")});
  const json prompt = LastParams("session/prompt").at("prompt");
  ASSERT_EQ(prompt.size(), 1u);
  EXPECT_EQ(prompt[0]["type"], "image");
  EXPECT_THAT(Run(2, {"chat"})->Err(), HasSubstr("A prompt, --file or --link is required"));
}

TEST_F(OptionCommandsTest, AFolderIsLinkedTo) {
  const std::string folder = dir().MakeFolder("src");
  Run(0, {"chat", "--link", folder, "look"});
  const json link = LastParams("session/prompt").at("prompt").at(1);
  EXPECT_EQ(link["type"], "resource_link");
  EXPECT_EQ(link["name"], "src");
  EXPECT_EQ(link["mimeType"], "inode/directory");
  EXPECT_EQ(link.count("size"), 0u);
}

TEST_F(OptionCommandsTest, FilesThatCannotBeAddedAreSaidAndNothingIsSent) {
  const std::string pipe = dir() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string large = Write("large.bin", "");
  std::filesystem::resize_file(large, (30u << 20) + 1);
  const std::string half = Write("half.bin", "");
  std::filesystem::resize_file(half, 16u << 20);
  const std::string folder = dir().MakeFolder("folder");
  const std::vector<std::pair<std::vector<std::string>, std::string>> rows = {
      {{"-f", "/no/such/file"}, "/no/such/file: No such file or directory\n"},
      {{"--link", "/no/such/file"}, "/no/such/file: No such file or directory\n"},
      {{"-f", folder}, folder + ": it is a folder; --link names it to the agent\n"},
      {{"-f", pipe}, pipe + ": it is a pipe or a device; copy it into a file\n"},
      {{"-f", large}, large + ": with it the prompt has more than 30 MiB; use --link\n"},
      {{"-f", half, "-f", half}, half + ": with it the prompt has more than 30 MiB; use --link\n"},
      {{"-f", ""}, "--file: it is empty; give a value or leave it out\n"}};
  for (const auto& [files, sentence] : rows) {
    std::vector<std::string> args = {"chat", "look"};
    args.insert(args.end(), files.begin(), files.end());
    EXPECT_THAT(Run(2, args)->Err(), HasSubstr(sentence));
  }
  EXPECT_TRUE(log().Pids().empty());
}

TEST_F(OptionCommandsTest, ModeAndModelAreSetBeforeThePrompt) {
  Run(0, {"chat", "--mode", "plan", "--model", "large", "hello"});
  EXPECT_EQ(LastParams("session/set_mode").at("modeId"), "plan");
  EXPECT_EQ(LastParams("session/set_config_option").at("value"), "large");
  Run(0, {"chat", "--option", "model=large", "two", "words"});
  EXPECT_EQ(log().Received("session/set_config_option").size(), 2u);
  EXPECT_EQ(LastParams("session/prompt").at("prompt").at(0).at("text"), "two words");
}

TEST_F(OptionCommandsTest, WhatTheAgentDoesNotHaveIsSaidWithWhatItHas) {
  EXPECT_THAT(
      Run(1, {"chat", "--mode", "yolo", "hello"})->Err(),
      AllOf(HasSubstr("NOT_SUPPORTED_BY_AGENT"), HasSubstr("\"yolo\"; it has: code, plan")));
  EXPECT_THAT(Run(1, {"chat", "--model", "huge", "hello"})->Err(),
              HasSubstr("\"model\" cannot be \"huge\"; it offers: small, large"));
  EXPECT_THAT(Run(1, {"chat", "--option", "colour=red", "hello"})->Err(),
              HasSubstr("no option \"colour\"; it has: model"));
  EXPECT_TRUE(log().Received("session/prompt").empty());
}

TEST_F(OptionCommandsTest, OptionsThatAreWrongAreSaidAndNothingIsSent) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> rows = {
      {{"chat", "--option", "model", "hello"}, "\"model\" is no ID=VALUE, such as model=opus"},
      {{"chat", "--option", "=x", "hello"}, "\"=x\" is no ID=VALUE"},
      {{"set", "s", "--option", "model"}, "\"model\" is no ID=VALUE"},
      {{"chat", "--option", "a=1", "--option", "a=2", "hello"}, "the option \"a\" is given twice"},
      {{"chat", "--model", "x", "--option", "model=y", "hello"},
       "the option \"model\" is given twice; give it once"},
      {{"chat", "--require-resume", "--with-transcript", "hello"}, "excludes"},
      {{"chat", "-s", "", "hello"}, "--session: it is empty; give a value or leave it out"},
      {{"chat", "--mode", "", "hello"}, "--mode: it is empty"},
      {{"chat", "--provider-model", "", "hello"}, "--provider-model: it is empty"},
      {{"fork", ""}, "session: it is empty"},
      {{"login", ""}, "agent: it is empty"},
      {{"sessions", "-a", "fake"}, "--agent requires --agent-side"},
      {{"sessions", "--cwd", "/srv"}, "--cwd requires --agent-side"},
      {{"sessions", "--agent-side", "-p", "shop"}, "excludes"},
      {{"cancel", "--all", "--queued"}, "--queued requires --session"},
      {{"chat", "\xff"}, "argument 2 is no text in UTF-8"}};
  for (const auto& [args, sentence] : rows) {
    EXPECT_THAT(Run(2, args)->Err(), HasSubstr(sentence));
  }
  EXPECT_TRUE(log().Pids().empty());
}

TEST_F(OptionCommandsTest, AFolderIsTakenFromHere) {
  EXPECT_THAT(Run(2, {"chat", "--cwd", "./no-such-folder/", "hello"})->Err(),
              AllOf(HasSubstr("CWD_NOT_FOUND"),
                    HasSubstr((std::filesystem::current_path() / "no-such-folder").string())));
}

TEST_F(OptionCommandsTest, TheProvidersModelGoesIntoTheAgentsEnvironment) {
  options().agents["fake"].env["THE_MODEL"] = "${model.model}";
  RestartDaemon();
  const auto chat = Run(
      0, {"chat", "--provider-model", "opus", Scripted(json::array({{{"say_env", "THE_MODEL"}}}))});
  EXPECT_EQ(chat->Out(), "THE_MODEL=opus\n");
}

TEST_F(OptionCommandsTest, EachCommandsHelpHasAnExample) {
  for (const char* command :
       {"chat", "watch", "history", "cancel", "respond", "sessions", "close", "delete", "set",
        "fork", "agents", "login", "logout", "info", "drain", "stop", "wirelog"}) {
    EXPECT_THAT(Run(0, {command, "--help"})->Out(),
                ContainsRegex("\nExamples?:\n  acpctl .*" + std::string(command)));
  }
}

TEST_F(OptionCommandsTest, SetChangesAndShows) {
  const auto chat = Run(0, {"chat", "hello"});
  const std::string id = chat->WordAfter("session: ");
  const auto shown = Run(0, {"set", id});
  EXPECT_EQ(shown->Out(),
            "title: \nmode: code\n * code: Code\n   plan: Plan\n"
            "model: small\n * small: Small\n   large: Large\n");
  const auto set =
      Run(0, {"set", id, "--mode", "plan", "--option", "model=large", "--title", "Door"});
  EXPECT_THAT(set->Out(), AllOf(HasSubstr("title: Door\n"), HasSubstr("mode: plan\n"),
                                HasSubstr("model: large\n")));
  const auto refused = Run(3, {"set", id, "--mode", "code", "--option", "model=huge"});
  EXPECT_THAT(refused->Err(),
              AllOf(HasSubstr("it offers: small, large"),
                    HasSubstr("acpctl: 1 change(s) before it stand; `acpctl set " + id + "`")));
  EXPECT_THAT(Run(0, {"set", id})->Out(), HasSubstr("mode: code\n"));
  EXPECT_THAT(Run(3, {"set", "nobody", "--mode", "plan"})->Err(), HasSubstr("SESSION_NOT_FOUND"));
}

TEST_F(OptionCommandsTest, ForkPrintsTheCopy) {
  const auto chat = Run(0, {"chat", "remember the number 42"});
  const auto fork = Run(0, {"fork", chat->WordAfter("session: ")});
  const std::string copy = fork->Out().substr(0, fork->Out().find('\n'));
  EXPECT_EQ(Run(0, {"chat", "-s", copy, "what number did I say?"})->Out(), "42\n");
  EXPECT_THAT(Run(3, {"fork", "nobody"})->Err(), HasSubstr("SESSION_NOT_FOUND"));
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
  EXPECT_THAT(Run(2, {"login", "fake", "--method", "nothing"})->Err(),
              AllOf(HasSubstr("nothing"), HasSubstr("key, hand")));
  EXPECT_EQ(Run(0, {"logout", "fake"})->Out(), "logged out\n");
  EXPECT_EQ(log().Received("logout").size(), 1u);
  EXPECT_THAT(Run(3, {"login", "nobody"})->Err(), HasSubstr("AGENT_NOT_FOUND"));
}

// The agent's own command is run by acpctl; the fake one ends at its stdin's end.
TEST_F(OptionCommandsTest, ALoginInATerminalRunsTheAgentsCommand) {
  const auto login = Run(0, {"login", "fake", "--method", "hand"});
  EXPECT_EQ(login->Out(), "logged in\n");
  EXPECT_THAT(login->Err(), HasSubstr("running: "));
  EXPECT_THAT(login->Err(), HasSubstr("fake_agent"));
}

}  // namespace
}  // namespace acpd::cli
