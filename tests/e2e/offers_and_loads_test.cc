// What an agent is offered to read and to write; and what session/load brings it of the session's
// settings.

#include <filesystem>

#include "tests/e2e/services_support.h"

namespace acpd::e2e {
namespace {

class FsReadOffTest : public ServicesTest {
 protected:
  static json Refused(int id) { return Step("expect_answer", {{"id", id}, {"code", -32601}}); }
};

TEST_F(FsReadOffTest, ReadingIsRefusedAndWritingIsServed) {
  const json capabilities = {{"fs_read", false}};
  SetFake("capabilities", capabilities);
  StartDaemon();
  const std::string turn =
      Accept("", Steps(Ask(1, "fs/write_text_file", {{"path", Path("a.txt")}, {"content", "text"}}),
                       Expect(1, json::object()),
                       Ask(2, "fs/read_text_file", {{"path", Path("a.txt")}}), Refused(2),
                       Ask(3, "fs/write_text_file", {{"path", Path("b.txt")}, {"content", "more"}}),
                       Expect(3, json::object())));
  ExpectCompleted(turn);
  EXPECT_EQ(ReadFile(Path("a.txt")), "text");
  EXPECT_EQ(ReadFile(Path("b.txt")), "more");
  size_t writes = 0;
  for (const Event& event : EventsOfTurn(turn)) {
    if (!event.has_file_access()) continue;
    EXPECT_TRUE(event.file_access().write()) << "a read that is switched off is no access";
    ++writes;
  }
  EXPECT_EQ(writes, 2u);
}

TEST_F(FsReadOffTest, TheAgentIsToldAtInitialize) {
  const json capabilities = {{"fs_read", false}};
  SetFake("capabilities", capabilities);
  StartDaemon();
  const auto chat = client().Say(kProject, "", "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const json offered = log().Received("initialize").back().at("params").at("clientCapabilities");
  EXPECT_FALSE(offered.at("fs").at("readTextFile"));
  EXPECT_TRUE(offered.at("fs").at("writeTextFile"));
  EXPECT_TRUE(offered.at("terminal"));
}

TEST_F(FsReadOffTest, WithoutFsNothingOfIt) {
  const json capabilities = {{"fs", false}};
  SetFake("capabilities", capabilities);
  StartDaemon();
  const std::string turn =
      Accept("", Steps(Ask(1, "fs/read_text_file", {{"path", Path("a.txt")}}), Refused(1),
                       Ask(2, "fs/write_text_file", {{"path", Path("a.txt")}, {"content", "text"}}),
                       Refused(2)));
  ExpectCompleted(turn);
  EXPECT_FALSE(std::filesystem::exists(Path("a.txt")));
  const json offered = log().Received("initialize").back().at("params").at("clientCapabilities");
  for (const char* key : {"readTextFile", "writeTextFile"})
    EXPECT_FALSE(offered.at("fs").at(key)) << key;
}

class SettingsAtLoadTest : public TurnsTest {
 protected:
  // A session with all settings, which has no worker; its id.
  std::string MakeWithSettings() {
    UseScript(
        {{"capabilities", {{"sessionCapabilities", {{"additionalDirectories", json::object()}}}}}});
    SetFake("resume", json::array({"session/load"}));
    std::filesystem::create_directories(further_);
    options().extra["allowed_roots"] = json::array({further_});
    StartDaemon();
    api::ChatRequest request = Hello("");
    request.set_system_prompt("Be brief.");
    request.set_meta_json(R"({"team": {"name": "blue"}})");
    request.add_additional_directories(further_);
    const auto chat = client().Chat(request);
    EXPECT_TRUE(chat.ok()) << chat.ToString();
    EXPECT_TRUE(client().CloseSession(chat.response.session_id()).ok());
    return chat.response.session_id();
  }
  static api::ChatRequest Hello(const std::string& session_id) {
    return ChatOf(kProject, session_id, "hello", api::WAIT_FOR_FINISHED);
  }
  // The agent has had one load with all of it.
  void ExpectLoaded(const api::ChatResponse& chat, const std::string& system_prompt) {
    EXPECT_EQ(chat.origin().method(), api::SessionOrigin::METHOD_SESSION_LOAD);
    const std::vector<json> loads = log().Received("session/load");
    ASSERT_EQ(loads.size(), 1u);
    const json& params = loads[0].at("params");
    EXPECT_EQ(params.at("sessionId"), chat.agent_session_id());
    EXPECT_EQ(params.at("additionalDirectories"), json::array({further_}));
    EXPECT_EQ(params.at("_meta").at("systemPrompt"), (json{{"append", system_prompt}}));
    EXPECT_EQ(params.at("_meta").at("team"), (json{{"name", "blue"}}));
    EXPECT_TRUE(log().Received("session/resume").empty());
  }

  const std::string further_ = dir() / "further";
};

TEST_F(SettingsAtLoadTest, StandInItsParams) {
  const std::string id = MakeWithSettings();
  const auto chat = client().Chat(Hello(id));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  ExpectLoaded(chat.response, "Be brief.");
}

TEST_F(SettingsAtLoadTest, StandInItsParamsAfterARestart) {
  const std::string id = MakeWithSettings();
  RestartDaemon();
  const auto chat = client().Chat(Hello(id));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  ExpectLoaded(chat.response, "Be brief.");
}

TEST_F(SettingsAtLoadTest, AreThoseOfTheChatThatLoads) {
  const std::string id = MakeWithSettings();
  api::ChatRequest request = Hello(id);
  request.set_system_prompt("Be thorough.");
  const auto chat = client().Chat(request);
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  ExpectLoaded(chat.response, "Be thorough.");
}

}  // namespace
}  // namespace acpd::e2e
