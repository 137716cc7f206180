// History that session/load replays is no new output; and loads that only looked good.

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

class LoadTest : public TurnsTest {
 protected:
  json script_ = json::object();

  void Start() {
    UseScript(script_);
    SetFake("resume", json::array({"session/load"}));
    StartDaemon();
  }
  // 300 updates of history, the answer, and 5 stragglers.
  static json NoisyLoad() {
    return Steps(Step("replay", 300), Step("reply", json::object()), Say("late 1"), Say("late 2"),
                 Say("late 3"), Say("late 4"), Say("late 5"));
  }
};

TEST_F(LoadTest, AReplayOfWhatTheLogHasIsDropped) {
  script_["session/load"] = NoisyLoad();
  Start();
  const std::string id = MakeDormant();
  const size_t before = EventsOf(id).size();
  const auto live = client().SubscribeSession(id, before);
  const auto chat = client().Say(kProject, id, Scripted(Steps(Say("NEW"))));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.origin().method(), api::SessionOrigin::METHOD_SESSION_LOAD);
  EXPECT_EQ(chat.response.result().text(), "NEW");
  ASSERT_TRUE(live->WaitFor(EndOf(chat.response.turn_id())));
  EXPECT_THAT(KindsOf(live->Stored()),
              ::testing::ElementsAre(Event::kTurnQueued, Event::kSessionReady, Event::kTurnStarted,
                                     Event::kSessionUpdate, Event::kTurnEnded));
  EXPECT_EQ(TextOf(live->Stored()), "NEW");
  EXPECT_EQ(EventsOf(id).size(), before + 5);
}

TEST_F(LoadTest, AReplayOfAnUnknownSessionIsKeptAndMarked) {
  script_["session/load"] = NoisyLoad();
  Start();
  const auto chat = client().Say(kProject, "from-elsewhere", Scripted(Steps(Say("NEW"))));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.session_id(), "from-elsewhere");
  EXPECT_EQ(chat.response.result().text(), "NEW");
  size_t replayed = 0;
  std::string fresh;
  for (const Event& event : EventsOf("from-elsewhere")) {
    if (!event.has_session_update()) continue;
    if (event.session_update().replayed()) {
      ++replayed;
      EXPECT_EQ(event.turn_id(), "");
    } else {
      fresh += event.session_update().text();
    }
  }
  EXPECT_EQ(replayed, 305u);
  EXPECT_EQ(fresh, "NEW");
}

TEST_F(LoadTest, AMinimalResultIsASuccess) {
  script_["session/load"] = Steps(Step("replay", 2), Step("reply", json::object()));
  Start();
  const std::string id = MakeDormant();
  const auto chat = client().Say(kProject, id, "what number did I say?");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.session_id(), id);
  EXPECT_EQ(chat.response.origin().kind(), api::SessionOrigin::KIND_RESUMED);
  EXPECT_EQ(chat.response.origin().method(), api::SessionOrigin::METHOD_SESSION_LOAD);
  EXPECT_EQ(chat.response.result().text(), "42");
}

// Loads that were answered with success for a session that is not there.
class PhantomLoadTest : public LoadTest, public ::testing::WithParamInterface<json> {};

INSTANTIATE_TEST_SUITE_P(FirstPrompts, PhantomLoadTest,
                         ::testing::Values(Steps(Reply("refusal")),
                                           Steps(Error(-32002, "Resource not found")),
                                           Steps(Error(-32603, "Session not found"))));

TEST_P(PhantomLoadTest, ThePromptGoesToANewSessionOnce) {
  script_["session/load"] = Steps(Step("reply", nullptr));
  script_["session/prompt"] = Steps(Steps("reply"), GetParam(), Steps("reply"));
  Start();
  const std::string old_id = MakeDormant();
  const auto chat = client().Say(kProject, old_id, "hello again");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_NE(chat.response.session_id(), old_id);
  EXPECT_EQ(chat.response.origin().kind(), api::SessionOrigin::KIND_FALLBACK);
  EXPECT_EQ(chat.response.origin().reason(), "SESSION_NOT_FOUND");
  EXPECT_EQ(chat.response.result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  EXPECT_EQ(chat.response.result().text(), "hello again");
  EXPECT_EQ(CountEnds(chat.response.turn_id()), 1u);
  const std::vector<json> prompts = log().Received("session/prompt");
  ASSERT_EQ(prompts.size(), 3u);
  EXPECT_EQ(prompts[2]["params"]["sessionId"], chat.response.agent_session_id());
  EXPECT_NE(prompts[1]["params"]["sessionId"], prompts[2]["params"]["sessionId"]);
  EXPECT_EQ(log().Received("session/new").size(), 2u);
}

TEST_F(LoadTest, ARefusalAfterOutputStays) {
  script_["session/load"] = Steps(Step("reply", json::object()));
  Start();
  const std::string id = MakeDormant();
  const auto chat = client().Say(kProject, id, Scripted(Steps(Say("no, "), Reply("refusal"))));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.session_id(), id);
  EXPECT_EQ(chat.response.result().outcome(), api::TurnResult::OUTCOME_REFUSED);
  EXPECT_EQ(chat.response.result().stop_reason(), "refusal");
  EXPECT_EQ(log().Received("session/prompt").size(), 2u);
  EXPECT_EQ(log().Received("session/new").size(), 1u);
}

TEST_F(LoadTest, ARefusalAfterAReplayStays) {
  script_["session/load"] = Steps(Step("replay", 2), "reply");
  Start();
  const std::string id = MakeDormant();
  const auto chat = client().Say(kProject, id, Scripted(Steps(Reply("refusal"))));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.session_id(), id);
  EXPECT_EQ(chat.response.result().outcome(), api::TurnResult::OUTCOME_REFUSED);
  EXPECT_EQ(log().Received("session/prompt").size(), 2u);
}

TEST_F(LoadTest, ARefusalOfALaterPromptStays) {
  script_["session/load"] = Steps("reply");
  Start();
  const std::string id = MakeDormant();
  ASSERT_TRUE(client().Say(kProject, id, "hello").ok());
  const auto chat = client().Say(kProject, id, Scripted(Steps(Reply("refusal"))));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.session_id(), id);
  EXPECT_EQ(chat.response.result().outcome(), api::TurnResult::OUTCOME_REFUSED);
}

}  // namespace
}  // namespace acpd::e2e
