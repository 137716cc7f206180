// acpd stops or is killed while agents work: the next one goes on with them, and nobody can tell
// from the record that anything happened.
#include <algorithm>
#include <thread>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using ::testing::IsEmpty;

json Question(const json& id) {
  return {{"id", id},
          {"options", json::array({{{"optionId", "yes"}, {"kind", "allow_once"}},
                                   {{"optionId", "no"}, {"kind", "reject_once"}}})}};
}

// How acpd goes away.
enum class Way { kKill, kTerm };

class AdoptTest : public TurnsTest, public ::testing::WithParamInterface<Way> {
 protected:
  AdoptTest() { options().extra["shutdown"] = {{"workers", "keep"}}; }

  void StopDaemon() {
    if (GetParam() == Way::kKill) return daemon().Kill();
    EXPECT_EQ(daemon().Stop(), (ExitStatus{0, 0}));
  }
  void Restart() {
    StopDaemon();
    StartDaemon();
  }
  std::string Begin(const json& steps) {
    const auto chat = client().Begin(kProject, "", Scripted(steps));
    EXPECT_TRUE(chat.ok()) << chat.ToString();
    session_ = chat.response.session_id();
    return chat.response.turn_id();
  }
  // The one agent process that there was; the record shows no end of it.
  void ExpectOneAgent() {
    EXPECT_EQ(log().Pids().size(), 1u);
    for (const Event& event : EventsOf(session_)) EXPECT_FALSE(event.has_worker_exited());
  }

  std::string session_;
};

