// Sessions that only an agent knows: listed by it, then picked up by a Chat with the id and the
// folder of the list.

#include <filesystem>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

class PickUpTest : public TurnsTest {
 protected:
  // A session of the agent's that acpd does not know as one of `fake`: another agent's, whose
  // records are in the same folder. `fake` then lists it, with this title.
  void ListForeign(const json& script = json::object(), const std::string& folder = "") {
    options().agents["elsewhere"] = FakeAgent();
    StartDaemon();
    cwd_ = daemon().ProjectFolder(kProject) + folder;
    std::filesystem::create_directories(cwd_);
    api::ChatRequest request =
        ChatOf(kProject, "", "remember the number 42", api::WAIT_FOR_FINISHED);
    request.set_agent("elsewhere");
    request.set_cwd(cwd_);
    const auto made = client().Chat(request);
    ASSERT_TRUE(made.ok()) << made.ToString();
    id_ = made.response.agent_session_id();
    EXPECT_EQ(daemon().Stop(), (ExitStatus{0, 0}));
    json listing = script;
    listing["capabilities"] = {{"sessionCapabilities", {{"list", json::object()}}}};
    listing["session_pages"] = {
        {"", {{"sessions", {{{"sessionId", id_}, {"cwd", cwd_}, {"title", "The number"}}}}}}};
    UseScript(listing);
    StartDaemon();
  }
  api::ListAgentSessionsResponse::AgentSession Listed(const std::string& cwd = "") {
    api::ListAgentSessionsRequest request;
    request.set_agent("fake");
    request.set_cwd(cwd);
    const auto listed = client().Call(&Client::Stub::ListAgentSessions, request);
    EXPECT_TRUE(listed.ok()) << listed.ToString();
    return listed.response.sessions_size() == 1 ? listed.response.sessions(0)
                                                : api::ListAgentSessionsResponse::AgentSession();
  }
  Called<api::ChatResponse> PickUp(const api::ListAgentSessionsResponse::AgentSession& listed) {
    api::ChatRequest request = ChatOf(kProject, listed.agent_session_id(), "what number did I say?",
                                      api::WAIT_FOR_FINISHED);
    request.set_agent("fake");
    request.set_cwd(listed.cwd());
    return client().Chat(request);
  }

  std::string id_, cwd_;
};

TEST_F(PickUpTest, ByLoadWithItsHistoryMarkedAsReplayed) {
  SetFake("resume", json::array({"session/load"}));
  ListForeign();
  const auto listed = Listed(cwd_);
  EXPECT_EQ(listed.agent_session_id(), id_);
  EXPECT_EQ(listed.cwd(), cwd_);
  EXPECT_EQ(listed.title(), "The number");
  EXPECT_EQ(listed.session_id(), "") << "it is none of ours";
  EXPECT_EQ(log().Received("session/list").back().at("params").at("cwd"), cwd_);
  const auto chat = PickUp(listed);
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.session_id(), id_);
  EXPECT_EQ(chat.response.agent_session_id(), id_);
  EXPECT_EQ(chat.response.origin().kind(), api::SessionOrigin::KIND_RESUMED);
  EXPECT_EQ(chat.response.origin().method(), api::SessionOrigin::METHOD_SESSION_LOAD);
  EXPECT_EQ(chat.response.result().text(), "42");
  std::vector<std::pair<std::string, std::string>> replayed;
  for (const Event& event : EventsOf(id_)) {
    if (!event.session_update().replayed()) continue;
    EXPECT_EQ(event.turn_id(), "");
    replayed.emplace_back(event.session_update().kind(), event.session_update().text());
  }
  ASSERT_EQ(replayed.size(), 2u);
  EXPECT_EQ(replayed[0], std::make_pair(std::string("user_message_chunk"),
                                        std::string("remember the number 42")));
  EXPECT_EQ(replayed[1].first, "agent_message_chunk");
  EXPECT_EQ(TextOf(EventsOf(id_)), "42") << "history is no new output";
  EXPECT_EQ(Listed().session_id(), id_) << "now it is ours";
  EXPECT_EQ(client().GetSession(id_).response.cwd(), cwd_);
}

TEST_F(PickUpTest, ByResumeWithoutAReplay) {
  ListForeign();
  const auto chat = PickUp(Listed());
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.session_id(), id_);
  EXPECT_EQ(chat.response.origin().method(), api::SessionOrigin::METHOD_SESSION_RESUME);
  EXPECT_EQ(chat.response.result().text(), "42");
  for (const Event& event : EventsOf(id_)) EXPECT_FALSE(event.session_update().replayed());
}

TEST_F(PickUpTest, InTheFolderOfTheList) {
  ListForeign(json::object(), "/deeper");
  const auto chat = PickUp(Listed());
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(log().Received("session/resume").back().at("params").at("cwd"), cwd_);
  EXPECT_EQ(client().GetSession(id_).response.cwd(), cwd_);
}

TEST_F(PickUpTest, GoesOnAfterARestartLikeAnyOther) {
  SetFake("resume", json::array({"session/load"}));
  ListForeign();
  ASSERT_TRUE(PickUp(Listed()).ok());
  const size_t before = EventsOf(id_).size();
  KillAndRestartDaemon();
  const auto chat = client().Say(kProject, id_, "what number did I say?");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.session_id(), id_);
  EXPECT_EQ(chat.response.result().text(), "42");
  const std::vector<Event> events = EventsOf(id_);
  for (size_t i = before; i < events.size(); ++i)
    EXPECT_FALSE(events[i].session_update().replayed()) << "the log has it by now";
}

TEST_F(PickUpTest, WhatItsHistorySaysOfItIsKept) {
  SetFake("resume", json::array({"session/load"}));
  const json title = {{"sessionUpdate", "session_info_update"}, {"title", "The number"}};
  const json usage = {{"sessionUpdate", "usage_update"}, {"used", 100}, {"size", 1000}};
  ListForeign({{"session/load",
                Steps(Step("replay", "history"), Step("update", title), Step("update", usage))}});
  ASSERT_TRUE(PickUp(Listed()).ok());
  const auto session = client().GetSession(id_);
  EXPECT_EQ(session.response.title(), "The number");
  EXPECT_EQ(session.response.usage().context_used(), 100u);
}

TEST_F(PickUpTest, OutsideOfTheRootsIsRefused) {
  ListForeign();
  auto listed = Listed();
  listed.set_cwd("/etc");
  const auto chat = PickUp(listed);
  EXPECT_EQ(chat.code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(chat.reason(), "CWD_NOT_ALLOWED");
  EXPECT_EQ(client().GetSession(id_).reason(), "SESSION_NOT_FOUND");
}

TEST_F(PickUpTest, OfASessionThatIsGoneMeanwhileFallsBack) {
  ListForeign({{"session/resume", Steps(Error(-32002, "Resource not found"))}});
  const auto chat = PickUp(Listed());
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.origin().kind(), api::SessionOrigin::KIND_FALLBACK);
  EXPECT_EQ(chat.response.origin().requested_session_id(), id_);
}

}  // namespace
}  // namespace acpd::e2e
