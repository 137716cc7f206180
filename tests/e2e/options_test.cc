// Modes and config options: set by callers and by the config, applied again after each set-up.

#include "tests/e2e/option_fixture.h"

namespace acpd::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Code = grpc::StatusCode;

json FastOption() {
  return {{"id", "fast"}, {"name", "Fast"}, {"type", "boolean"}, {"currentValue", false}};
}

class OptionsTest : public OptionFixture {
 protected:
  static json ModelOption() { return SelectOption("model", "model"); }
  Called<api::Session> SetModel(const std::string& session_id, const std::string& model) {
    return SetValue(session_id, "model", model);
  }
};

TEST_F(OptionsTest, AreShownAsTheAgentHasThem) {
  StartWith({{"modes", TwoModes()}, {"configOptions", {ModelOption(), FastOption()}}});
  const auto session = client().GetSession(NewSession());
  EXPECT_EQ(session.response.mode_id(), "code");
  ASSERT_EQ(session.response.available_modes_size(), 2);
  ASSERT_EQ(session.response.config_options_size(), 2);
  EXPECT_EQ(session.response.config_options(0).category(), "model");
  EXPECT_EQ(session.response.config_options(0).select(), "small");
  EXPECT_EQ(session.response.config_options(0).choices(1).value(), "large");
  EXPECT_TRUE(session.response.config_options(1).has_boolean());
  EXPECT_EQ(session.response.model(), "small");
}

TEST_F(OptionsTest, AModeIsSetAtTheAgentAndAnnounced) {
  StartWith({{"modes", TwoModes()}});
  const std::string id = NewSession();
  const auto set = SetMode(id, "plan");
  ASSERT_TRUE(set.ok()) << set.ToString();
  EXPECT_EQ(set.response.mode_id(), "plan");
  EXPECT_EQ(LastParams("session/set_mode").at("modeId"), "plan");
  const std::vector<Event> events = EventsOf(id);
  ASSERT_TRUE(events.back().has_session_changed());
  EXPECT_THAT(events.back().session_changed().changed(), ElementsAre("mode_id"));
}

