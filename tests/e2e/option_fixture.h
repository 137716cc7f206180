#ifndef ACPD_TESTS_E2E_OPTION_FIXTURE_H_
#define ACPD_TESTS_E2E_OPTION_FIXTURE_H_

#include <string>
#include <utility>
#include <vector>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {

// What the tests of modes and options share: an agent that has them, and the calls.
class OptionFixture : public TurnsTest {
 protected:
  static json TwoModes() {
    return {{"currentModeId", "code"},
            {"availableModes",
             {{{"id", "code"}, {"name", "Code"}}, {{"id", "plan"}, {"name", "Plan"}}}}};
  }
  static json SelectOption(const std::string& id, const std::string& category,
                           const std::string& current = "small") {
    return {{"id", id},
            {"name", "A choice"},
            {"category", category},
            {"type", "select"},
            {"currentValue", current},
            {"options",
             {{{"value", "small"}, {"name", "Small"}}, {{"value", "large"}, {"name", "Large"}}}}};
  }
  static json OldModels() {
    return {{"currentModelId", "old"},
            {"availableModels",
             {{{"modelId", "old"}, {"name", "Old"}}, {{"modelId", "new"}, {"name", "New"}}}}};
  }

  // The agent `fake` with this part of its set-up's answers, and this script.
  void StartWith(json setup, json script = json::object()) {
    script["setup"] = std::move(setup);
    UseScript(script);
    StartDaemon();
  }
  std::string NewSession() {
    const auto chat = client().Say(kProject, "", "hello");
    EXPECT_TRUE(chat.ok()) << chat.ToString();
    return chat.response.session_id();
  }
  Called<api::Session> SetMode(const std::string& session_id, const std::string& mode_id) {
    api::SetSessionOptionRequest request;
    request.set_session_id(session_id);
    request.set_mode_id(mode_id);
    return client().Call(&Client::Stub::SetSessionOption, request);
  }
  Called<api::Session> SetValue(const std::string& session_id, const std::string& config_id,
                                const std::string& value) {
    api::SetSessionOptionRequest request;
    request.set_session_id(session_id);
    request.mutable_config()->set_config_id(config_id);
    request.mutable_config()->set_select(value);
    return client().Call(&Client::Stub::SetSessionOption, request);
  }
  Called<api::Session> SetTitle(const std::string& session_id, const std::string& title) {
    api::SetSessionOptionRequest request;
    request.set_session_id(session_id);
    request.set_title(title);
    return client().Call(&Client::Stub::SetSessionOption, request);
  }
  // A turn in which the agent sends this update.
  void SayUpdate(const std::string& session_id, const json& update) {
    const auto chat = client().Say(kProject, session_id, Scripted(Steps(Step("update", update))));
    EXPECT_TRUE(chat.ok()) << chat.ToString();
  }
  void Close(const std::string& session_id) {
    const auto closed = client().CloseSession(session_id);
    ASSERT_TRUE(closed.ok()) << closed.ToString();
    ASSERT_EQ(closed.response.state(), api::Session::STATE_DORMANT);
  }
  api::Session Get(const std::string& session_id) {
    const auto session = client().GetSession(session_id);
    EXPECT_TRUE(session.ok()) << session.ToString();
    return session.response;
  }
  // What the session's readers were told of its changes, in order.
  std::vector<api::SessionChanged> ChangesOf(const std::string& session_id) {
    std::vector<api::SessionChanged> changes;
    for (const Event& event : EventsOf(session_id)) {
      if (event.has_session_changed()) changes.push_back(event.session_changed());
    }
    return changes;
  }
  std::vector<api::Notice> NoticesOf(const std::string& session_id, const std::string& code) {
    std::vector<api::Notice> notices;
    for (const Event& event : EventsOf(session_id)) {
      if (event.has_notice() && event.notice().code() == code) notices.push_back(event.notice());
    }
    return notices;
  }
  // Of the last request of this method.
  json LastParams(const std::string& method) {
    const std::vector<json> received = log().Received(method);
    return received.empty() ? json::object() : received.back().at("params");
  }
};

}  // namespace acpd::e2e

#endif  // ACPD_TESTS_E2E_OPTION_FIXTURE_H_
