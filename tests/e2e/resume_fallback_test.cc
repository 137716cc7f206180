// What a fallback looks like from outside: the ids, the events, the turns that move along.

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using ::testing::ElementsAre;

class FallbackTest : public TurnsTest {
 protected:
  // An agent that only knows session/load, with these steps.
  void StartWithLoad(const json& load_steps) {
    json script = json::object();
    script["session/load"] = load_steps;
    UseScript(script);
    SetFake("resume", json::array({"session/load"}));
    StartDaemon();
  }
};

TEST_F(FallbackTest, IsToldBeforeAnyOutputAndToLateReaders) {
  StartWithLoad(Steps(Error(-32603, "broken")));
  const std::string old_id = MakeDormant();
  const auto chat = client().Say(kProject, old_id, "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const std::string new_id = chat.response.session_id();
  EXPECT_EQ(chat.response.origin().requested_session_id(), old_id);

  const auto late = client().SubscribeSession(new_id);
  ASSERT_TRUE(late->WaitFor(HasCaughtUp()));
  std::vector<Event> events = late->Stored();
  EXPECT_THAT(KindsOf(events),
              ElementsAre(Event::kSessionCreated, Event::kTurnQueued, Event::kSessionReady,
                          Event::kTurnStarted, Event::kSessionUpdate, Event::kTurnEnded));
  const api::SessionOrigin& origin = events[2].session_ready().origin();
  EXPECT_EQ(origin.kind(), api::SessionOrigin::KIND_FALLBACK);
  EXPECT_EQ(origin.reason(), "RESUME_FAILED");
  EXPECT_EQ(origin.requested_session_id(), old_id);
  EXPECT_EQ(events[1].turn_id(), chat.response.turn_id());

  const std::vector<Event> old_events = EventsOf(old_id);
  ASSERT_TRUE(old_events.back().has_session_replaced());
  EXPECT_EQ(old_events.back().session_replaced().new_session_id(), new_id);
  EXPECT_EQ(old_events.back().session_replaced().reason(), "RESUME_FAILED");
  EXPECT_THAT(old_events.back().session_replaced().moved_turn_ids(),
              ElementsAre(chat.response.turn_id()));
}

TEST_F(FallbackTest, KeepsProjectAgentFolderAndLabels) {
  StartWithLoad(Steps(Error(-32002, "Resource not found")));
  api::ChatRequest request = ChatOf(kProject, "", "hello", api::WAIT_FOR_FINISHED);
  (*request.mutable_labels())["team"] = "blue";
  const auto first = client().Chat(request);
  ASSERT_TRUE(first.ok()) << first.ToString();
  KillAgent();
  ASSERT_TRUE(WaitForState(first.response.session_id(), api::Session::STATE_DORMANT));
  const auto second = client().Say(kProject, first.response.session_id(), "hello");
  ASSERT_TRUE(second.ok()) << second.ToString();
  const auto before = client().GetSession(first.response.session_id());
  const auto after = client().GetSession(second.response.session_id());
  EXPECT_EQ(after.response.project_id(), kProject);
  EXPECT_EQ(after.response.agent(), before.response.agent());
  EXPECT_EQ(after.response.cwd(), before.response.cwd());
  EXPECT_EQ(after.response.labels().at("team"), "blue");
}

TEST_F(FallbackTest, LaterChatsGoToTheSuccessor) {
  StartWithLoad(Steps(Error(-32002, "Resource not found")));
  const std::string old_id = MakeDormant();
  const auto first = client().Say(kProject, old_id, "remember the number 7");
  const auto second = client().Say(kProject, old_id, "what number did I say?");
  ASSERT_TRUE(second.ok()) << second.ToString();
  EXPECT_EQ(second.response.session_id(), first.response.session_id());
  EXPECT_EQ(second.response.origin().kind(), api::SessionOrigin::KIND_LIVE);
  EXPECT_EQ(second.response.result().text(), "7");
  api::ChatRequest request = ChatOf(kProject, old_id, "hello", api::WAIT_FOR_FINISHED);
  request.mutable_resume_policy()->set_mode(api::ResumePolicy::MODE_REQUIRE);
  const auto required = client().Chat(request);
  EXPECT_EQ(required.code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(required.reason(), "SESSION_NOT_RESUMABLE");
  EXPECT_THAT(required.status.error_message(), ::testing::HasSubstr(first.response.session_id()));
  const auto closed = client().CloseSession(old_id);
  EXPECT_EQ(closed.code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(closed.reason(), "SESSION_REPLACED");
  EXPECT_EQ(AllSessions().size(), 2u);
}

TEST_F(FallbackTest, ReplacementsAreFollowedToTheirEnd) {
  StartWithLoad(Steps(Error(-32002, "Resource not found")));
  const std::string old_id = MakeDormant();
  const auto first = client().Say(kProject, old_id, "hello");
  ASSERT_TRUE(first.ok()) << first.ToString();
  KillAgent();
  ASSERT_TRUE(WaitForState(first.response.session_id(), api::Session::STATE_DORMANT));
  const auto second = client().Begin(kProject, old_id, Scripted(Steps(Barrier("hold"))));
  ASSERT_TRUE(second.ok()) << second.ToString();
  EXPECT_NE(second.response.session_id(), first.response.session_id());
  EXPECT_EQ(client().GetSession(first.response.session_id()).response.replaced_by(),
            second.response.session_id());
  EXPECT_EQ(client().GetSession(old_id).response.replaced_by(), first.response.session_id());
  const auto cancelled = client().CancelSession(old_id);
  ASSERT_TRUE(cancelled.ok()) << cancelled.ToString();
  ASSERT_EQ(cancelled.response.turns_size(), 1);
  EXPECT_EQ(cancelled.response.turns(0).turn_id(), second.response.turn_id());
}

TEST_F(FallbackTest, DeletingTheOldOneLeavesTheSuccessor) {
  StartWithLoad(Steps(Error(-32002, "Resource not found")));
  const std::string old_id = MakeDormant();
  const auto moved = client().Say(kProject, old_id, "hello");
  ASSERT_TRUE(moved.ok()) << moved.ToString();
  api::DeleteSessionRequest request;
  request.set_session_id(old_id);
  const auto deleted = client().Call(&Client::Stub::DeleteSession, request);
  ASSERT_TRUE(deleted.ok()) << deleted.ToString();
  EXPECT_EQ(client().GetSession(old_id).reason(), "SESSION_NOT_FOUND");
  EXPECT_EQ(client().Say(kProject, old_id, "hello").reason(), "SESSION_NOT_FOUND");
  const auto next = client().Say(kProject, moved.response.session_id(), "hello");
  ASSERT_TRUE(next.ok()) << next.ToString();
  EXPECT_EQ(next.response.origin().kind(), api::SessionOrigin::KIND_LIVE);
}

TEST_F(FallbackTest, TakesTheQueueAlongAndEndsWhatRequiresTheOldOne) {
  StartWithLoad(Steps(Barrier("load"), Error(-32002, "Resource not found")));
  const std::string old_id = MakeDormant();
  const std::string first = Accept(old_id, Steps(Say("one")));
  ASSERT_TRUE(barriers().WaitReached("load"));
  api::ChatRequest request = ChatOf(kProject, old_id, "hello", api::WAIT_FOR_ACCEPTED);
  request.mutable_resume_policy()->set_mode(api::ResumePolicy::MODE_REQUIRE);
  const auto requiring = client().Chat(request);
  ASSERT_TRUE(requiring.ok()) << requiring.ToString();
  const std::string third = Accept(old_id, Steps(Say("three")));
  barriers().Release("load");

  const api::Turn one = WaitForTurn(first), three = WaitForTurn(third);
  EXPECT_EQ(one.result().text(), "one");
  EXPECT_EQ(three.result().text(), "three");
  EXPECT_NE(one.session_id(), old_id);
  EXPECT_EQ(three.session_id(), one.session_id());
  const api::Turn required = WaitForTurn(requiring.response.turn_id());
  EXPECT_EQ(required.session_id(), one.session_id());
  EXPECT_EQ(required.result().outcome(), api::TurnResult::OUTCOME_FAILED);
  EXPECT_EQ(required.result().error().reason(), "SESSION_NOT_RESUMABLE");
  EXPECT_FALSE(required.result().prompt_sent());
  EXPECT_THAT(EventsOf(old_id).back().session_replaced().moved_turn_ids(),
              ElementsAre(first, requiring.response.turn_id(), third));
}

TEST_F(FallbackTest, StandsAfterARestart) {
  StartWithLoad(Steps(Error(-32002, "Resource not found")));
  const std::string old_id = MakeDormant();
  const auto moved = client().Say(kProject, old_id, "hello");
  ASSERT_TRUE(moved.ok()) << moved.ToString();
  KillAndRestartDaemon();
  const auto old = client().GetSession(old_id);
  EXPECT_EQ(old.response.state(), api::Session::STATE_REPLACED);
  EXPECT_EQ(old.response.replaced_by(), moved.response.session_id());
  const auto turn = client().GetTurn(moved.response.turn_id());
  EXPECT_EQ(turn.response.session_id(), moved.response.session_id());
  EXPECT_EQ(turn.response.origin().kind(), api::SessionOrigin::KIND_FALLBACK);
}

}  // namespace
}  // namespace acpd::e2e
