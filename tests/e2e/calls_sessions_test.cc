// What calls say of sessions that were never ready, were replaced or are busy, and the ids that
// errors carry.

#include <future>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using ::testing::IsEmpty;
using Code = grpc::StatusCode;

class CallsSessionsTest : public TurnsTest {
 protected:
  Called<api::ChatResponse> Require(const std::string& project, const std::string& session_id) {
    api::ChatRequest request = ChatOf(project, session_id, "hello", api::WAIT_FOR_FINISHED);
    request.mutable_resume_policy()->set_mode(api::ResumePolicy::MODE_REQUIRE);
    return client().Chat(request);
  }
  template <class Response>
  static std::string SessionOf(const Called<Response>& called) {
    const auto found = called.trailers.find("acpd-session-id");
    return found == called.trailers.end() ? "" : found->second;
  }
};

TEST_F(CallsSessionsTest, AFailedTryWithRequireLeavesTheIdFree) {
  StartDaemon();
  const auto failed = Require("first", "lost");
  EXPECT_EQ(failed.reason(), "SESSION_NOT_RESUMABLE") << failed.ToString();
  const std::string first_turn = failed.trailers.at("acpd-turn-id");
  EXPECT_EQ(Require("second", "lost").reason(), "SESSION_NOT_RESUMABLE");
  KillAndRestartDaemon();
  EXPECT_EQ(Require("third", "lost").reason(), "SESSION_NOT_RESUMABLE");
  EXPECT_THAT(AllSessions(), IsEmpty());
  // Another agent may be asked, too.
  api::ChatRequest request = ChatOf("fourth", "lost", "hello", api::WAIT_FOR_FINISHED);
  request.set_agent("demo");
  const auto chat = client().Chat(request);
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.origin().kind(), api::SessionOrigin::KIND_FALLBACK);
  // Each of the turns can be read for good.
  EXPECT_EQ(WaitForTurn(first_turn).result().error().reason(), "SESSION_NOT_RESUMABLE");
  EXPECT_EQ(CountEnds(first_turn), 1u);
}

TEST_F(CallsSessionsTest, AnIdThatFellBackIsAReplacedSessionEverywhere) {
  StartDaemon();
  const auto chat = client().Say(kProject, "lost", "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  for (const bool restarted : {false, true}) {
    if (restarted) KillAndRestartDaemon();
    const auto session = client().GetSession("lost");
    ASSERT_TRUE(session.ok()) << session.ToString();
    EXPECT_EQ(session.response.state(), api::Session::STATE_REPLACED);
    EXPECT_EQ(session.response.replaced_by(), chat.response.session_id());
    EXPECT_EQ(client().CloseSession("lost").reason(), "SESSION_REPLACED");
    EXPECT_EQ(AllSessions().size(), 2u);
    api::ListTurnsRequest list;
    list.set_session_id("lost");
    const auto turns = client().Call(&Client::Stub::ListTurns, list);
    EXPECT_TRUE(turns.ok()) << turns.ToString();
  }
  const auto plain = client().Call(&Client::Stub::ListSessions, api::ListSessionsRequest());
  EXPECT_EQ(plain.response.sessions_size(), 1);
}

TEST_F(CallsSessionsTest, ACreateSessionWhoseSetUpIsCancelledIsAnError) {
  json script = json::object();
  script["session/new"] = Steps(Steps(Barrier("new"), "reply"), Steps("reply"));
  UseScript(script);
  StartDaemon();
  api::CreateSessionRequest create;
  create.mutable_setup()->set_project_id(kProject);
  create.mutable_setup()->set_request_id("once");
  auto creating = std::async(std::launch::async,
                             [&] { return client().Call(&Client::Stub::CreateSession, create); });
  ASSERT_TRUE(barriers().WaitReached("new"));
  const std::vector<api::Session> sessions = AllSessions();
  ASSERT_EQ(sessions.size(), 1u);
  api::CloseSessionRequest close;
  close.set_session_id(sessions[0].session_id());
  close.set_force(true);
  auto closing = std::async(std::launch::async,
                            [&] { return client().Call(&Client::Stub::CloseSession, close); });
  const auto created = creating.get();
  EXPECT_EQ(created.code(), Code::UNAVAILABLE) << created.ToString();
  EXPECT_EQ(created.reason(), "AGENT_START_FAILED");
  EXPECT_EQ(SessionOf(created), sessions[0].session_id());
  barriers().Release("new");
  const auto closed = closing.get();
  ASSERT_TRUE(closed.ok()) << closed.ToString();
  EXPECT_EQ(closed.response.state(), api::Session::STATE_DORMANT);
  const auto again = client().Call(&Client::Stub::CreateSession, create);
  ASSERT_TRUE(again.ok()) << again.ToString();
  EXPECT_EQ(again.response.state(), api::Session::STATE_IDLE);
}

