// The limits on workers: who is closed for whom, and who waits.

#include <algorithm>
#include <future>
#include <sstream>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using ::testing::ElementsAre;
using Code = grpc::StatusCode;
using Result = api::TurnResult;

class WorkerLimitsTest : public TurnsTest {
 protected:
  void Limit(int in_all, int per_project, const std::string& wait = "1h") {
    options().extra = {{"limits",
                        {{"max_workers", in_all},
                         {"max_workers_per_project", per_project},
                         {"worker_wait", wait}}}};
    StartDaemon();
  }
  std::string NewSession(const std::string& project = kProject) {
    const auto chat = client().Say(project, "", "hello");
    EXPECT_TRUE(chat.ok()) << chat.ToString();
    return chat.response.session_id();
  }
  api::Session::State StateOf(const std::string& session_id) {
    return client().GetSession(session_id).response.state();
  }
  api::ChatResponse AcceptNew(const std::string& project, const json& steps) {
    const auto chat = client().Chat(ChatOf(project, "", Scripted(steps), api::WAIT_FOR_ACCEPTED));
    EXPECT_TRUE(chat.ok()) << chat.ToString();
    return chat.response;
  }
  // A turn that waits for a slot: acpd has logged so.
  bool IsWaiting(const std::string& turn_id) {
    return WaitUntil([&] {
      std::istringstream lines(daemon().Log());
      for (std::string line; std::getline(lines, line);) {
        const bool waits = line.find("turn waits for a worker's slot") != line.npos;
        if (waits && line.find(turn_id) != line.npos) return true;
      }
      return false;
    });
  }
  std::vector<std::string> Notes() {
    std::vector<std::string> notes;
    for (const json& entry : log().Events("note")) notes.push_back(entry.at("text"));
    return notes;
  }
};

TEST_F(WorkerLimitsTest, TheLeastRecentlyUsedIdleWorkerIsClosed) {
  Limit(2, 2);
  const std::string a = NewSession(), b = NewSession();
  ASSERT_TRUE(client().Say(kProject, a, "more").ok());
  const std::string c = NewSession("bank");
  EXPECT_EQ(StateOf(a), api::Session::STATE_IDLE);
  EXPECT_EQ(StateOf(b), api::Session::STATE_DORMANT);
  const std::vector<Event> events = EventsOf(b);
  ASSERT_TRUE(events.back().has_session_closed());
  EXPECT_EQ(events.back().session_closed().reason(), api::SessionClosed::REASON_LIMIT);
  const auto resumed = client().Say(kProject, b, "again");
  ASSERT_TRUE(resumed.ok()) << resumed.ToString();
  EXPECT_EQ(resumed.response.origin().kind(), api::SessionOrigin::KIND_RESUMED);
  EXPECT_EQ(StateOf(a), api::Session::STATE_DORMANT);
}

TEST_F(WorkerLimitsTest, AtTheLimitNobodyIsClosed) {
  Limit(2, 2);
  const std::string a = NewSession(), b = NewSession();
  ASSERT_TRUE(client().Say(kProject, a, "more").ok());
  EXPECT_EQ(StateOf(a), api::Session::STATE_IDLE);
  EXPECT_EQ(StateOf(b), api::Session::STATE_IDLE);
  EXPECT_EQ(log().Pids().size(), 2u);
}

TEST_F(WorkerLimitsTest, WithNoneToCloseTurnsWaitQueuedFirstComeFirstServed) {
  Limit(1, 1);
  const api::ChatResponse running = BeginAt("hold");
  std::vector<api::ChatResponse> waiting;
  for (const std::string name : {"first", "second", "third"}) {
    waiting.push_back(AcceptNew("bank-of-" + name, Steps(Step("log", name), Say(name))));
    ASSERT_TRUE(IsWaiting(waiting.back().turn_id()));
  }
  EXPECT_EQ(client().GetTurn(waiting[0].turn_id()).response.state(), api::TURN_STATE_QUEUED);
  EXPECT_EQ(log().Pids().size(), 1u);
  barriers().Release("hold");
  for (const api::ChatResponse& chat : waiting) {
    EXPECT_EQ(WaitForTurn(chat.turn_id()).result().outcome(), Result::OUTCOME_COMPLETED);
  }
  EXPECT_THAT(Notes(), ElementsAre("first", "second", "third"));
  EXPECT_EQ(StateOf(running.session_id()), api::Session::STATE_DORMANT);
}