TEST_P(AdoptTest, ARunningTurnGoesOnToItsEnd) {
  StartDaemon();
  const std::string turn =
      Begin(Steps(Say("one "), Barrier("hold"), Say("two "), Barrier("more"), Say("three")));
  ASSERT_TRUE(barriers().WaitReached("hold"));
  const auto stream = client().SubscribeSession(session_);
  ASSERT_TRUE(stream->WaitFor(SaysText("one ")));
  const std::vector<Event> before = stream->Stored();
  StopDaemon();
  // What is said while nobody listens is kept.
  barriers().Release("hold");
  ASSERT_TRUE(barriers().WaitReached("more"));
  StartDaemon();
  barriers().Release("more");
  const api::Turn ended = WaitForTurn(turn);
  EXPECT_EQ(ended.result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  EXPECT_EQ(ended.result().text(), "one two three");
  EXPECT_EQ(ended.result().final_text(), "one two three");
  EXPECT_EQ(log().Received("session/prompt").size(), 1u);
  ExpectOneAgent();
  // A reader that comes back with its cursor gets the rest, each once.
  const auto again = client().SubscribeSession(session_, before.back().seq());
  ASSERT_TRUE(again->WaitFor(EndOf(turn)));
  std::vector<Event> all = before;
  for (const Event& event : again->Stored()) all.push_back(event);
  EXPECT_THAT(CheckNoHoleNoRepeat(all), IsEmpty());
  EXPECT_EQ(all.front().seq(), 1u);
  EXPECT_EQ(TextOf(all), "one two three");
  // The session goes on with the same agent.
  const auto next = client().Say(kProject, session_, "COUNT");
  ASSERT_TRUE(next.ok()) << next.ToString();
  EXPECT_EQ(next.response.result().text(), "2");
  EXPECT_EQ(next.response.origin().kind(), api::SessionOrigin::KIND_LIVE);
}

TEST_P(AdoptTest, AToolCallUnderWayStillHoldsTheWatchOff) {
  SetFake("turn_stall", "500ms");
  SetFake("tool_silence", "1h");
  StartDaemon();
  const json call = {{"sessionUpdate", "tool_call"},
                     {"toolCallId", "long"},
                     {"title", "build"},
                     {"status", "in_progress"}};
  const std::string turn = Begin(Steps(Step("update", call), Barrier("hold"), Say("done")));
  const auto stream = client().SubscribeSession(session_);
  ASSERT_TRUE(stream->WaitFor(Is(Event::kSessionUpdate)));
  Restart();
  std::this_thread::sleep_for(milliseconds(1500));  // that nothing happens
  barriers().Release("hold");
  const api::Turn ended = WaitForTurn(turn);
  EXPECT_EQ(ended.result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  EXPECT_EQ(ended.result().text(), "done");
}

// Of a tool call whose kind or path they do not know, rules like these decide nothing.
TEST_P(AdoptTest, RulesSeeWhatAToolCallSaidBefore) {
  SetFake("permission_rules",
          json::array({{{"tool_kind", "execute"}, {"decision", "deny"}},
                       {{"path", "*.env"}, {"decision", "deny"}},
                       {{"tool_kind", "edit"}, {"path", "*.txt"}, {"decision", "allow"}}}));
  const auto update = [](const char* id, const char* kind, const json& said) {
    json update = {{"sessionUpdate", kind}, {"toolCallId", id}};
    update.update(said);
    return Step("update", update);
  };
  const auto ask = [](const char* id) {
    json question = Question(std::string("q-") + id);
    question["toolCall"] = {{"toolCallId", id}};
    question["wait"] = true;
    return Step("ask", question);
  };
  const auto at = [](const char* path) { return json::array({{{"path", path}}}); };
  // The large one takes more than one event.
  const json large = {{"command", std::string(3'000'000, 'x')}};
  json script = json::object();
  script["session/prompt"] = json::array({Steps(
      update("run", "tool_call", {{"title", "Run"}, {"kind", "execute"}}),
      update("edit", "tool_call", {{"title", "Edit"}, {"kind", "edit"}}),
      update("edit", "tool_call_update", {{"locations", at("a.txt")}}),
      update("hide", "tool_call", {{"title", "Edit"}, {"kind", "edit"}}),
      update("hide", "tool_call_update",
             {{"content", {{{"type", "diff"}, {"path", "x.env"}, {"newText", ""}}}}}),
      update("large", "tool_call", {{"title", "Run"}, {"kind", "execute"}, {"rawInput", large}}),
      Barrier("hold"), ask("run"), ask("edit"), ask("hide"), ask("large"))});
  UseScript(script);
  StartDaemon();
  const auto chat = client().Begin(kProject, "", "go");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  session_ = chat.response.session_id();
  ASSERT_TRUE(barriers().WaitReached("hold"));
  // All of it is stored before acpd goes.
  const auto stream = client().SubscribeSession(session_);
  ASSERT_TRUE(stream->WaitFor([](const Event& event) {
    return event.session_update().tool_call_id() == "large" &&
           event.session_update().part() == event.session_update().parts();
  }));
  Restart();
  barriers().Release("hold");
  EXPECT_EQ(WaitForTurn(chat.response.turn_id()).result().outcome(),
            api::TurnResult::OUTCOME_COMPLETED);
  std::vector<std::string> chosen;
  for (const Event& event : EventsOf(session_)) {
    if (!event.has_question_resolved()) continue;
    EXPECT_EQ(event.question_resolved().by(), api::QuestionResolved::BY_POLICY);
    chosen.push_back(event.question_resolved().option_id());
  }
  EXPECT_EQ(chosen, (std::vector<std::string>{"no", "yes", "no", "no"}));
  ExpectOneAgent();
}

TEST_P(AdoptTest, AnOpenQuestionIsAnsweredUnderItsId) {
  StartDaemon();
  const std::string turn = Begin(Steps(Step("ask", Question("q-1")), Step("say_chosen", "q-1")));
  const auto stream = client().SubscribeSession(session_);
  const auto asked = stream->WaitFor(Is(Event::kPermissionRequested));
  ASSERT_TRUE(asked);
  const std::string question = asked->permission_requested().question_id();
  Restart();
  const auto session = client().GetSession(session_);
  ASSERT_TRUE(session.ok()) << session.ToString();
  EXPECT_EQ(session.response.state(), api::Session::STATE_WAITING);
  ASSERT_EQ(session.response.open_questions_size(), 1);
  const std::string option = asked->permission_requested().options(0).option_id();
  const auto answered = client().Respond(session_, question, option);
  ASSERT_TRUE(answered.ok()) << answered.ToString();
  const api::Turn ended = WaitForTurn(turn);
  EXPECT_EQ(ended.result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  ExpectOneAgent();
  EXPECT_EQ(client().Respond(session_, question, option).response.resolved().by(),
            answered.response.resolved().by());
}

TEST_P(AdoptTest, AnAnswerGivenJustBeforeReachesTheAgentOnce) {
  StartDaemon();
  const std::string turn = Begin(Steps(Step("ask", Question(7)), Step("say_chosen", 7)));
  const auto stream = client().SubscribeSession(session_);
  const auto asked = stream->WaitFor(Is(Event::kPermissionRequested));
  ASSERT_TRUE(asked);
  const pid_t worker = ParentOf(log().Pids().back());
  // The worker takes nothing while it is stopped: the answer waits in the store.
  ::kill(worker, SIGSTOP);
  const auto answered = client().Respond(session_, asked->permission_requested().question_id(),
                                         asked->permission_requested().options(0).option_id());
  ASSERT_TRUE(answered.ok()) << answered.ToString();
  daemon().Kill();
  ::kill(worker, SIGCONT);
  StartDaemon();
  EXPECT_EQ(WaitForTurn(turn).result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  EXPECT_EQ(log().Received("session/prompt").size(), 1u);
  ExpectOneAgent();
}

TEST_P(AdoptTest, ACancelGoesOnWithItsReason) {
  StartDaemon();
  const std::string turn = Begin(Steps(Say("one"), Step("on_cancel", "ignore"), Barrier("hold")));
  ASSERT_TRUE(barriers().WaitReached("hold"));
  api::CancelRequest request;
  request.set_session_id(session_);
  request.set_reason("enough");
  client().Cancel(request, milliseconds(300));
  ASSERT_TRUE(WaitUntil([&] { return log().Received("session/cancel").size() == 1; }));
  Restart();
  EXPECT_EQ(client().GetTurn(turn).response.state(), api::TURN_STATE_CANCELLING);
  barriers().Release("hold");
  const api::Turn ended = WaitForTurn(turn);
  EXPECT_EQ(ended.result().outcome(), api::TurnResult::OUTCOME_CANCELLED);
  EXPECT_EQ(ended.result().cancel_reason(), "enough");
  EXPECT_EQ(log().Received("session/cancel").size(), 1u);
  ExpectOneAgent();
}

TEST_P(AdoptTest, QueuedTurnsRunBehindIt) {
  StartDaemon();
  const std::string first = Begin(Steps(Say("one"), Barrier("hold")));
  ASSERT_TRUE(barriers().WaitReached("hold"));
  const std::string second = Accept(session_, Steps(Say("two")));
  const std::string third = Accept(session_, Steps(Say("three")));
  Restart();
  barriers().Release("hold");
  for (const std::string& turn : {first, second, third}) {
    EXPECT_EQ(WaitForTurn(turn).result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  }
  EXPECT_EQ(TextOf(EventsOf(session_)), "onetwothree");
  EXPECT_EQ(log().Received("session/prompt").size(), 3u);
  ExpectOneAgent();
}

TEST_P(AdoptTest, AnIdleAgentIsKept) {
  StartDaemon();
  const auto first = client().Say(kProject, "", "one");
  ASSERT_TRUE(first.ok()) << first.ToString();
  session_ = first.response.session_id();
  Restart();
  ASSERT_TRUE(WaitForState(session_, api::Session::STATE_IDLE));
  const auto next = client().Say(kProject, session_, "COUNT");
  ASSERT_TRUE(next.ok()) << next.ToString();
  EXPECT_EQ(next.response.result().text(), "2");
  EXPECT_EQ(next.response.origin().kind(), api::SessionOrigin::KIND_LIVE);
  ExpectOneAgent();
}

TEST_P(AdoptTest, AnAgentThatEndedMeanwhileInterruptsItsTurn) {
  StartDaemon();
  const std::string turn = Begin(Steps(Say("one"), Barrier("hold"), Say("two"), Step("exit", 3)));
  ASSERT_TRUE(barriers().WaitReached("hold"));
  const pid_t agent = log().Pids().back();
  StopDaemon();
  barriers().Release("hold");
  ASSERT_TRUE(WaitUntil([agent] { return !IsAlive(agent); }));
  StartDaemon();
  const api::Turn ended = WaitForTurn(turn);
  EXPECT_EQ(ended.result().outcome(), api::TurnResult::OUTCOME_INTERRUPTED);
  EXPECT_EQ(ended.result().error().reason(), "AGENT_EXITED");
  EXPECT_EQ(ended.result().text(), "onetwo");
  EXPECT_TRUE(WaitForState(session_, api::Session::STATE_DORMANT));
}

TEST_P(AdoptTest, ATurnThatEndedMeanwhileIsCompleted) {
  StartDaemon();
  const std::string turn = Begin(Steps(Barrier("hold"), Say("done")));
  ASSERT_TRUE(barriers().WaitReached("hold"));
  const pid_t worker = ParentOf(log().Pids().back());
  StopDaemon();
  barriers().Release("hold");
  StartDaemon();
  const api::Turn ended = WaitForTurn(turn);
  EXPECT_EQ(ended.result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  EXPECT_EQ(ended.result().text(), "done");
  EXPECT_TRUE(IsAlive(worker));
  ExpectOneAgent();
}

TEST_P(AdoptTest, ASetUpBeginsAnew) {
  options().agents["fake"] =
      FakeAgent({{"session/new", json::array({Steps(Barrier("setup")), Steps()})}});
  StartDaemon();
  const std::string turn = Accept("", Steps(Say("one")));
  ASSERT_TRUE(barriers().WaitReached("setup"));
  const pid_t agent = log().Pids().back();
  Restart();
  const api::Turn ended = WaitForTurn(turn);
  EXPECT_EQ(ended.result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  EXPECT_EQ(ended.result().text(), "one");
  EXPECT_FALSE(IsAlive(agent));
  EXPECT_EQ(log().Received("session/prompt").size(), 1u);
}

TEST_P(AdoptTest, ACursorOutlivesThreeRestarts) {
  StartDaemon();
  const std::string turn = Begin(
      Steps(Say("0"), Barrier("a"), Say("1"), Barrier("b"), Say("2"), Barrier("c"), Say("3")));
  std::vector<Event> seen;
  for (const std::string name : {"a", "b", "c"}) {
    const auto stream = client().SubscribeSession(session_, seen.empty() ? 0 : seen.back().seq());
    ASSERT_TRUE(barriers().WaitReached(name));
    ASSERT_TRUE(
        stream->WaitFor(SaysText(std::string(1, static_cast<char>('0' + (name[0] - 'a'))))));
    for (const Event& event : stream->Stored()) seen.push_back(event);
    Restart();
    barriers().Release(name);
  }
  const auto last = client().SubscribeSession(session_, seen.back().seq());
  ASSERT_TRUE(last->WaitFor(EndOf(turn)));
  for (const Event& event : last->Stored()) seen.push_back(event);
  EXPECT_THAT(CheckNoHoleNoRepeat(seen), IsEmpty());
  EXPECT_EQ(seen.front().seq(), 1u);
  EXPECT_EQ(TextOf(seen), "0123");
  ExpectOneAgent();
}

TEST_P(AdoptTest, AnAgentThatLeftTheConfigIsCarriedOn) {
  options().agents["old"] = FakeAgent();
  StartDaemon();
  api::ChatRequest request =
      ChatOf(kProject, "", Scripted(Steps(Say("one"), Barrier("hold"))), api::WAIT_FOR_STARTED);
  request.set_agent("old");
  const auto chat = client().Chat(request);
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  session_ = chat.response.session_id();
  ASSERT_TRUE(barriers().WaitReached("hold"));
  StopDaemon();
  options().agents.erase("old");
  StartDaemon();
  barriers().Release("hold");
  EXPECT_EQ(WaitForTurn(chat.response.turn_id()).result().outcome(),
            api::TurnResult::OUTCOME_COMPLETED);
  const auto next = client().Say(kProject, session_, "two");
  EXPECT_EQ(next.reason(), "AGENT_NOT_FOUND") << next.ToString();
}

TEST_P(AdoptTest, ARequestIdAttachesToTheTurnThatGoesOn) {
  StartDaemon();
  api::ChatRequest request =
      ChatOf(kProject, "", Scripted(Steps(Say("one"), Barrier("hold"))), api::WAIT_FOR_STARTED);
  request.set_request_id("once");
  const auto chat = client().Chat(request);
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  session_ = chat.response.session_id();
  ASSERT_TRUE(barriers().WaitReached("hold"));
  Restart();
  const auto again = client().Chat(request);
  ASSERT_TRUE(again.ok()) << again.ToString();
  EXPECT_TRUE(again.response.deduplicated());
  EXPECT_EQ(again.response.turn_id(), chat.response.turn_id());
  api::ChatRequest other = request;
  other.set_prompt("something else");
  EXPECT_EQ(client().Chat(other).reason(), "REQUEST_ID_REUSED");
  barriers().Release("hold");
  EXPECT_EQ(WaitForTurn(chat.response.turn_id()).result().outcome(),
            api::TurnResult::OUTCOME_COMPLETED);
  Restart();
  request.set_wait_for(api::WAIT_FOR_FINISHED);
  const auto ended = client().Chat(request);
  ASSERT_TRUE(ended.ok()) << ended.ToString();
  EXPECT_TRUE(ended.response.deduplicated());
  EXPECT_EQ(ended.response.result().text(), "one");
  EXPECT_EQ(log().Received("session/prompt").size(), 1u);
}

TEST_P(AdoptTest, AWorkerThatGaveUpWaitingLeavesWhatItHad) {
  options().extra["limits"] = {{"orphan_timeout", "1s"}};
  StartDaemon();
  const std::string turn =
      Begin(Steps(Say("one "), Barrier("hold"), Say("two"), Reply("end_turn")));
  ASSERT_TRUE(barriers().WaitReached("hold"));
  const pid_t worker = ParentOf(log().Pids().back());
  StopDaemon();
  barriers().Release("hold");
  ASSERT_TRUE(WaitUntil([worker] { return !IsAlive(worker); }));
  StartDaemon();
  const api::Turn ended = WaitForTurn(turn);
  EXPECT_EQ(ended.result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  EXPECT_EQ(ended.result().text(), "one two");
  EXPECT_TRUE(WaitForState(session_, api::Session::STATE_DORMANT));
  const auto next = client().Say(kProject, session_, "COUNT");
  ASSERT_TRUE(next.ok()) << next.ToString();
  EXPECT_EQ(next.response.origin().kind(), api::SessionOrigin::KIND_RESUMED);
}

INSTANTIATE_TEST_SUITE_P(Ways, AdoptTest, ::testing::Values(Way::kKill, Way::kTerm),
                         [](const auto& info) {
                           return info.param == Way::kKill ? "Killed" : "Terminated";
                         });

}  // namespace
}  // namespace acpd::e2e
