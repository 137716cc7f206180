// SetSessionOption where it cannot be done: the agent dies or is silent, the session was replaced
// or has no worker, nothing is asked for.

#include "tests/e2e/option_fixture.h"

namespace acpd::e2e {
namespace {

using ::testing::HasSubstr;

class OptionFailuresTest : public OptionFixture {};

TEST_F(OptionFailuresTest, TheAgentDiesWhileItHasTheRequest) {
  StartWith({{"modes", TwoModes()}},
            {{"session/set_mode", json::array({Steps(Step("exit", 3)), Steps("reply")})}});
  const std::string id = NewSession();
  const auto set = SetMode(id, "plan");
  EXPECT_EQ(set.code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(set.reason(), "AGENT_EXITED");
  EXPECT_THAT(set.status.error_message(), HasSubstr("the mode \"plan\""));
  ASSERT_TRUE(WaitForState(id, api::Session::STATE_DORMANT));
  EXPECT_EQ(Get(id).mode_id(), "code") << "it was never taken";
  const auto next = client().Say(kProject, id, "hello");
  ASSERT_TRUE(next.ok()) << next.ToString();
  EXPECT_EQ(next.response.origin().kind(), api::SessionOrigin::KIND_RESUMED);
  EXPECT_TRUE(SetMode(id, "plan").ok());
  EXPECT_EQ(Get(id).mode_id(), "plan");
}

TEST_F(OptionFailuresTest, TheAgentDiesOverAnOptionInTheMiddleOfATurn) {
  StartWith({{"configOptions", {SelectOption("model", "model")}}},
            {{"session/set_config_option", Steps(Step("crash", "KILL"))}});
  const std::string id = NewSession();
  const std::string turn = Accept(id, Steps(Barrier("hold")));
  ASSERT_TRUE(barriers().WaitReached("hold"));
  EXPECT_EQ(SetValue(id, "model", "large").reason(), "AGENT_EXITED");
  EXPECT_EQ(WaitForTurn(turn).result().error().reason(), "AGENT_EXITED");
  EXPECT_EQ(CountEnds(turn), 1u);
}

TEST_F(OptionFailuresTest, ASilentAgentHasSessionSetupTimeoutAndItsLateAnswerMeansNothing) {
  SetFake("session_setup_timeout", "4s");
  StartWith({{"modes", TwoModes()}},
            {{"session/set_mode", json::array({Steps(Barrier("late"), "reply"), Steps("reply")})}});
  const std::string id = NewSession();
  const auto set = SetMode(id, "plan");
  EXPECT_EQ(set.code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(set.reason(), "START_TIMEOUT");
  EXPECT_THAT(set.status.error_message(), HasSubstr("session_setup_timeout"));
  EXPECT_EQ(Get(id).mode_id(), "code");
  EXPECT_EQ(Get(id).state(), api::Session::STATE_IDLE) << "the agent still serves";
  barriers().Release("late");
  const auto next = client().Say(kProject, id, "hello");
  ASSERT_TRUE(next.ok()) << next.ToString();
  EXPECT_EQ(next.response.origin().kind(), api::SessionOrigin::KIND_LIVE);
  EXPECT_EQ(Get(id).mode_id(), "code");
  EXPECT_TRUE(SetMode(id, "plan").ok());
}

TEST_F(OptionFailuresTest, AReplacedSessionNamesItsSuccessor) {
  StartWith({{"modes", TwoModes()}, {"configOptions", {SelectOption("model", "model")}}});
  const auto chat = client().Say(kProject, "lost", "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const std::string successor = chat.response.session_id();
  ASSERT_NE(successor, "lost");
  const std::vector<Called<api::Session>> refused = {
      SetMode("lost", "plan"), SetValue("lost", "model", "large"), SetTitle("lost", "A title")};
  for (const Called<api::Session>& set : refused) {
    EXPECT_EQ(set.code(), grpc::StatusCode::FAILED_PRECONDITION);
    EXPECT_EQ(set.reason(), "SESSION_REPLACED");
    EXPECT_THAT(set.status.error_message(), HasSubstr(successor));
  }
  EXPECT_TRUE(log().Received("session/set_mode").empty());
  EXPECT_TRUE(SetMode(successor, "plan").ok());
}

TEST_F(OptionFailuresTest, NothingToSetIsNoRequest) {
  StartWith({{"configOptions", {SelectOption("model", "model")}}});
  const std::string id = NewSession();
  api::SetSessionOptionRequest request;
  request.set_session_id(id);
  const auto none = client().Call(&Client::Stub::SetSessionOption, request);
  EXPECT_EQ(none.code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(none.reason(), "INVALID_REQUEST");
  request.mutable_config()->set_config_id("model");
  const auto no_value = client().Call(&Client::Stub::SetSessionOption, request);
  EXPECT_EQ(no_value.reason(), "INVALID_REQUEST");
  EXPECT_THAT(no_value.status.error_message(), HasSubstr("value"));
  EXPECT_TRUE(log().Received("session/set_config_option").empty());
}

TEST_F(OptionFailuresTest, WhatADormantSessionKeptAndTheAgentThenRefusesIsANotice) {
  StartWith({{"modes", TwoModes()}, {"configOptions", {SelectOption("model", "model")}}},
            {{"session/set_mode", Steps(Error(-32603, "no plan today"))},
             {"session/set_config_option", Steps(Error(-32603, "sold out"))}});
  const std::string id = NewSession();
  Close(id);
  ASSERT_TRUE(SetMode(id, "plan").ok());
  ASSERT_TRUE(SetValue(id, "model", "large").ok());
  EXPECT_EQ(Get(id).mode_id(), "plan");
  EXPECT_EQ(Get(id).model(), "large");
  EXPECT_TRUE(log().Received("session/set_mode").empty()) << "there is nobody to ask yet";
  const auto chat = client().Say(kProject, id, "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  const std::vector<api::Notice> notices = NoticesOf(id, "OPTION_REFUSED");
  ASSERT_EQ(notices.size(), 2u);
  EXPECT_EQ(notices[0].severity(), api::Notice::SEVERITY_WARNING);
  EXPECT_THAT(notices[0].message(), HasSubstr("no plan today"));
  EXPECT_THAT(notices[1].message(), HasSubstr("sold out"));
  EXPECT_EQ(Get(id).mode_id(), "code") << "what the agent really has";
  EXPECT_EQ(Get(id).model(), "small");
}

TEST_F(OptionFailuresTest, ADormantSessionKeepsNoValueThatIsNotOffered) {
  StartWith({{"configOptions", {SelectOption("model", "model")}}});
  const std::string id = NewSession();
  Close(id);
  EXPECT_EQ(SetValue(id, "model", "huge").reason(), "NOT_SUPPORTED_BY_AGENT");
  EXPECT_EQ(SetValue(id, "colour", "red").reason(), "NOT_SUPPORTED_BY_AGENT");
  EXPECT_EQ(Get(id).model(), "small");
  ASSERT_TRUE(client().Say(kProject, id, "hello").ok());
  EXPECT_TRUE(log().Received("session/set_config_option").empty());
}

}  // namespace
}  // namespace acpd::e2e
