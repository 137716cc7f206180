// Modes and options that the agent itself changes, and what is wanted after each way in which a
// session gets a new agent session.

#include <ostream>

#include "tests/e2e/option_fixture.h"

namespace acpd::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

class OptionUpdatesTest : public OptionFixture {
 protected:
  static json ModeUpdate(const std::string& mode_id) {
    return {{"sessionUpdate", "current_mode_update"}, {"currentModeId", mode_id}};
  }
  static json OptionUpdate(const json& options) {
    return {{"sessionUpdate", "config_option_update"}, {"configOptions", options}};
  }
};

TEST_F(OptionUpdatesTest, TheAgentsOwnModeIsShownAndAnnounced) {
  StartWith({{"modes", TwoModes()}});
  const std::string id = NewSession();
  SayUpdate(id, ModeUpdate("plan"));
  EXPECT_EQ(Get(id).mode_id(), "plan");
  SayUpdate(id, ModeUpdate("plan"));  // nothing new
  const std::vector<api::SessionChanged> changes = ChangesOf(id);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_THAT(changes[0].changed(), ElementsAre("mode_id"));
  EXPECT_EQ(changes[0].session().mode_id(), "plan");
  EXPECT_EQ(changes[0].principal(), "");
  KillAndRestartDaemon();
  EXPECT_EQ(Get(id).mode_id(), "plan");
}

TEST_F(OptionUpdatesTest, TheAgentsOwnOptionsAreShownAndAnnounced) {
  StartWith({{"configOptions", {SelectOption("model", "model"), SelectOption("effort", "other")}}});
  const std::string id = NewSession();
  const json changed = {SelectOption("model", "model", "large"), SelectOption("effort", "other")};
  SayUpdate(id, OptionUpdate(changed));
  SayUpdate(id, OptionUpdate(changed));  // nothing new
  const std::vector<api::SessionChanged> changes = ChangesOf(id);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_THAT(changes[0].changed(), UnorderedElementsAre("config_options", "model"));
  EXPECT_EQ(changes[0].session().model(), "large");
  ASSERT_EQ(changes[0].session().config_options_size(), 2);
  EXPECT_EQ(changes[0].session().config_options(0).select(), "large");
  const api::Session session = Get(id);
  EXPECT_EQ(session.model(), "large");
  ASSERT_EQ(session.config_options_size(), 2);
  EXPECT_EQ(session.config_options(0).select(), "large");
  EXPECT_EQ(session.config_options(1).select(), "small");
}

TEST_F(OptionUpdatesTest, AnUpdateIsTheWholeListAndMayComeAfterTheTurn) {
  StartWith({{"configOptions", {SelectOption("model", "model"), SelectOption("effort", "other")}}});
  const std::string id = NewSession();
  const json fewer = json::array({SelectOption("model", "model")});
  ASSERT_TRUE(client()
                  .Say(kProject, id,
                       Scripted(Steps(Reply("end_turn"), Step("update", OptionUpdate(fewer)))))
                  .ok());
  EXPECT_TRUE(WaitUntil([&] { return Get(id).config_options_size() == 1; }));
  EXPECT_EQ(SetValue(id, "effort", "large").reason(), "NOT_SUPPORTED_BY_AGENT");
}

TEST_F(OptionUpdatesTest, AnUpdateWithoutItsListChangesNothing) {
  StartWith({{"configOptions", {SelectOption("effort", "other")}}});
  const std::string id = NewSession();
  SayUpdate(id, {{"sessionUpdate", "config_option_update"}});
  SayUpdate(id, OptionUpdate("effort"));
  EXPECT_TRUE(ChangesOf(id).empty());
  EXPECT_EQ(Get(id).config_options_size(), 1);
}

TEST_F(OptionUpdatesTest, AModeThatIsAnOptionChangesTheMode) {
  StartWith({{"configOptions", {SelectOption("the-mode", "mode")}}});
  const std::string id = NewSession();
  EXPECT_EQ(Get(id).mode_id(), "small");
  SayUpdate(id, OptionUpdate(json::array({SelectOption("the-mode", "mode", "large")})));
  EXPECT_EQ(Get(id).mode_id(), "large");
  const std::vector<api::SessionChanged> changes = ChangesOf(id);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_THAT(changes[0].changed(), UnorderedElementsAre("config_options", "mode_id"));
}

TEST_F(OptionUpdatesTest, OldModelsOutliveAListWithoutThem) {
  StartWith({{"models", OldModels()}, {"configOptions", {SelectOption("effort", "other")}}});
  const std::string id = NewSession();
  EXPECT_EQ(Get(id).model(), "old");
  SayUpdate(id, OptionUpdate(json::array({SelectOption("effort", "other", "large")})));
  EXPECT_EQ(Get(id).config_options_size(), 2);
  const auto set = SetValue(id, "model", "new");
  ASSERT_TRUE(set.ok()) << set.ToString();
  EXPECT_EQ(set.response.model(), "new");
  EXPECT_EQ(LastParams("session/set_model").at("modelId"), "new");
  EXPECT_EQ(SetValue(id, "model", "none such").reason(), "NOT_SUPPORTED_BY_AGENT");
}