TEST_F(WorkerLimitsTest, AWaitingTurnIsCancelledAtOnce) {
  Limit(1, 1);
  const api::ChatResponse running = BeginAt("hold");
  const api::ChatResponse waiting = AcceptNew(kProject, Steps(Say("never")));
  ASSERT_TRUE(IsWaiting(waiting.turn_id()));
  const auto cancelled = client().CancelSession(waiting.session_id());
  ASSERT_TRUE(cancelled.ok()) << cancelled.ToString();
  EXPECT_EQ(cancelled.response.outcome(), api::CancelResponse::OUTCOME_NOT_STARTED);
  EXPECT_EQ(WaitForTurn(waiting.turn_id()).result().outcome(), Result::OUTCOME_CANCELLED);
  barriers().Release("hold");
  WaitForTurn(running.turn_id());
  EXPECT_EQ(StateOf(running.session_id()), api::Session::STATE_IDLE);
  EXPECT_EQ(log().Pids().size(), 1u);
}

TEST_F(WorkerLimitsTest, AWaitHasItsLimit) {
  Limit(1, 1, "700ms");
  const api::ChatResponse running = BeginAt("hold");
  api::ChatRequest request = ChatOf(kProject, "", "hello", api::WAIT_FOR_FINISHED);
  request.set_request_id("one");
  const auto refused = client().Chat(request);
  EXPECT_EQ(refused.code(), Code::RESOURCE_EXHAUSTED) << refused.ToString();
  EXPECT_EQ(refused.reason(), "TOO_MANY_WORKERS");
  const std::string turn_id = refused.trailers.at("acpd-turn-id");
  EXPECT_TRUE(WaitForTurn(turn_id).result().error().retryable());
  EXPECT_EQ(CountEnds(turn_id), 1u);
  barriers().Release("hold");
  WaitForTurn(running.turn_id());
  ASSERT_TRUE(client().CloseSession(running.session_id()).ok());
  const auto again = client().Chat(request);
  EXPECT_TRUE(again.ok()) << again.ToString();
  EXPECT_NE(again.response.turn_id(), turn_id);
}

TEST_F(WorkerLimitsTest, AProjectThatHasItsShareIsInNobodysWay) {
  Limit(4, 1);
  const api::ChatResponse running = BeginAt("hold");
  const api::ChatResponse waiting = AcceptNew(kProject, Steps(Say("later")));
  ASSERT_TRUE(IsWaiting(waiting.turn_id()));
  NewSession("bank");
  EXPECT_EQ(client().GetTurn(waiting.turn_id()).response.state(), api::TURN_STATE_QUEUED);
  barriers().Release("hold");
  EXPECT_EQ(WaitForTurn(waiting.turn_id()).result().text(), "later");
  EXPECT_EQ(StateOf(running.session_id()), api::Session::STATE_DORMANT);
}

TEST_F(WorkerLimitsTest, HalfOfThemAreOneProjectsUnlessTheConfigSaysOtherwise) {
  Limit(2, 0);
  const api::ChatResponse running = BeginAt("hold");
  const api::ChatResponse waiting = AcceptNew(kProject, Steps(Say("later")));
  ASSERT_TRUE(IsWaiting(waiting.turn_id()));
  NewSession("bank");
  barriers().Release("hold");
  WaitForTurn(waiting.turn_id());
}

TEST_F(WorkerLimitsTest, AnIdleWorkerWithAnOpenQuestionIsNotClosed) {
  SetFake("question_timeout", "1h");
  Limit(1, 1);
  const json options = json::parse(R"([{"optionId": "no", "kind": "reject_once"}])");
  const auto asking = client().Say(
      kProject, "", Scripted(Steps(Reply("end_turn"), Step("ask", json{{"options", options}}))));
  ASSERT_TRUE(asking.ok()) << asking.ToString();
  const std::string id = asking.response.session_id();
  ASSERT_TRUE(WaitForState(id, api::Session::STATE_WAITING));
  const api::ChatResponse waiting = AcceptNew(kProject, Steps(Say("later")));
  ASSERT_TRUE(IsWaiting(waiting.turn_id()));
  EXPECT_TRUE(IsAlive(log().Pids().back()));
  const auto session = client().GetSession(id);
  ASSERT_EQ(session.response.open_questions_size(), 1);
  const auto answered = client().Respond(
      id, session.response.open_questions(0).permission_requested().question_id(), "no");
  EXPECT_TRUE(answered.ok()) << answered.ToString();
  EXPECT_EQ(WaitForTurn(waiting.turn_id()).result().text(), "later");
  const std::vector<Event> events = EventsOf(id);
  EXPECT_TRUE(std::any_of(events.begin(), events.end(), Is(Event::kQuestionResolved)));
  EXPECT_TRUE(events.back().has_session_closed());
}

TEST_F(WorkerLimitsTest, ASessionKeepsItsSlotWhileItsWorkerIsReplaced) {
  Limit(1, 1);
  const std::string id = NewSession();
  api::ChatRequest request = ChatOf(kProject, id, "hello", api::WAIT_FOR_FINISHED);
  request.mutable_model_provider()->set_model("another");
  const auto chat = client().Chat(request);
  EXPECT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(log().Pids().size(), 2u);
}

