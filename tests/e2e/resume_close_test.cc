// Sessions that are closed, by a caller or because they are idle, and sessions that are deleted.

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using Code = grpc::StatusCode;

class CloseTest : public TurnsTest {
 protected:
  Called<api::DeleteSessionResponse> Delete(const std::string& session_id, bool force = false) {
    api::DeleteSessionRequest request;
    request.set_session_id(session_id);
    request.set_force(force);
    return client().Call(&Client::Stub::DeleteSession, request);
  }
  Called<api::Session> CloseByForce(const std::string& session_id) {
    api::CloseSessionRequest request;
    request.set_session_id(session_id);
    request.set_force(true);
    return client().Call(&Client::Stub::CloseSession, request);
  }
  void ExpectGone(const std::string& id) {
    EXPECT_EQ(client().GetSession(id).reason(), "SESSION_NOT_FOUND");
    const auto chat = client().Say(kProject, id, "hello");
    EXPECT_EQ(chat.code(), Code::NOT_FOUND) << chat.ToString();
    EXPECT_EQ(chat.reason(), "SESSION_NOT_FOUND");
    EXPECT_EQ(client().CancelSession(id).reason(), "SESSION_NOT_FOUND");
    const auto stream = client().SubscribeSession(id);
    const auto end = stream->WaitForEnd();
    ASSERT_TRUE(end);
    EXPECT_EQ(end->error_code(), Code::NOT_FOUND);
    EXPECT_TRUE(AllSessions().empty());
  }
};

TEST_F(CloseTest, AnIdleWorkerIsClosedAndTheNextChatResumes) {
  SetFake("idle_timeout", "300ms");
  StartDaemon();
  const auto first = client().Say(kProject, "", "remember the number 42");
  ASSERT_TRUE(first.ok()) << first.ToString();
  const std::string id = first.response.session_id();
  const auto stream = client().SubscribeSession(id);
  const auto closed = stream->WaitFor(Is(Event::kSessionClosed));
  ASSERT_TRUE(closed);
  EXPECT_EQ(closed->session_closed().reason(), api::SessionClosed::REASON_IDLE);
  EXPECT_EQ(client().GetSession(id).response.state(), api::Session::STATE_DORMANT);
  EXPECT_FALSE(IsAlive(log().Pids().back()));
  const auto second = client().Say(kProject, id, "what number did I say?");
  ASSERT_TRUE(second.ok()) << second.ToString();
  EXPECT_EQ(second.response.origin().kind(), api::SessionOrigin::KIND_RESUMED);
  EXPECT_EQ(second.response.result().text(), "42");
}

TEST_F(CloseTest, AWorkerWithATurnIsNotIdle) {
  SetFake("idle_timeout", "200ms");
  StartDaemon();
  const auto chat = client().Say(kProject, "", Scripted(Steps(Step("sleep_ms", 1200), Say("x"))));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  EXPECT_EQ(chat.response.result().text(), "x");
  EXPECT_EQ(log().Pids().size(), 1u);
}

TEST_F(CloseTest, CloseTellsTheAgentAndAnswersWhenTheTreeIsGone) {
  StartDaemon();
  const auto chat = client().Say(
      kProject, "", Scripted(Steps(Step("fork", json{{"setsid", true}, {"ignore", "TERM"}}))));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const pid_t agent = log().Pids().back(), child = log().Events("fork").back().at("child");
  const auto closed = client().CloseSession(chat.response.session_id());
  ASSERT_TRUE(closed.ok()) << closed.ToString();
  EXPECT_EQ(closed.response.state(), api::Session::STATE_DORMANT);
  EXPECT_FALSE(IsAlive(agent));
  EXPECT_FALSE(IsAlive(child));
  EXPECT_EQ(log().Received("session/close").size(), 1u);
  const std::vector<Event> events = EventsOf(chat.response.session_id());
  ASSERT_TRUE(events.back().has_session_closed());
  EXPECT_EQ(events.back().session_closed().reason(), api::SessionClosed::REASON_CALLER);
}

