// Streams over replaced sessions, ChatStream, open questions, heartbeats, shutdown.

#include <algorithm>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using ::testing::IsEmpty;
using Code = grpc::StatusCode;

class SessionStreamsTest : public TurnsTest {
 protected:
  void StartForgetful() {
    json script = json::object();
    script["session/resume"] = Steps(Error(-32002, "Resource not found"));
    UseScript(script);
    StartDaemon();
  }
};

TEST_F(SessionStreamsTest, AStreamGoesOnInTheSuccessor) {
  StartForgetful();
  const std::string old_id = MakeDormant();
  const auto live = client().SubscribeSession(old_id);
  ASSERT_TRUE(live->WaitFor(HasCaughtUp()));
  api::SubscribeProgressRequest until;
  const auto chat = client().Say(kProject, old_id, "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const std::string new_id = chat.response.session_id();
  ASSERT_TRUE(live->WaitFor(EndOf(chat.response.turn_id())));
  const std::vector<Event> events = live->Stored();
  EXPECT_THAT(CheckNoHoleNoRepeat(events), IsEmpty());
  const auto replaced = std::find_if(events.begin(), events.end(), Is(Event::kSessionReplaced));
  ASSERT_NE(replaced, events.end());
  ASSERT_NE(replaced + 1, events.end());
  EXPECT_EQ(replaced->session_id(), old_id);
  EXPECT_EQ((replaced + 1)->session_id(), new_id);
  EXPECT_EQ((replaced + 1)->seq(), 1u);
  // And further on.
  const auto next = client().Say(kProject, new_id, "more");
  EXPECT_TRUE(live->WaitFor(EndOf(next.response.turn_id())));

  // Later readers see the same, and the position before the replacement is good.
  const auto replay = client().SubscribeSession(old_id);
  ASSERT_TRUE(replay->WaitFor(EndOf(next.response.turn_id())));
  std::vector<uint64_t> positions, live_positions;
  for (const Event& event : replay->Stored()) positions.push_back(event.position());
  for (const Event& event : live->Stored()) live_positions.push_back(event.position());
  EXPECT_EQ(positions, live_positions);
  api::SubscribeProgressRequest request;
  request.set_session_id(old_id);
  request.set_after_position(chat.response.after_position());
  request.set_until_turn_id(chat.response.turn_id());
  const auto by_position = client().Subscribe(request);
  ASSERT_TRUE(by_position->WaitForEnd());
  EXPECT_TRUE(by_position->WaitForEnd()->ok());
  EXPECT_EQ(TextOf(by_position->Stored()), "hello");
}

TEST_F(SessionStreamsTest, WithoutACursorJustTheSuccessorsNow) {
  StartForgetful();
  const std::string old_id = MakeDormant();
  const auto chat = client().Say(kProject, old_id, "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  api::SubscribeProgressRequest request;
  request.set_session_id(old_id);
  const auto stream = client().Subscribe(request);
  ASSERT_TRUE(stream->WaitFor(HasCaughtUp()));
  EXPECT_THAT(stream->Stored(), IsEmpty());
  const auto next = client().Say(kProject, old_id, "more");
  ASSERT_TRUE(stream->WaitFor(EndOf(next.response.turn_id())));
  EXPECT_EQ(TextOf(stream->Stored()), "more");
  for (const Event& event : stream->Stored()) {
    EXPECT_EQ(event.session_id(), chat.response.session_id());
  }
}

TEST_F(SessionStreamsTest, UntilTurnFollowsATurnThatMoves) {
  json script = json::object();
  script["session/resume"] = Steps(Barrier("resume"), Error(-32002, "Resource not found"));
  UseScript(script);
  StartDaemon();
  const std::string old_id = MakeDormant();
  const std::string turn_id = Accept(old_id, Steps(Say("moved")));
  ASSERT_TRUE(barriers().WaitReached("resume"));
  api::SubscribeProgressRequest request;
  request.set_session_id(old_id);
  request.set_after_seq(0);
  request.set_until_turn_id(turn_id);
  const auto stream = client().Subscribe(request);
  ASSERT_TRUE(stream->WaitFor(HasCaughtUp()));
  barriers().Release("resume");
  const auto end = stream->WaitForEnd();
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->ok()) << end->error_message();
  EXPECT_TRUE(EndOf(turn_id)(stream->Events().back()));
  EXPECT_EQ(TextOf(stream->Stored(), turn_id), "moved");
}

TEST_F(SessionStreamsTest, ChatStreamIsChatAndItsEvents) {
  StartDaemon();
  api::ChatRequest request = ChatOf(kProject, "", "hello", api::WAIT_FOR_UNSPECIFIED);
  request.set_request_id("stream-1");
  const auto stream = client().ChatStream(request);
  const auto end = stream->WaitForEnd();
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->ok()) << end->error_message();
  const std::vector<Event> events = stream->Events();
  ASSERT_TRUE(events.front().has_chat_accepted());
  const api::ChatResponse& accepted = events.front().chat_accepted().response();
  EXPECT_EQ(accepted.request_id(), "stream-1");
  EXPECT_TRUE(EndOf(accepted.turn_id())(events.back()));
  EXPECT_EQ(events.back().turn_ended().result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  EXPECT_EQ(TextOf(events, accepted.turn_id()), "hello");
  ASSERT_FALSE(stream->Stored().empty());
  EXPECT_TRUE(stream->Stored().front().has_turn_queued());
  // Once more: the same turn.
  const auto again = client().ChatStream(request);
  ASSERT_TRUE(again->WaitForEnd());
  EXPECT_TRUE(again->Events().front().chat_accepted().response().deduplicated());
  EXPECT_EQ(TextOf(again->Events(), accepted.turn_id()), "hello");
  EXPECT_EQ(log().Received("session/prompt").size(), 1u);
}

TEST_F(SessionStreamsTest, ChatStreamFollowsAFallbackAndEndsForAFailedStart) {
  StartForgetful();
  const std::string old_id = MakeDormant();
  const auto moved = client().ChatStream(ChatOf(kProject, old_id, "hello", api::WAIT_FOR_FINISHED));
  ASSERT_TRUE(moved->WaitForEnd());
  EXPECT_TRUE(moved->WaitForEnd()->ok());
  EXPECT_EQ(TextOf(moved->Stored()), "hello");
  const auto refused = client().ChatStream(ChatOf(kProject, "", "", api::WAIT_FOR_FINISHED));
  ASSERT_TRUE(refused->WaitForEnd());
  EXPECT_EQ(refused->WaitForEnd()->error_code(), Code::INVALID_ARGUMENT);
  EXPECT_EQ(refused->Trailer("acpd-reason"), "EMPTY_PROMPT");
  api::ChatRequest required = ChatOf(kProject, "nobody-knows", "hello", api::WAIT_FOR_FINISHED);
  required.mutable_resume_policy()->set_mode(api::ResumePolicy::MODE_REQUIRE);
  const auto failed = client().ChatStream(required);
  ASSERT_TRUE(failed->WaitForEnd());
  const std::vector<Event> events = failed->Events();
  ASSERT_FALSE(events.empty());
  ASSERT_TRUE(events.back().has_turn_ended());
  EXPECT_EQ(events.back().turn_ended().result().error().reason(), "SESSION_NOT_RESUMABLE");
}

TEST_F(SessionStreamsTest, AReaderThatLeavesAChatStreamDoesNotEndTheTurn) {
  StartDaemon();
  std::string turn_id;
  {
    const auto stream = client().ChatStream(
        ChatOf(kProject, "", Scripted(Steps(Barrier("hold"), Say("x"))), api::WAIT_FOR_FINISHED));
    ASSERT_TRUE(barriers().WaitReached("hold"));
    const auto accepted = stream->WaitFor(Is(Event::kChatAccepted));
    ASSERT_TRUE(accepted);
    turn_id = accepted->turn_id();
  }
  barriers().Release("hold");
  EXPECT_EQ(WaitForTurn(turn_id).result().text(), "x");
}

TEST_F(SessionStreamsTest, AnOpenQuestionIsResentToAReaderThatStartsNow) {
  StartDaemon();
  const auto chat = client().Begin(kProject, "", "ASK");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const std::string id = chat.response.session_id();
  ASSERT_TRUE(WaitForState(id, api::Session::STATE_WAITING));
  api::SubscribeProgressRequest requests[3];
  requests[0].set_session_id(id);
  requests[1].set_project_id(kProject);
  requests[2].set_everything(true);
  std::string question_id;
  for (const auto& request : requests) {
    const auto stream = client().Subscribe(request);
    const auto asked = stream->WaitFor(Is(Event::kPermissionRequested));
    ASSERT_TRUE(asked);
    EXPECT_TRUE(asked->resent());
    question_id = asked->permission_requested().question_id();
    EXPECT_THAT(stream->Stored(), IsEmpty());
  }
  requests[0].set_after_seq(0);
  const auto with_past = client().Subscribe(requests[0]);
  ASSERT_TRUE(with_past->WaitFor(HasCaughtUp()));
  const std::vector<Event> events = with_past->Events();
  EXPECT_EQ(std::count_if(events.begin(), events.end(), Is(Event::kPermissionRequested)), 1);
  EXPECT_FALSE(with_past->WaitFor(Is(Event::kPermissionRequested))->resent());
  ASSERT_TRUE(client().Respond(id, question_id, "allow").ok());
  WaitForTurn(chat.response.turn_id());
  requests[0].clear_start();
  const auto later = client().Subscribe(requests[0]);
  ASSERT_TRUE(later->WaitFor(HasCaughtUp()));
  for (const Event& event : later->Events()) EXPECT_FALSE(event.has_permission_requested());
}

TEST_F(SessionStreamsTest, SilenceIsFilledWithHeartbeats) {
  StartDaemon();
  const auto chat = client().Say(kProject, "", "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  api::SubscribeProgressRequest request;
  request.set_session_id(chat.response.session_id());
  request.set_after_seq(0);
  request.mutable_heartbeat()->set_seconds(1);
  const auto stream = client().Subscribe(request);
  const auto beat = stream->WaitFor(Is(Event::kHeartbeat));
  ASSERT_TRUE(beat);
  EXPECT_EQ(beat->seq(), 0u);
  EXPECT_EQ(beat->position(), stream->Stored().back().position());
  request.mutable_heartbeat()->set_seconds(0);
  request.mutable_heartbeat()->set_nanos(-5);
  const auto refused = client().Subscribe(request);
  ASSERT_TRUE(refused->WaitForEnd());
  EXPECT_EQ(refused->WaitForEnd()->error_code(), Code::INVALID_ARGUMENT);
}

TEST_F(SessionStreamsTest, AStopEndsStreamsWithTheirPosition) {
  StartDaemon();
  const auto chat = client().Say(kProject, "", "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const auto stream = client().SubscribeSession(chat.response.session_id());
  ASSERT_TRUE(stream->WaitFor(HasCaughtUp()));
  EXPECT_EQ(daemon().Stop(), (ExitStatus{0, 0}));
  const auto end = stream->WaitForEnd();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->error_code(), Code::UNAVAILABLE);
  EXPECT_EQ(stream->Trailer("acpd-reason"), "SHUTTING_DOWN");
  EXPECT_NE(stream->Trailer("acpd-position"), "");
  StartDaemon();
}

}  // namespace
}  // namespace acpd::e2e
