// What a Cancel reaches: queued and starting turns, a project, everything; and questions.

#include <algorithm>
#include <future>
#include <map>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using Cancelled = api::CancelResponse;
using Code = grpc::StatusCode;

class CancelScopeTest : public TurnsTest {
 protected:
  void ExpectNotStarted(const std::string& turn_id) {
    const api::Turn turn = WaitForTurn(turn_id);
    EXPECT_EQ(turn.result().outcome(), api::TurnResult::OUTCOME_CANCELLED);
    EXPECT_FALSE(turn.result().prompt_sent());
    EXPECT_EQ(CountEnds(turn_id), 1u);
  }
  std::map<std::string, Cancelled::Outcome> OutcomesOf(const Cancelled& response) {
    std::map<std::string, Cancelled::Outcome> outcomes;
    for (const auto& turn : response.turns()) outcomes[turn.turn_id()] = turn.outcome();
    return outcomes;
  }
};

TEST_F(CancelScopeTest, StartingAndQueuedTurnsNeverReachTheAgent) {
  json script = json::object();
  script["session/new"] = Steps(Barrier("new"), "reply");
  UseScript(script);
  StartDaemon();
  const auto first =
      client().Chat(ChatOf(kProject, "", Scripted(Steps(Say("a"))), api::WAIT_FOR_ACCEPTED));
  ASSERT_TRUE(first.ok()) << first.ToString();
  const std::string id = first.response.session_id();
  const std::string second = Accept(id, Steps(Say("b"))), third = Accept(id, Steps(Say("c")));
  ASSERT_TRUE(barriers().WaitReached("new"));
  api::CancelRequest request;
  request.set_session_id(id);
  request.set_include_queued(true);
  const auto cancelled = client().Cancel(request);
  ASSERT_TRUE(cancelled.ok()) << cancelled.ToString();
  EXPECT_EQ(cancelled.response.outcome(), Cancelled::OUTCOME_NOT_STARTED);
  EXPECT_EQ(cancelled.response.turns_size(), 3);
  for (const auto& turn : cancelled.response.turns()) {
    EXPECT_EQ(turn.outcome(), Cancelled::OUTCOME_NOT_STARTED);
  }
  barriers().Release("new");
  for (const std::string& turn_id : {first.response.turn_id(), second, third}) {
    ExpectNotStarted(turn_id);
  }
  ASSERT_TRUE(WaitForState(id, api::Session::STATE_IDLE));
  EXPECT_TRUE(log().Received("session/prompt").empty());
  // The set-up that was under way serves the next turn.
  const auto next = client().Say(kProject, id, "hello");
  ASSERT_TRUE(next.ok()) << next.ToString();
  EXPECT_EQ(next.response.result().text(), "hello");
  EXPECT_EQ(log().Received("session/new").size(), 1u);
  EXPECT_EQ(log().Pids().size(), 1u);
}

TEST_F(CancelScopeTest, AWaitingCallerOfATurnThatNeverStartedGetsAnAnswer) {
  json script = json::object();
  script["session/new"] = Steps(Barrier("new"), "reply");
  UseScript(script);
  StartDaemon();
  const auto first =
      client().Chat(ChatOf(kProject, "", Scripted(Steps(Say("a"))), api::WAIT_FOR_ACCEPTED));
  auto waiting = std::async(std::launch::async, [&] {
    return client().Begin(kProject, first.response.session_id(), Scripted(Steps(Say("b"))));
  });
  ASSERT_TRUE(WaitUntil([&] {
    return client().GetSession(first.response.session_id()).response.queued_size() == 1;
  }));
  api::CancelRequest request;
  request.set_session_id(first.response.session_id());
  request.set_include_queued(true);
  ASSERT_TRUE(client().Cancel(request).ok());
  const auto answer = waiting.get();
  ASSERT_TRUE(answer.ok()) << answer.ToString();
  EXPECT_EQ(answer.response.state(), api::TURN_STATE_ENDED);
  EXPECT_EQ(answer.response.result().outcome(), api::TurnResult::OUTCOME_CANCELLED);
  barriers().Release("new");
}