TEST_F(CloseTest, ABusySessionIsClosedByForceOnly) {
  StartDaemon();
  const api::ChatResponse running = BeginAt("hold");
  const std::string queued = Accept(running.session_id(), Steps(Say("never")));
  const auto refused = client().CloseSession(running.session_id());
  EXPECT_EQ(refused.code(), Code::FAILED_PRECONDITION);
  EXPECT_EQ(refused.reason(), "SESSION_BUSY");
  const auto closed = CloseByForce(running.session_id());
  ASSERT_TRUE(closed.ok()) << closed.ToString();
  EXPECT_EQ(closed.response.state(), api::Session::STATE_DORMANT);
  for (const std::string& turn_id : {running.turn_id(), queued}) {
    const api::Turn turn = WaitForTurn(turn_id);
    EXPECT_EQ(turn.result().outcome(), api::TurnResult::OUTCOME_CANCELLED);
    EXPECT_EQ(turn.result().cancelled_by(), "close");
  }
  EXPECT_EQ(log().Received("session/prompt").size(), 1u);
}

TEST_F(CloseTest, ADeletedSessionIsGoneForGood) {
  StartDaemon();
  const auto chat = client().Say(kProject, "", "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const std::string id = chat.response.session_id();
  const auto stream = client().SubscribeSession(id);
  ASSERT_TRUE(stream->WaitFor(HasCaughtUp()));
  const auto deleted = Delete(id);
  ASSERT_TRUE(deleted.ok()) << deleted.ToString();
  EXPECT_FALSE(IsAlive(log().Pids().back()));
  const auto end = stream->WaitForEnd();
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->ok()) << end->error_message();
  EXPECT_TRUE(stream->Stored().back().has_session_deleted());
  ExpectGone(id);
  EXPECT_EQ(Delete(id).code(), Code::NOT_FOUND);
  KillAndRestartDaemon();
  ExpectGone(id);
}

TEST_F(CloseTest, ABusySessionIsDeletedByForceOnly) {
  StartDaemon();
  const api::ChatResponse running = BeginAt("hold");
  const auto stream = client().SubscribeSession(running.session_id());
  ASSERT_TRUE(stream->WaitFor(HasCaughtUp()));
  const auto refused = Delete(running.session_id());
  EXPECT_EQ(refused.code(), Code::FAILED_PRECONDITION);
  EXPECT_EQ(refused.reason(), "SESSION_BUSY");
  const auto deleted = Delete(running.session_id(), true);
  ASSERT_TRUE(deleted.ok()) << deleted.ToString();
  ASSERT_TRUE(stream->WaitForEnd());
  const auto ended = stream->WaitFor(EndOf(running.turn_id()));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->turn_ended().result().outcome(), api::TurnResult::OUTCOME_CANCELLED);
  ExpectGone(running.session_id());
}

TEST_F(CloseTest, CreateSessionSetsUpWithoutAPrompt) {
  StartDaemon();
  api::CreateSessionRequest create;
  create.mutable_setup()->set_project_id(kProject);
  create.mutable_setup()->set_request_id("once");
  (*create.mutable_setup()->mutable_labels())["team"] = "red";
  const auto created = client().Call(&Client::Stub::CreateSession, create);
  ASSERT_TRUE(created.ok()) << created.ToString();
  EXPECT_EQ(created.response.state(), api::Session::STATE_IDLE);
  EXPECT_EQ(created.response.labels().at("team"), "red");
  EXPECT_FALSE(created.response.agent_session_id().empty());
  EXPECT_TRUE(log().Received("session/prompt").empty());
  const auto again = client().Call(&Client::Stub::CreateSession, create);
  ASSERT_TRUE(again.ok()) << again.ToString();
  EXPECT_EQ(again.response.session_id(), created.response.session_id());
  const auto chat = client().Say(kProject, created.response.session_id(), "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.origin().kind(), api::SessionOrigin::KIND_LIVE);
  EXPECT_EQ(log().Received("session/new").size(), 1u);
}

TEST_F(CloseTest, CreateSessionReportsAFailedStart) {
  options().agents["fake"].command = dir() / "no-such-agent";
  StartDaemon();
  api::CreateSessionRequest create;
  create.mutable_setup()->set_project_id(kProject);
  const auto created = client().Call(&Client::Stub::CreateSession, create);
  EXPECT_EQ(created.code(), Code::FAILED_PRECONDITION);
  EXPECT_EQ(created.reason(), "AGENT_START_FAILED");
  create.mutable_setup()->set_prompt("hello");
  EXPECT_EQ(client().Call(&Client::Stub::CreateSession, create).reason(), "INVALID_REQUEST");
}

}  // namespace
}  // namespace acpd::e2e