// A resume may be answered with nothing: what the new process has chosen is not known then.
TEST_F(OptionUpdatesTest, WhatAResumeDoesNotTellIsSetAgain) {
  SetFake("resume", {"session/resume"});
  StartWith({{"modes", TwoModes()}, {"configOptions", {SelectOption("effort", "thought_level")}}},
            {{"session/resume", Steps(Step("reply", json::object()))}});
  const std::string id = NewSession();
  ASSERT_TRUE(SetMode(id, "plan").ok());
  ASSERT_TRUE(SetValue(id, "effort", "large").ok());
  Close(id);
  const auto chat = client().Say(kProject, id, "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  ASSERT_EQ(chat.response.origin().kind(), api::SessionOrigin::KIND_RESUMED);
  EXPECT_EQ(log().Received("session/set_mode").size(), 2u);
  EXPECT_EQ(log().Received("session/set_config_option").size(), 2u);
  EXPECT_EQ(LastParams("session/set_mode").at("modeId"), "plan");
  EXPECT_TRUE(NoticesOf(id, "OPTION_REFUSED").empty());
  const api::Session session = Get(id);
  EXPECT_EQ(session.mode_id(), "plan");
  ASSERT_EQ(session.config_options_size(), 1);
  EXPECT_EQ(session.config_options(0).select(), "large");
  EXPECT_TRUE(SetMode(id, "code").ok());
}

// A way in which the session comes to another agent session.
struct Way {
  const char* name;
  std::vector<std::string> resume;
  bool is_lost;  // the agent does not find it
  bool prompted;
  api::SessionOrigin::Kind kind;
  api::SessionOrigin::Method method;
};

void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

class WantedAgainTest : public OptionUpdatesTest, public ::testing::WithParamInterface<Way> {
 protected:
  json Script() const {
    json script = {{"meta_resume", true}};
    if (!GetParam().is_lost) return script;
    script["session/resume"] = Steps(Error(-32002, "Resource not found"));
    return script;
  }
  std::string Make() {
    api::CreateSessionRequest request;
    request.mutable_setup()->set_project_id(kProject);
    const auto made = client().Call(&Client::Stub::CreateSession, request);
    EXPECT_TRUE(made.ok()) << made.ToString();
    if (GetParam().prompted) {
      EXPECT_TRUE(client().Say(kProject, made.response.session_id(), "hello").ok());
    }
    return made.response.session_id();
  }
  // By the agent itself, where a prompt may be sent.
  void ChooseEffort(const std::string& id) {
    if (GetParam().prompted) {
      SayUpdate(id, OptionUpdate(json::array({SelectOption("effort", "thought_level", "large")})));
    } else {
      EXPECT_TRUE(SetValue(id, "effort", "large").ok());
    }
  }
  // What the agent that was started last got of these methods.
  std::vector<std::string> MethodsOfTheLast() {
    std::vector<std::string> methods;
    for (const json& message : log().Received()) {
      const std::string method = message.value("method", "");
      if (method == "initialize") methods.clear();
      if (method.starts_with("session/set") || method == "session/prompt")
        methods.push_back(method);
    }
    return methods;
  }
};

using Origin = api::SessionOrigin;

INSTANTIATE_TEST_SUITE_P(
    Ways, WantedAgainTest,
    ::testing::Values(
        Way{"New", {"session/resume"}, false, false, Origin::KIND_NEW, Origin::METHOD_UNSPECIFIED},
        Way{"Resume",
            {"session/resume"},
            false,
            true,
            Origin::KIND_RESUMED,
            Origin::METHOD_SESSION_RESUME},
        Way{"Load",
            {"session/load"},
            false,
            true,
            Origin::KIND_RESUMED,
            Origin::METHOD_SESSION_LOAD},
        Way{"Meta", {"meta"}, false, true, Origin::KIND_RESUMED, Origin::METHOD_META},
        Way{"Fallback",
            {"session/resume"},
            true,
            true,
            Origin::KIND_FALLBACK,
            Origin::METHOD_UNSPECIFIED}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_P(WantedAgainTest, ModeOptionsAndOldModelsAreAppliedBeforeThePrompt) {
  SetFake("resume", GetParam().resume);
  StartWith({{"modes", TwoModes()},
             {"models", OldModels()},
             {"configOptions", {SelectOption("effort", "thought_level")}}},
            Script());
  const std::string id = Make();
  ASSERT_TRUE(SetMode(id, "plan").ok());
  ASSERT_TRUE(SetValue(id, "model", "new").ok());
  ChooseEffort(id);
  Close(id);
  const auto chat = client().Say(kProject, id, "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.origin().kind(), GetParam().kind);
  EXPECT_EQ(chat.response.origin().method(), GetParam().method);
  EXPECT_THAT(MethodsOfTheLast(), ElementsAre("session/set_mode", "session/set_model",
                                              "session/set_config_option", "session/prompt"));
  EXPECT_EQ(LastParams("session/set_mode").at("modeId"), "plan");
  EXPECT_EQ(LastParams("session/set_model").at("modelId"), "new");
  EXPECT_EQ(LastParams("session/set_config_option").at("value"), "large");
  EXPECT_EQ(LastParams("session/set_mode").at("sessionId"), chat.response.agent_session_id());
  const api::Session session = Get(chat.response.session_id());
  EXPECT_EQ(session.mode_id(), "plan");
  EXPECT_EQ(session.model(), "new");
  EXPECT_TRUE(NoticesOf(chat.response.session_id(), "OPTION_REFUSED").empty());
}

}  // namespace
}  // namespace acpd::e2e