TEST_F(CancelScopeTest, ASessionsCancelLeavesTheQueueUnlessAsked) {
  StartDaemon();
  const api::ChatResponse running = BeginAt("hold");
  const std::string queued = Accept(running.session_id(), Steps(Say("goes on")));
  const auto cancelled = client().CancelSession(running.session_id());
  ASSERT_TRUE(cancelled.ok()) << cancelled.ToString();
  ASSERT_EQ(cancelled.response.turns_size(), 1);
  EXPECT_EQ(cancelled.response.turns(0).turn_id(), running.turn_id());
  EXPECT_EQ(WaitForTurn(queued).result().text(), "goes on");
}

TEST_F(CancelScopeTest, AQueuedTurnAloneIsTakenOut) {
  StartDaemon();
  const api::ChatResponse running = BeginAt("hold");
  const std::string queued = Accept(running.session_id(), Steps(Say("never")));
  const std::string last = Accept(running.session_id(), Steps(Say("last")));
  api::CancelRequest request;
  request.set_turn_id(queued);
  const auto cancelled = client().Cancel(request);
  ASSERT_TRUE(cancelled.ok()) << cancelled.ToString();
  EXPECT_EQ(cancelled.response.outcome(), Cancelled::OUTCOME_NOT_STARTED);
  ExpectNotStarted(queued);
  EXPECT_EQ(client().GetTurn(running.turn_id()).response.state(), api::TURN_STATE_RUNNING);
  barriers().Release("hold");
  EXPECT_EQ(WaitForTurn(last).result().text(), "last");
  EXPECT_EQ(WaitForTurn(running.turn_id()).result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  EXPECT_EQ(log().Received("session/prompt").size(), 2u);
}

TEST_F(CancelScopeTest, AProjectsTurnsAndNoOthers) {
  StartDaemon();
  const api::ChatResponse a = BeginAt("a"), b = BeginAt("b"), other = BeginAt("c", "other");
  const std::string queued = Accept(a.session_id(), Steps(Say("never")));
  api::CancelRequest request;
  request.set_project_id(kProject);
  const auto cancelled = client().Cancel(request);
  ASSERT_TRUE(cancelled.ok()) << cancelled.ToString();
  EXPECT_EQ(cancelled.response.outcome(), Cancelled::OUTCOME_CANCELLED);
  EXPECT_EQ(OutcomesOf(cancelled.response),
            (std::map<std::string, Cancelled::Outcome>{{a.turn_id(), Cancelled::OUTCOME_CANCELLED},
                                                       {b.turn_id(), Cancelled::OUTCOME_CANCELLED},
                                                       {queued, Cancelled::OUTCOME_NOT_STARTED}}));
  EXPECT_EQ(client().GetTurn(other.turn_id()).response.state(), api::TURN_STATE_RUNNING);
  barriers().Release("c");
  EXPECT_EQ(WaitForTurn(other.turn_id()).result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
}

TEST_F(CancelScopeTest, Everything) {
  StartDaemon();
  const api::ChatResponse a = BeginAt("a"), other = BeginAt("c", "other");
  const std::string queued = Accept(a.session_id(), Steps(Say("never")));
  api::CancelRequest request;
  request.set_everything(true);
  const auto cancelled = client().Cancel(request);
  ASSERT_TRUE(cancelled.ok()) << cancelled.ToString();
  EXPECT_EQ(OutcomesOf(cancelled.response), (std::map<std::string, Cancelled::Outcome>{
                                                {a.turn_id(), Cancelled::OUTCOME_CANCELLED},
                                                {other.turn_id(), Cancelled::OUTCOME_CANCELLED},
                                                {queued, Cancelled::OUTCOME_NOT_STARTED}}));
  EXPECT_EQ(client().Cancel(request).response.outcome(), Cancelled::OUTCOME_NOTHING_RUNNING);
}

TEST_F(CancelScopeTest, ScopesThatDisagreeOrNameNothing) {
  StartDaemon();
  const api::ChatResponse a = BeginAt("a"), other = BeginAt("c", "other");
  api::CancelRequest request;
  EXPECT_EQ(client().Cancel(request).code(), Code::INVALID_ARGUMENT);
  request.set_turn_id(a.turn_id());
  request.set_session_id(other.session_id());
  EXPECT_EQ(client().Cancel(request).reason(), "SCOPE_MISMATCH");
  request.Clear();
  request.set_turn_id(a.turn_id());
  request.set_project_id("other");
  EXPECT_EQ(client().Cancel(request).reason(), "SCOPE_MISMATCH");
  request.Clear();
  request.set_session_id("no-such-session");
  EXPECT_EQ(client().Cancel(request).reason(), "SESSION_NOT_FOUND");
  request.Clear();
  request.set_turn_id("no-such-turn");
  EXPECT_EQ(client().Cancel(request).reason(), "TURN_NOT_FOUND");
  request.Clear();
  request.set_project_id("never-named");
  EXPECT_EQ(client().Cancel(request).response.outcome(), Cancelled::OUTCOME_NOTHING_RUNNING);
  for (const std::string& turn_id : {a.turn_id(), other.turn_id()}) {
    EXPECT_EQ(client().GetTurn(turn_id).response.state(), api::TURN_STATE_RUNNING);
  }
}

TEST_F(CancelScopeTest, AnOpenQuestionIsAnsweredCancelledFirst) {
  StartDaemon();
  const json options = json::parse(
      R"([{"optionId": "yes", "kind": "allow_once"}, {"optionId": "no", "kind": "reject_once"}])");
  const auto chat = client().Begin(
      kProject, "",
      Scripted(Steps(Step("ask", json{{"id", "q-1"}, {"options", options}}), Barrier("hold"))));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const std::string id = chat.response.session_id();
  const auto stream = client().SubscribeSession(id);
  const auto asked = stream->WaitFor(Is(Event::kPermissionRequested));
  ASSERT_TRUE(asked);
  const std::string question_id = asked->permission_requested().question_id();
  const auto cancelled = client().CancelSession(id);
  EXPECT_EQ(cancelled.response.outcome(), Cancelled::OUTCOME_CANCELLED) << cancelled.ToString();

  const auto resolved = stream->WaitFor(Is(Event::kQuestionResolved));
  ASSERT_TRUE(resolved);
  EXPECT_EQ(resolved->question_resolved().question_id(), question_id);
  EXPECT_EQ(resolved->question_resolved().by(), api::QuestionResolved::BY_CANCEL);
  EXPECT_EQ(resolved->question_resolved().outcome(), api::QuestionResolved::OUTCOME_CANCELLED);
  ASSERT_TRUE(stream->WaitFor(EndOf(chat.response.turn_id())));
  EXPECT_EQ(CountEnds(chat.response.turn_id()), 1u);

  const auto late = client().Respond(id, question_id, "yes");
  EXPECT_EQ(late.code(), Code::FAILED_PRECONDITION) << late.ToString();
  EXPECT_EQ(late.reason(), "ALREADY_ANSWERED");
  ASSERT_TRUE(client().Say(kProject, id, "hello").ok());  // whatever was sent has arrived
  const std::vector<json> answers = log().AnswersTo("q-1");
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0]["result"]["outcome"]["outcome"], "cancelled");
  const std::vector<json> received = log().Received();
  const auto answer = std::find(received.begin(), received.end(), answers[0]);
  const auto cancel = std::find_if(received.begin(), received.end(), [](const json& message) {
    return message.value("method", "") == "session/cancel";
  });
  EXPECT_NE(cancel, received.end());
  EXPECT_LT(answer - received.begin(), cancel - received.begin());
}

}  // namespace
}  // namespace acpd::e2e