TEST_F(CallsSessionsTest, AStreamThatCouldNeverSeeItsLastTurnIsRefused) {
  StartDaemon();
  const api::ChatResponse running = BeginAt("hold");
  const auto other = client().Say("other", "", "hello");
  ASSERT_TRUE(other.ok()) << other.ToString();
  api::SubscribeProgressRequest request;
  request.set_until_turn_id(running.turn_id());
  for (const bool by_session : {true, false}) {
    if (by_session) {
      request.set_session_id(other.response.session_id());
    } else {
      request.set_project_id("other");
    }
    const auto stream = client().Subscribe(request);
    const auto end = stream->WaitForEnd();
    ASSERT_TRUE(end);
    EXPECT_EQ(end->error_code(), Code::INVALID_ARGUMENT) << end->error_message();
    EXPECT_EQ(stream->Trailer("acpd-reason"), "SCOPE_MISMATCH");
  }
  request.set_project_id(kProject);
  const auto stream = client().Subscribe(request);
  barriers().Release("hold");
  ASSERT_TRUE(stream->WaitForEnd());
  EXPECT_TRUE(stream->WaitForEnd()->ok()) << stream->WaitForEnd()->error_message();
}

TEST_F(CallsSessionsTest, AReplacedSessionsStreamMayWaitForATurnOfItsSuccessor) {
  StartDaemon();
  const auto chat = client().Say(kProject, "lost", "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  api::SubscribeProgressRequest request;
  request.set_session_id("lost");
  request.set_after_seq(0);
  request.set_until_turn_id(chat.response.turn_id());
  const auto stream = client().Subscribe(request);
  ASSERT_TRUE(stream->WaitForEnd());
  EXPECT_TRUE(stream->WaitForEnd()->ok()) << stream->WaitForEnd()->error_message();
  EXPECT_TRUE(stream->WaitFor(EndOf(chat.response.turn_id())));
}

TEST_F(CallsSessionsTest, RefusalsNameTheSession) {
  options().extra = {{"limits", {{"max_queued_turns", 1}}}};
  StartDaemon();
  const api::ChatResponse running = BeginAt("hold");
  const std::string id = running.session_id();
  api::ChatRequest request = ChatOf(kProject, id, "hello", api::WAIT_FOR_ACCEPTED);
  request.set_busy_policy(api::BUSY_POLICY_REJECT);
  const auto busy = client().Chat(request);
  EXPECT_EQ(busy.reason(), "SESSION_BUSY") << busy.ToString();
  EXPECT_EQ(SessionOf(busy), id);
  request.clear_busy_policy();
  request.set_agent("demo");
  const auto mismatch = client().Chat(request);
  EXPECT_EQ(mismatch.reason(), "AGENT_MISMATCH") << mismatch.ToString();
  EXPECT_EQ(SessionOf(mismatch), id);
  request.clear_agent();
  ASSERT_TRUE(client().Chat(request).ok());
  const auto full = client().Chat(request);
  EXPECT_EQ(full.reason(), "QUEUE_FULL") << full.ToString();
  EXPECT_EQ(SessionOf(full), id);
  const auto close = client().CloseSession(id);
  EXPECT_EQ(close.reason(), "SESSION_BUSY") << close.ToString();
  EXPECT_EQ(SessionOf(close), id);
  api::DeleteSessionRequest remove;
  remove.set_session_id(id);
  const auto removed = client().Call(&Client::Stub::DeleteSession, remove);
  EXPECT_EQ(removed.reason(), "SESSION_BUSY") << removed.ToString();
  EXPECT_EQ(SessionOf(removed), id);
}

TEST_F(CallsSessionsTest, AnAnswerNamesItsTurn) {
  StartDaemon();
  const auto chat = client().Begin(kProject, "", "ASK");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const std::string id = chat.response.session_id();
  ASSERT_TRUE(WaitForState(id, api::Session::STATE_WAITING));
  const auto asked = client().SubscribeSession(id)->WaitFor(Is(Event::kPermissionRequested));
  ASSERT_TRUE(asked);
  const std::string question = asked->permission_requested().question_id();
  const auto wrong = client().Respond(id, question, "never-offered");
  EXPECT_EQ(wrong.reason(), "INVALID_ANSWER") << wrong.ToString();
  const std::string option = asked->permission_requested().options(0).option_id();
  const auto first = client().Respond(id, question, option);
  const auto again = client().Respond(id, question, option);
  const auto other =
      client().Respond(id, question, asked->permission_requested().options(1).option_id());
  EXPECT_TRUE(first.ok()) << first.ToString();
  EXPECT_EQ(other.reason(), "ALREADY_ANSWERED") << other.ToString();
  for (const auto* answer : {&wrong, &first, &again, &other}) {
    EXPECT_EQ(SessionOf(*answer), id);
    ASSERT_TRUE(answer->trailers.contains("acpd-turn-id"));
    EXPECT_EQ(answer->trailers.at("acpd-turn-id"), chat.response.turn_id());
  }
  WaitForTurn(chat.response.turn_id());
}

}  // namespace
}  // namespace acpd::e2e
