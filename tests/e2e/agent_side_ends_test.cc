// The agent's own side of a session's end: session/delete and session/close, whatever the agent
// makes of them.

#include <ostream>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using ::testing::ElementsAre;

// What the agent does about the request.
struct Reaction {
  const char* name;
  json steps;
};

void PrintTo(const Reaction& reaction, std::ostream* out) { *out << reaction.name; }

class AgentSideEndsTest : public TurnsTest {
 protected:
  // An agent whose sessionCapabilities are these beside "resume".
  void StartWith(const json& capabilities, json script = json::object()) {
    script["capabilities"] = {{"sessionCapabilities", capabilities}};
    UseScript(script);
    SetFake("stop_grace", "400ms");
    StartDaemon();
  }
  Called<api::DeleteSessionResponse> Delete(const std::string& session_id, bool force = false) {
    api::DeleteSessionRequest request;
    request.set_session_id(session_id);
    request.set_force(force);
    return client().Call(&Client::Stub::DeleteSession, request);
  }
  // What agents were sent, without the set-ups.
  std::vector<std::string> Methods() {
    std::vector<std::string> methods;
    for (const json& message : log().Received()) {
      const std::string method = message.value("method", "");
      if (method != "initialize" && method != "session/new") methods.push_back(method);
    }
    return methods;
  }
};

const json kNo = nullptr;

class ReactionsTest : public AgentSideEndsTest, public ::testing::WithParamInterface<Reaction> {};

INSTANTIATE_TEST_SUITE_P(Each, ReactionsTest,
                         ::testing::Values(Reaction{"Result", Steps("reply")},
                                           Reaction{"Error", Steps(Error(-32603, "not today"))},
                                           Reaction{"NoAnswer", Steps("silent")},
                                           Reaction{"Exit", Steps(Step("exit", 3))},
                                           Reaction{"NoJson",
                                                    Steps(Step("raw", "deleted!\n"), "silent")}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(ReactionsTest, ADeletionSucceeds) {
  StartWith({{"delete", json::object()}, {"close", kNo}}, {{"session/delete", GetParam().steps}});
  const auto chat = client().Say(kProject, "", "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const auto deleted = Delete(chat.response.session_id());
  ASSERT_TRUE(deleted.ok()) << deleted.ToString();
  EXPECT_THAT(Methods(), ElementsAre("session/prompt", "session/delete"));
  EXPECT_EQ(log().Received("session/delete").back().at("params").at("sessionId"),
            chat.response.agent_session_id());
  EXPECT_FALSE(IsAlive(log().Pids().back()));
  EXPECT_EQ(client().GetSession(chat.response.session_id()).reason(), "SESSION_NOT_FOUND");
  EXPECT_TRUE(AllSessions().empty());
}

TEST_P(ReactionsTest, AClosedSessionIsDormantAndResumes) {
  StartWith(json::object(), {{"session/close", json::array({GetParam().steps, Steps("reply")})}});
  const auto chat = client().Say(kProject, "", "remember the number 42");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const std::string id = chat.response.session_id();
  const auto closed = client().CloseSession(id);
  ASSERT_TRUE(closed.ok()) << closed.ToString();
  EXPECT_EQ(closed.response.state(), api::Session::STATE_DORMANT);
  EXPECT_FALSE(IsAlive(log().Pids().back()));
  EXPECT_THAT(Methods(), ElementsAre("session/prompt", "session/close"));
  EXPECT_EQ(log().Received("session/close").back().at("params").at("sessionId"),
            chat.response.agent_session_id());
  const std::vector<Event> events = EventsOf(id);
  ASSERT_TRUE(events.back().has_session_closed());
  EXPECT_EQ(events.back().session_closed().reason(), api::SessionClosed::REASON_CALLER);
  const auto next = client().Say(kProject, id, "what number did I say?");
  ASSERT_TRUE(next.ok()) << next.ToString();
  EXPECT_EQ(next.response.origin().kind(), api::SessionOrigin::KIND_RESUMED);
  EXPECT_EQ(next.response.result().text(), "42");
}

TEST_F(AgentSideEndsTest, WhatIsDeletedTheAgentHasNoMore) {
  StartWith({{"delete", json::object()}});
  const auto chat = client().Say(kProject, "", "remember the number 42");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  ASSERT_TRUE(Delete(chat.response.session_id()).ok());
  const auto again =
      client().Say(kProject, chat.response.agent_session_id(), "what number did I say?");
  ASSERT_TRUE(again.ok()) << again.ToString();
  EXPECT_EQ(again.response.origin().kind(), api::SessionOrigin::KIND_FALLBACK);
  EXPECT_EQ(again.response.origin().reason(), "SESSION_NOT_FOUND");
  EXPECT_NE(again.response.result().text(), "42");
}

TEST_F(AgentSideEndsTest, ADeletionByForceCancelsFirst) {
  StartWith({{"delete", json::object()}, {"close", kNo}});
  const api::ChatResponse running = BeginAt("hold");
  const auto stream = client().SubscribeSession(running.session_id());
  ASSERT_TRUE(stream->WaitFor(HasCaughtUp()));
  const auto deleted = Delete(running.session_id(), true);
  ASSERT_TRUE(deleted.ok()) << deleted.ToString();
  EXPECT_THAT(Methods(), ElementsAre("session/prompt", "session/cancel", "session/delete"));
  const auto ended = stream->WaitFor(EndOf(running.turn_id()));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->turn_ended().result().outcome(), api::TurnResult::OUTCOME_CANCELLED);
}

TEST_F(AgentSideEndsTest, AnAgentThatAdvertisesNeitherIsNotAsked) {
  StartWith({{"close", kNo}});
  const auto closed = client().Say(kProject, "", "hello");
  ASSERT_TRUE(closed.ok()) << closed.ToString();
  ASSERT_TRUE(client().CloseSession(closed.response.session_id()).ok());
  const auto deleted = client().Say(kProject, "", "hello");
  ASSERT_TRUE(deleted.ok()) << deleted.ToString();
  ASSERT_TRUE(Delete(deleted.response.session_id()).ok());
  EXPECT_THAT(Methods(), ElementsAre("session/prompt", "session/prompt"));
}

TEST_F(AgentSideEndsTest, NoAgentIsStartedToDeleteADormantSession) {
  StartWith({{"delete", json::object()}});
  const auto chat = client().Say(kProject, "", "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  ASSERT_TRUE(client().CloseSession(chat.response.session_id()).ok());
  ASSERT_TRUE(Delete(chat.response.session_id()).ok());
  EXPECT_EQ(log().Pids().size(), 1u);
  EXPECT_TRUE(log().Received("session/delete").empty());
}

}  // namespace
}  // namespace acpd::e2e