TEST_F(OptionsTest, AnOptionIsSetWhileATurnRuns) {
  StartWith({{"configOptions", {ModelOption(), FastOption()}}});
  const std::string id = NewSession();
  const std::string turn = Accept(id, Steps(Barrier("hold")));
  ASSERT_TRUE(barriers().WaitReached("hold"));
  const auto set = SetModel(id, "large");
  ASSERT_TRUE(set.ok()) << set.ToString();
  EXPECT_EQ(set.response.config_options(0).select(), "large");
  EXPECT_EQ(set.response.model(), "large");
  barriers().Release("hold");
  EXPECT_EQ(WaitForTurn(turn).result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
}

TEST_F(OptionsTest, ABooleanIsSetAsOne) {
  StartWith({{"configOptions", {FastOption()}}});
  const std::string id = NewSession();
  api::SetSessionOptionRequest request;
  request.set_session_id(id);
  request.mutable_config()->set_config_id("fast");
  request.mutable_config()->set_boolean(true);
  const auto set = client().Call(&Client::Stub::SetSessionOption, request);
  ASSERT_TRUE(set.ok()) << set.ToString();
  EXPECT_TRUE(set.response.config_options(0).boolean());
  EXPECT_EQ(LastParams("session/set_config_option").at("value"), true);
  EXPECT_EQ(LastParams("session/set_config_option").at("type"), "boolean");
}

TEST_F(OptionsTest, ThoseOfAChatGoBeforeItsPrompt) {
  StartWith({{"modes", TwoModes()}, {"configOptions", {ModelOption()}}});
  api::ChatRequest request = ChatOf(kProject, "", "hello", api::WAIT_FOR_FINISHED);
  request.set_mode_id("plan");
  request.add_config_options()->set_config_id("model");
  request.mutable_config_options(0)->set_select("large");
  const auto chat = client().Chat(request);
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  std::vector<std::string> methods;
  for (const json& message : log().Received()) methods.push_back(message.value("method", ""));
  EXPECT_THAT(methods, ElementsAre("initialize", "session/new", "session/set_mode",
                                   "session/set_config_option", "session/prompt"));
}

TEST_F(OptionsTest, AModeThatIsNotThereFailsTheTurnBeforeItsPrompt) {
  StartWith({{"modes", TwoModes()}});
  api::ChatRequest request = ChatOf(kProject, "", "hello", api::WAIT_FOR_FINISHED);
  request.set_mode_id("yolo");
  const auto chat = client().Chat(request);
  EXPECT_EQ(chat.code(), Code::FAILED_PRECONDITION);
  EXPECT_EQ(chat.reason(), "NOT_SUPPORTED_BY_AGENT");
  EXPECT_THAT(chat.status.error_message(), HasSubstr("code, plan"));
  EXPECT_TRUE(log().Received("session/prompt").empty());
}

TEST_F(OptionsTest, WhatTheAgentRefusesIsSaidWithItsWords) {
  StartWith({{"modes", TwoModes()}},
            {{"session/set_mode", Steps(Error(-32603, "not while the moon is full"))}});
  const std::string id = NewSession();
  const auto set = SetMode(id, "plan");
  EXPECT_EQ(set.reason(), "NOT_SUPPORTED_BY_AGENT");
  EXPECT_THAT(set.status.error_message(), HasSubstr("not while the moon is full"));
  EXPECT_EQ(client().GetSession(id).response.mode_id(), "code");
}

TEST_F(OptionsTest, AreAppliedAgainAfterAResume) {
  StartWith({{"modes", TwoModes()}, {"configOptions", {ModelOption()}}});
  const std::string id = NewSession();
  ASSERT_TRUE(SetMode(id, "plan").ok());
  ASSERT_TRUE(SetModel(id, "large").ok());
  Close(id);
  const auto chat = client().Say(kProject, id, "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.origin().kind(), api::SessionOrigin::KIND_RESUMED);
  EXPECT_EQ(log().Received("session/set_mode").size(), 2u);
  EXPECT_EQ(log().Received("session/set_config_option").size(), 2u);
  const auto session = client().GetSession(id);
  EXPECT_EQ(session.response.mode_id(), "plan");
  EXPECT_EQ(session.response.model(), "large");
}

TEST_F(OptionsTest, AreAppliedToTheSessionThatStandsIn) {
  StartWith({{"modes", TwoModes()}},
            {{"session/resume", Steps(Error(-32002, "Resource not found"))},
             {"session/load", Steps(Error(-32002, "Resource not found"))}});
  const std::string id = NewSession();
  ASSERT_TRUE(SetMode(id, "plan").ok());
  Close(id);
  const auto chat = client().Say(kProject, id, "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.origin().kind(), api::SessionOrigin::KIND_FALLBACK);
  EXPECT_EQ(client().GetSession(chat.response.session_id()).response.mode_id(), "plan");
}

TEST_F(OptionsTest, ARefusalToApplyAgainIsANotice) {
  StartWith({{"modes", TwoModes()}},
            {{"session/set_mode",
              json::array({Steps(Step("reply", json::object())), Steps(Error(-32603, "no"))})}});
  const std::string id = NewSession();
  ASSERT_TRUE(SetMode(id, "plan").ok());
  Close(id);
  const auto chat = client().Say(kProject, id, "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  EXPECT_FALSE(NoticesOf(id, "OPTION_REFUSED").empty());
}

TEST_F(OptionsTest, OfADormantSessionAreKeptForItsNextStart) {
  StartWith({{"modes", TwoModes()}});
  const std::string id = NewSession();
  Close(id);
  const auto set = SetMode(id, "plan");
  ASSERT_TRUE(set.ok()) << set.ToString();
  EXPECT_TRUE(log().Received("session/set_mode").empty());
  KillAndRestartDaemon();
  ASSERT_TRUE(client().Say(kProject, id, "hello").ok());
  EXPECT_EQ(LastParams("session/set_mode").at("modeId"), "plan");
}

TEST_F(OptionsTest, AModeThatTheAgentDoesNotHaveIsRefusedWithoutAWorkerToo) {
  StartWith({{"modes", TwoModes()}});
  const std::string id = NewSession();
  Close(id);
  for (const bool restarted : {false, true}) {
    SCOPED_TRACE(restarted);
    if (restarted) KillAndRestartDaemon();
    const auto set = SetMode(id, "yolo");
    EXPECT_EQ(set.code(), Code::FAILED_PRECONDITION);
    EXPECT_EQ(set.reason(), "NOT_SUPPORTED_BY_AGENT");
    EXPECT_THAT(set.status.error_message(), HasSubstr("code, plan"));
    const auto session = client().GetSession(id);
    EXPECT_EQ(session.response.mode_id(), "code");
    EXPECT_EQ(session.response.available_modes_size(), 0);  // no worker runs
    ASSERT_TRUE(SetMode(id, "plan").ok());
    ASSERT_TRUE(SetMode(id, "code").ok());
  }
}

TEST_F(OptionsTest, AModeIsKeptForAnAgentWhoseModesAreNotKnown) {
  StartWith(json::object());
  const std::string id = NewSession();
  Close(id);
  const auto set = SetMode(id, "plan");
  ASSERT_TRUE(set.ok()) << set.ToString();
  EXPECT_EQ(set.response.mode_id(), "plan");
}

TEST_F(OptionsTest, AModeThatTheAgentLeavesIsNotAppliedAgain) {
  StartWith({{"modes", TwoModes()}});
  const std::string id = NewSession();
  ASSERT_TRUE(SetMode(id, "plan").ok());
  const json left = {{"sessionUpdate", "current_mode_update"}, {"currentModeId", "code"}};
  ASSERT_TRUE(client().Say(kProject, id, Scripted(Steps(Step("update", left)))).ok());
  EXPECT_EQ(client().GetSession(id).response.mode_id(), "code");
  Close(id);
  ASSERT_TRUE(client().Say(kProject, id, "hello").ok());
  EXPECT_EQ(log().Received("session/set_mode").size(), 1u);
}

TEST_F(OptionsTest, OfTheConfigGoToNewSessions) {
  SetFake("initial_mode", "plan");
  SetFake("config_options", json{{"model", "large"}, {"fast", true}});
  StartWith({{"modes", TwoModes()}, {"configOptions", {ModelOption(), FastOption()}}});
  const auto session = client().GetSession(NewSession());
  EXPECT_EQ(session.response.mode_id(), "plan");
  EXPECT_EQ(session.response.model(), "large");
  EXPECT_TRUE(session.response.config_options(1).boolean());
}

TEST_F(OptionsTest, OldModelsAreTheOptionModel) {
  StartWith({{"models",
              {{"currentModelId", "old"},
               {"availableModels",
                {{{"modelId", "old"}, {"name", "Old"}}, {{"modelId", "new"}, {"name", "New"}}}}}}});
  const std::string id = NewSession();
  const auto set = SetModel(id, "new");
  ASSERT_TRUE(set.ok()) << set.ToString();
  EXPECT_EQ(set.response.model(), "new");
  EXPECT_EQ(LastParams("session/set_model").at("modelId"), "new");
  Close(id);
  ASSERT_TRUE(client().Say(kProject, id, "hello").ok());
  EXPECT_EQ(log().Received("session/set_model").size(), 2u);
}

TEST_F(OptionsTest, AModeOptionGoesBeforeModes) {
  json option = ModelOption();
  option["id"] = "the-mode";
  option["category"] = "mode";
  StartWith({{"modes", TwoModes()}, {"configOptions", {option}}});
  const std::string id = NewSession();
  ASSERT_TRUE(SetMode(id, "large").ok());
  EXPECT_EQ(LastParams("session/set_config_option").at("configId"), "the-mode");
  EXPECT_TRUE(log().Received("session/set_mode").empty());
  EXPECT_EQ(client().GetSession(id).response.mode_id(), "large");
}

TEST_F(OptionsTest, AModeOptionSetWhileDormantGoesBeforeTheOlderWish) {
  json option = ModelOption();
  option["id"] = "the-mode";
  option["category"] = "mode";
  StartWith({{"configOptions", {option}}});
  const std::string id = NewSession();
  ASSERT_TRUE(SetMode(id, "large").ok());
  Close(id);
  ASSERT_TRUE(SetMode(id, "small").ok());
  ASSERT_TRUE(client().Say(kProject, id, "hello").ok());
  EXPECT_EQ(client().GetSession(id).response.mode_id(), "small");
}

TEST_F(OptionsTest, TitleAndLabelsAreOurs) {
  StartWith(json::object());
  const std::string id = NewSession();
  api::SetSessionOptionRequest request;
  request.set_session_id(id);
  request.set_title("Mend the door");
  EXPECT_EQ(client().Call(&Client::Stub::SetSessionOption, request).response.title(),
            "Mend the door");
  (*request.mutable_labels()->mutable_labels())["team"] = "blue";
  const auto labelled = client().Call(&Client::Stub::SetSessionOption, request);
  EXPECT_EQ(labelled.response.labels().at("team"), "blue");
  KillAndRestartDaemon();
  EXPECT_EQ(client().GetSession(id).response.title(), "Mend the door");
}

TEST_F(OptionsTest, CommandsAreKept) {
  StartWith(json::object());
  const std::string id = NewSession();
  const json update = {{"sessionUpdate", "available_commands_update"},
                       {"availableCommands", {{{"name", "web"}, {"description", "Search"}}}}};
  ASSERT_TRUE(client().Say(kProject, id, Scripted(Steps(Step("update", update)))).ok());
  const auto session = client().GetSession(id);
  EXPECT_EQ(json::parse(session.response.available_commands_json()), update["availableCommands"]);
}

TEST_F(OptionsTest, ErrorsOfTheCall) {
  StartWith({{"modes", TwoModes()}});
  EXPECT_EQ(SetMode("nobody", "plan").reason(), "SESSION_NOT_FOUND");
  const std::string id = NewSession();
  EXPECT_EQ(SetMode(id, "yolo").reason(), "NOT_SUPPORTED_BY_AGENT");
  EXPECT_EQ(SetModel(id, "x").reason(), "NOT_SUPPORTED_BY_AGENT");
  api::SetSessionOptionRequest none;
  none.set_session_id(id);
  EXPECT_EQ(client().Call(&Client::Stub::SetSessionOption, none).reason(), "INVALID_REQUEST");
}

}  // namespace
}  // namespace acpd::e2e
