// Silence of a running turn: told of once, then its end; and what holds that off.

#include <algorithm>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using Result = api::TurnResult;

json ToolCall(const std::string& kind, const std::string& status) {
  return Step("update", json{{"sessionUpdate", kind},
                             {"toolCallId", "call-1"},
                             {"title", "Build it"},
                             {"status", status}});
}

json Sleep(int milliseconds) { return Step("sleep_ms", milliseconds); }

class SilenceTest : public TurnsTest {
 protected:
  void Watch(const std::string& silence, const std::string& stall, const std::string& tool) {
    SetFake("turn_silence", silence);
    SetFake("turn_stall", stall);
    SetFake("tool_silence", tool);
    SetFake("cancel_grace", "500ms");
    SetFake("stop_grace", "500ms");
  }
  Result RunTurn(const json& steps) {
    const auto chat = client().Say(kProject, "", Scripted(steps));
    EXPECT_TRUE(chat.ok()) << chat.ToString();
    session_id_ = chat.response.session_id();
    turn_id_ = chat.response.turn_id();
    return chat.response.result();
  }
  std::vector<Event> Silences() {
    std::vector<Event> events = EventsOf(session_id_);
    std::erase_if(events, [](const Event& event) {
      return !event.has_notice() || event.notice().code() != "TURN_SILENT";
    });
    return events;
  }
  std::string session_id_, turn_id_;
};

TEST_F(SilenceTest, ASilentAgentIsToldOfOnceAndThenItsTurnEnds) {
  Watch("300ms", "1s", "1h");
  StartDaemon();
  const Result result = RunTurn(Steps(Say("x"), "silent"));
  EXPECT_EQ(result.outcome(), Result::OUTCOME_FAILED);
  EXPECT_EQ(result.error().reason(), "TURN_STALLED");
  EXPECT_TRUE(result.error().retryable());
  EXPECT_EQ(result.text(), "x");
  const std::vector<Event> silences = Silences();
  ASSERT_EQ(silences.size(), 1u);
  EXPECT_EQ(silences[0].turn_id(), turn_id_);
  EXPECT_EQ(silences[0].notice().severity(), api::Notice::SEVERITY_WARNING);
  EXPECT_EQ(log().Received("session/cancel").size(), 1u);
  EXPECT_EQ(CountEnds(turn_id_), 1u);
  // The agent confirmed the cancel: it lives, and the session goes on.
  const auto next = client().Say(kProject, session_id_, "hello");
  EXPECT_EQ(next.response.result().text(), "hello") << next.ToString();
  EXPECT_EQ(log().Pids().size(), 1u);
}

TEST_F(SilenceTest, AnAgentThatDoesNotHearTheCancelEitherIsKilled) {
  Watch("0s", "500ms", "1h");
  StartDaemon();
  const Result result = RunTurn(Steps(Step("on_cancel", "ignore"), "silent"));
  EXPECT_EQ(result.outcome(), Result::OUTCOME_FAILED);
  EXPECT_EQ(result.error().reason(), "TURN_STALLED");
  EXPECT_FALSE(IsAlive(log().Pids().back()));
  EXPECT_TRUE(WaitForState(session_id_, api::Session::STATE_DORMANT));
}

TEST_F(SilenceTest, WhateverTheAgentSaysBeginsItAnew) {
  Watch("0s", "1500ms", "1h");
  StartDaemon();
  const Result result =
      RunTurn(Steps(Sleep(700), Say("a"), Sleep(700), Say("b"), Sleep(700), Say("c")));
  EXPECT_EQ(result.outcome(), Result::OUTCOME_COMPLETED) << result.ShortDebugString();
  EXPECT_EQ(result.text(), "abc");
}

TEST_F(SilenceTest, AToolCallUnderWayHoldsItOff) {
  Watch("300ms", "600ms", "20s");
  StartDaemon();
  const Result result = RunTurn(Steps(ToolCall("tool_call", "pending"), Sleep(1500),
                                      ToolCall("tool_call_update", "completed"), Say("done")));
  EXPECT_EQ(result.outcome(), Result::OUTCOME_COMPLETED) << result.ShortDebugString();
  EXPECT_TRUE(Silences().empty());
}

TEST_F(SilenceTest, AToolCallHoldsItOffForItsTimeOnly) {
  Watch("0s", "400ms", "600ms");
  StartDaemon();
  const Result result = RunTurn(Steps(ToolCall("tool_call", "in_progress"), "silent"));
  EXPECT_EQ(result.error().reason(), "TURN_STALLED") << result.ShortDebugString();
}

TEST_F(SilenceTest, TheEndOfAToolCallEndsItsHold) {
  Watch("0s", "700ms", "1h");
  StartDaemon();
  const Result result = RunTurn(Steps(ToolCall("tool_call", "in_progress"), Sleep(100),
                                      ToolCall("tool_call_update", "failed"), "silent"));
  EXPECT_EQ(result.error().reason(), "TURN_STALLED") << result.ShortDebugString();
}

TEST_F(SilenceTest, AnOpenQuestionHoldsItOff) {
  Watch("300ms", "600ms", "1h");
  SetFake("question_timeout", "1500ms");
  StartDaemon();
  const json options = json::parse(R"([{"optionId": "no", "kind": "reject_once"}])");
  const Result result = RunTurn(
      Steps(Step("ask", json{{"id", "q"}, {"options", options}, {"wait", true}}), Say("x")));
  EXPECT_EQ(result.outcome(), Result::OUTCOME_COMPLETED) << result.ShortDebugString();
  EXPECT_TRUE(Silences().empty());
}

TEST_F(SilenceTest, ZeroNeverEndsATurnAndTheNoticeComesAllTheSame) {
  Watch("300ms", "0s", "1h");
  StartDaemon();
  const api::ChatResponse begun = BeginAt("hold");
  const auto stream = client().SubscribeSession(begun.session_id());
  EXPECT_TRUE(
      stream->WaitFor([](const Event& event) { return event.notice().code() == "TURN_SILENT"; }));
  EXPECT_EQ(client().GetTurn(begun.turn_id()).response.state(), api::TURN_STATE_RUNNING);
  barriers().Release("hold");
  EXPECT_EQ(WaitForTurn(begun.turn_id()).result().outcome(), Result::OUTCOME_COMPLETED);
}

TEST_F(SilenceTest, ATurnOfAnAdoptedWorkerIsWatchedToo) {
  Watch("0s", "2s", "1h");
  StartDaemon();
  const api::ChatResponse begun = BeginAt("hold");
  KillAndRestartDaemon();
  const api::Turn turn = WaitForTurn(begun.turn_id());
  EXPECT_EQ(turn.result().error().reason(), "TURN_STALLED") << turn.ShortDebugString();
  EXPECT_EQ(CountEnds(begun.turn_id()), 1u);
}

}  // namespace
}  // namespace acpd::e2e