TEST_F(WorkerLimitsTest, AnAdoptedWorkerHoldsASlot) {
  Limit(1, 1);
  const api::ChatResponse running = BeginAt("hold");
  KillAndRestartDaemon();
  const api::ChatResponse waiting = AcceptNew(kProject, Steps(Say("later")));
  ASSERT_TRUE(IsWaiting(waiting.turn_id()));
  barriers().Release("hold");
  EXPECT_EQ(WaitForTurn(running.turn_id()).result().outcome(), Result::OUTCOME_COMPLETED);
  EXPECT_EQ(WaitForTurn(waiting.turn_id()).result().text(), "later");
}

TEST_F(WorkerLimitsTest, ATurnThatWaitsOutlivesARestart) {
  Limit(1, 1);
  const api::ChatResponse running = BeginAt("hold");
  const api::ChatResponse waiting = AcceptNew(kProject, Steps(Say("later")));
  ASSERT_TRUE(IsWaiting(waiting.turn_id()));
  RestartDaemon();
  EXPECT_EQ(WaitForTurn(waiting.turn_id()).result().text(), "later");
  EXPECT_EQ(CountEnds(waiting.turn_id()), 1u);
}

TEST_F(WorkerLimitsTest, ASessionThatWaitsIsClosedByForce) {
  Limit(1, 1);
  const api::ChatResponse running = BeginAt("hold");
  const api::ChatResponse waiting = AcceptNew(kProject, Steps(Say("never")));
  ASSERT_TRUE(IsWaiting(waiting.turn_id()));
  EXPECT_EQ(client().CloseSession(waiting.session_id()).reason(), "SESSION_BUSY");
  api::CloseSessionRequest request;
  request.set_session_id(waiting.session_id());
  request.set_force(true);
  const auto closed = client().Call(&Client::Stub::CloseSession, request);
  EXPECT_TRUE(closed.ok()) << closed.ToString();
  EXPECT_EQ(WaitForTurn(waiting.turn_id()).result().cancelled_by(), "close");
}

TEST_F(WorkerLimitsTest, OnlySoManyAgentsAreProbedAtOnce) {
  json script = json::object();
  script["initialize"] = Steps(Barrier("initialize"), "reply");
  UseScript(script);
  StartDaemon();
  const auto probe = [this] {
    api::ProbeAgentRequest request;
    request.set_agent("fake");
    return client().Call(&Client::Stub::ProbeAgent, request);
  };
  std::vector<std::future<Called<api::Agent>>> probes;
  for (int i = 0; i < 4; ++i) probes.push_back(std::async(std::launch::async, probe));
  ASSERT_TRUE(log().WaitForReceived("initialize", 4));
  const auto fifth = probe();
  EXPECT_EQ(fifth.code(), Code::RESOURCE_EXHAUSTED) << fifth.ToString();
  EXPECT_EQ(fifth.reason(), "TOO_MANY_WORKERS");
  barriers().Release("initialize");
  for (auto& each : probes) EXPECT_TRUE(each.get().ok());
  EXPECT_TRUE(WaitUntil([&] { return probe().ok(); }));
}

// Idle closing.

TEST_F(WorkerLimitsTest, AnAgentThatGoesOnTalkingIsNotIdle) {
  SetFake("idle_timeout", "1s");
  StartDaemon();
  json steps = Steps(Reply("end_turn"));
  for (int i = 0; i < 8; ++i) {
    steps.push_back(Step("sleep_ms", 300));
    steps.push_back(Say("more"));
  }
  const auto chat = client().Say(kProject, "", Scripted(steps));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const auto stream = client().SubscribeSession(chat.response.session_id());
  ASSERT_TRUE(stream->WaitFor(Is(Event::kSessionClosed)));
  const std::vector<Event> events = stream->Stored();
  EXPECT_EQ(std::count_if(events.begin(), events.end(), SaysText("more")), 8);
}

TEST_F(WorkerLimitsTest, AnIdleWorkerWithAnOpenQuestionWaitsForItsAnswer) {
  SetFake("idle_timeout", "300ms");
  SetFake("question_timeout", "2s");
  StartDaemon();
  const json options = json::parse(R"([{"optionId": "no", "kind": "reject_once"}])");
  const auto chat = client().Say(
      kProject, "", Scripted(Steps(Reply("end_turn"), Step("ask", json{{"options", options}}))));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const auto stream = client().SubscribeSession(chat.response.session_id());
  const auto closed = stream->WaitFor(Is(Event::kSessionClosed));
  ASSERT_TRUE(closed);
  const auto resolved = stream->WaitFor(Is(Event::kQuestionResolved));
  ASSERT_TRUE(resolved);
  EXPECT_EQ(resolved->question_resolved().by(), api::QuestionResolved::BY_TIMEOUT);
  EXPECT_LT(resolved->seq(), closed->seq());
}

}  // namespace
}  // namespace acpd::e2e
