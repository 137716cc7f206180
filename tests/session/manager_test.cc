// The domain with its real store, launcher, worker and agent, and no gRPC: what the sanitizers see
// of sessions and turns.
#include <gmock/gmock.h>

#include <thread>

#include "session/core.h"
#include "session/errors.h"
#include "tests/session/manager_harness.h"

namespace acpd::session {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

constexpr char kAsk[] =
    R"(![{"ask":{"id":1,"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"},)"
    R"({"optionId":"no","name":"No","kind":"reject_once"}],"wait":true}},{"reply":{"stopReason":"end_turn"}}])";

TEST(OnPoolTest, TheWorkRunsOnThePoolAndTheRestOnTheLoop) {
  asio::io_context loop;
  asio::thread_pool pool(1);
  std::thread::id work, rest;
  std::function<bool()> note = [&work] {
    work = std::this_thread::get_id();
    return true;
  };
  asio::co_spawn(loop, OnPool<bool>(pool, note),
                 [&rest](std::exception_ptr, bool) { rest = std::this_thread::get_id(); });
  loop.run();
  EXPECT_NE(work, std::thread::id());
  EXPECT_NE(work, std::this_thread::get_id());
  EXPECT_EQ(rest, std::this_thread::get_id());
}

TEST_F(ManagerTest, AChatRunsOnItsOwnNewSessionAndLeavesItsWholeStory) {
  Begin();
  const ChatReply reply = Say("hello");
  EXPECT_EQ(reply.turn.result.outcome, Outcome::kCompleted);
  EXPECT_EQ(reply.turn.result.text, "hello");
  EXPECT_EQ(reply.turn.origin.kind, OriginKind::kNew);
  EXPECT_THAT(Events(reply.turn.session_id),
              ElementsAre("session_created", "turn_queued ahead=0", "session_ready kind=1 ",
                          "turn_started", "update hello", "turn_ended outcome=1 "));
}

TEST_F(ManagerTest, AClosedSessionIsResumedByTheNextChat) {
  Begin();
  const std::string session_id = Say("remember the number 42").turn.session_id;
  EXPECT_EQ(Say("what number did I say?", session_id).turn.origin.kind, OriginKind::kLive);
  const auto closed = Run(manager().CloseSession(NewCall(), session_id, false));
  ASSERT_TRUE(closed.ok()) << closed.status();
  EXPECT_EQ(closed->state, SessionState::kDormant);
  const ChatReply reply = Say("what number did I say?", session_id);
  EXPECT_EQ(reply.turn.origin.kind, OriginKind::kResumed);
  EXPECT_EQ(reply.turn.origin.method, ResumeMethod::kSessionResume);
  EXPECT_EQ(reply.turn.result.final_text, "42");
}

TEST_F(ManagerTest, AnUnknownSessionIsReplacedAndSaysSo) {
  Begin();
  const ChatReply reply = Say("hello", "no-such-session");
  EXPECT_NE(reply.turn.session_id, "no-such-session");
  EXPECT_EQ(reply.turn.origin.kind, OriginKind::kFallback);
  EXPECT_EQ(reply.turn.origin.reason, "SESSION_NOT_FOUND");
  EXPECT_EQ(reply.turn.origin.requested_session_id, "no-such-session");
  EXPECT_EQ(Say("again", "no-such-session").turn.session_id, reply.turn.session_id);
  EXPECT_THAT(Events("no-such-session"),
              ElementsAre("turn_queued ahead=0", "session_replaced SESSION_NOT_FOUND"));
}

TEST_F(ManagerTest, WithRequireNothingIsReplaced) {
  Begin();
  ChatRequest request = Request("hello", "no-such-session");
  request.resume_policy.mode = ResumeMode::kRequire;
  const auto reply = Chat(std::move(request));
  EXPECT_EQ(ReasonOf(reply.status()), "SESSION_NOT_RESUMABLE");
  const auto sessions = Run(manager().ListSessions(NewCall(), ListSessionsQuery()));
  ASSERT_TRUE(sessions.ok());
  EXPECT_TRUE(sessions->sessions.empty());
}

TEST_F(ManagerTest, ACancelledTurnEndsOnceAndTheSessionGoesOn) {
  Begin();
  const auto begun = Chat(Request("SLOW 1000 20", "", WaitFor::kStarted));
  ASSERT_TRUE(begun.ok()) << begun.status();
  CancelQuery query;
  query.session_id = begun->turn.session_id;
  const auto cancelled = Run(manager().Cancel(NewCall(), query));
  ASSERT_TRUE(cancelled.ok()) << cancelled.status();
  EXPECT_EQ(cancelled->outcome, CancelOutcome::kCancelled);
  EXPECT_EQ(Say("still there?", query.session_id).turn.origin.kind, OriginKind::kLive);
}

TEST_F(ManagerTest, AnAgentThatIgnoresCancelIsKilledWithItsTree) {
  UseScript(
      R"({"on_cancel": "ignore", "session/prompt": [[{"fork":{"ignore":"TERM","setsid":true}}, "silent"], []]})");
  agent().cancel_grace = milliseconds(200);
  Begin();
  const auto begun = Chat(Request("hang", "", WaitFor::kStarted));
  ASSERT_TRUE(begun.ok()) << begun.status();
  CancelQuery query;
  query.turn_id = begun->turn.turn_id;
  const auto cancelled = Run(manager().Cancel(NewCall(), query));
  ASSERT_TRUE(cancelled.ok()) << cancelled.status();
  EXPECT_EQ(cancelled->outcome, CancelOutcome::kForced);
  EXPECT_EQ(Say("back?", begun->turn.session_id).turn.origin.kind, OriginKind::kResumed);
}

TEST_F(ManagerTest, AnUnansweredPermissionIsRejectedInTime) {
  agent().question_timeout = milliseconds(300);
  Begin();
  const ChatReply reply = Say(kAsk);
  EXPECT_EQ(reply.turn.result.outcome, Outcome::kCompleted);
  const std::vector<std::string> events = Events(reply.turn.session_id);
  ASSERT_EQ(events.size(), 7u);
  EXPECT_THAT(events[4], StartsWith("permission_requested "));
  EXPECT_EQ(events[5], "question_resolved by=3 no");
}

TEST_F(ManagerTest, APermissionIsAnsweredOnce) {
  Begin();
  const auto begun = Chat(Request(kAsk, "", WaitFor::kStarted));
  ASSERT_TRUE(begun.ok()) << begun.status();
  const std::string session_id = begun->turn.session_id;
  std::string question_id;
  ASSERT_TRUE(RunUntil([&] {
    const std::vector<std::string> events = Events(session_id);
    if (events.size() < 5) return false;
    question_id = events[4].substr(events[4].find(' ') + 1);
    return true;
  }));
  RespondQuery answer;
  answer.session_id = session_id;
  answer.question_id = question_id;
  answer.option_id = "yes";
  EXPECT_TRUE(Run(manager().Respond(NewCall(), answer)).ok());
  EXPECT_TRUE(Run(manager().Respond(NewCall(), answer)).ok()) << "the same answer again";
  answer.option_id = "no";
  EXPECT_EQ(ReasonOf(Run(manager().Respond(NewCall(), answer)).status()), "ALREADY_ANSWERED");
  const auto ended =
      Run(manager().GetTurn(NewCall(), {begun->turn.turn_id, "", ""}, WaitFor::kFinished));
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->result.outcome, Outcome::kCompleted);
}

TEST_F(ManagerTest, AfterACrashTheRunningTurnGoesOnAndTheQueuedOneRuns) {
  UseScript(R"({"session/prompt": [[{"barrier": "hold"}], []]})");
  Begin();
  const auto running = Chat(Request("hang", "", WaitFor::kStarted));
  ASSERT_TRUE(running.ok()) << running.status();
  const auto queued = Chat(Request("next", running->turn.session_id, WaitFor::kAccepted));
  ASSERT_TRUE(queued.ok()) << queued.status();
  Crash();
  Begin();
  barriers().Release("hold");
  const auto ended =
      Run(manager().GetTurn(NewCall(), {running->turn.turn_id, "", ""}, WaitFor::kFinished));
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->result.outcome, Outcome::kCompleted);
  const auto next =
      Run(manager().GetTurn(NewCall(), {queued->turn.turn_id, "", ""}, WaitFor::kFinished));
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_EQ(next->result.outcome, Outcome::kCompleted);
  EXPECT_EQ(next->origin.kind, OriginKind::kLive);
  Stop();
}

TEST_F(ManagerTest, TheSameRequestIdAttachesToTheOneTurn) {
  Begin();
  ChatRequest request = Request("hello");
  request.request_id = "r1";
  const auto first = Chat(request);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto again = Chat(request);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->deduplicated);
  EXPECT_EQ(again->turn.turn_id, first->turn.turn_id);
  request.content_hash = "other";
  EXPECT_EQ(ReasonOf(Chat(request).status()), "REQUEST_ID_REUSED");
}

TEST_F(ManagerTest, StoppingCancelsWhatRuns) {
  Begin();
  const auto begun = Chat(Request("SLOW 1000 20", "", WaitFor::kStarted));
  ASSERT_TRUE(begun.ok()) << begun.status();
  Stop();
  Begin();
  const auto ended =
      Run(manager().GetTurn(NewCall(), {begun->turn.turn_id, "", ""}, WaitFor::kFinished));
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->result.outcome, Outcome::kCancelled);
  EXPECT_EQ(ended->result.cancelled_by, "shutdown");
}

TEST_F(ManagerTest, ACallWhoseTimeIsUpIsAnsweredAndItsTurnRuns) {
  Begin();
  const CallPtr call = NewCall();
  call->deadline = std::chrono::steady_clock::now() - milliseconds(100);
  const auto reply = Run(manager().Chat(call, Request("hello", "", WaitFor::kAccepted), nullptr));
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_FALSE(reply->turn.session_id.empty());
  const auto ended =
      Run(manager().GetTurn(NewCall(), {reply->turn.turn_id, "", ""}, WaitFor::kFinished));
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->result.outcome, Outcome::kCompleted);
}

TEST_F(ManagerTest, ATurnRunsThoughItsCommitCameAfterItsCall) {
  Begin();
  SetCommits(Commits::kHold);
  const CallPtr call = NewCall();
  call->deadline = std::chrono::steady_clock::now();
  const auto late = Run(manager().Chat(call, Request("hello", "", WaitFor::kAccepted), nullptr));
  EXPECT_EQ(ReasonOf(late.status()), "STORE_UNAVAILABLE");
  EXPECT_NE(SessionIdOf(late.status()), "");
  const std::string turn_id = TurnIdOf(late.status());
  ASSERT_NE(turn_id, "");
  SetCommits(Commits::kCommit);
  const auto ended = Run(manager().GetTurn(NewCall(), {turn_id, "", ""}, WaitFor::kFinished));
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->result.outcome, Outcome::kCompleted);
}

TEST_F(ManagerTest, ThatNothingRunsIsSaidOnceTheEndIsStored) {
  Begin();
  const auto running = Chat(Request(R"(![{"barrier":"never"}])", "", WaitFor::kStarted));
  ASSERT_TRUE(running.ok()) << running.status();
  SetCommits(Commits::kHold);
  CancelQuery all;
  all.everything = true;
  all.grace = milliseconds(0);  // a session/cancel would have to be stored first
  const CallPtr first = NewCall();
  first->deadline = std::chrono::steady_clock::now() + milliseconds(500);
  const auto cancelled = Run(manager().Cancel(first, all));
  ASSERT_TRUE(cancelled.ok()) << cancelled.status();
  EXPECT_EQ(cancelled->outcome, CancelOutcome::kForced);
  const CallPtr second = NewCall();
  second->deadline = std::chrono::steady_clock::now() + milliseconds(500);
  const auto nothing = Run(manager().Cancel(second, all));
  EXPECT_GE(std::chrono::steady_clock::now(), second->deadline) << "the end is not stored yet";
  EXPECT_EQ(nothing->outcome, CancelOutcome::kNothingRunning);
  SetCommits(Commits::kCommit);
}

TEST_F(ManagerTest, ATurnThatTheStoreRefusesLeavesNoTrace) {
  Begin();
  SetCommits(Commits::kRefuse);
  ChatRequest request = Request("hello");
  request.request_id = "once";
  const auto refused = Chat(request);
  EXPECT_EQ(ReasonOf(refused.status()), "STORE_UNAVAILABLE");
  SetCommits(Commits::kCommit);
  const auto sessions = Run(manager().ListSessions(NewCall(), ListSessionsQuery()));
  ASSERT_TRUE(sessions.ok()) << sessions.status();
  EXPECT_TRUE(sessions->sessions.empty());
  const auto unknown =
      Run(manager().GetTurn(NewCall(), {"", "project", "once"}, WaitFor::kUnspecified));
  EXPECT_EQ(ReasonOf(unknown.status()), "TURN_NOT_FOUND");
  const auto again = Chat(request);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_FALSE(again->deduplicated);
  EXPECT_EQ(again->turn.result.outcome, Outcome::kCompleted);
}

TEST_F(ManagerTest, ARecordThatCannotBeStoredEndsTheTurnAndTheSessionGoesOn) {
  UseScript(R"({"session/prompt": [[{"barrier": "hold"}, {"update": "lost"}, "silent"], []]})");
  Begin();
  const auto running = Chat(Request("hang", "", WaitFor::kStarted));
  ASSERT_TRUE(running.ok()) << running.status();
  const std::string session = running->turn.session_id;
  const auto queued = Chat(Request("next", session, WaitFor::kAccepted));
  ASSERT_TRUE(queued.ok()) << queued.status();
  const auto other = Chat(Request("elsewhere", "", WaitFor::kAccepted));
  ASSERT_TRUE(other.ok()) << other.status();
  ASSERT_TRUE(RunUntil([&] { return barriers().Reached("hold"); }));
  SetCommits(Commits::kSpoil);
  barriers().Release("hold");
  const auto ended =
      Run(manager().GetTurn(NewCall(), {running->turn.turn_id, "", ""}, WaitFor::kFinished));
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->result.outcome, Outcome::kFailed);
  EXPECT_EQ(ended->result.error.reason, "INTERNAL");
  for (const std::string& turn : {queued->turn.turn_id, other->turn.turn_id}) {
    const auto next = Run(manager().GetTurn(NewCall(), {turn, "", ""}, WaitFor::kFinished));
    ASSERT_TRUE(next.ok()) << next.status();
    EXPECT_EQ(next->result.outcome, Outcome::kCompleted);
  }
  const std::vector<std::string> events = Events(session);
  EXPECT_THAT(events, ::testing::Contains("notice STORE_REFUSED"));
  EXPECT_THAT(events, ::testing::Not(::testing::Contains(::testing::HasSubstr("lost"))));
  // So it stands in the store too.
  Crash();
  Begin();
  EXPECT_EQ(Events(session).size(), events.size());
  EXPECT_EQ(Say("again", session).turn.result.outcome, Outcome::kCompleted);
  Stop();
}

TEST_F(ManagerTest, AFailedTryOfAnUnknownIdDoesNotTakeIt) {
  Begin();
  ChatRequest request = Request("hello", "lost");
  request.resume_policy.mode = ResumeMode::kRequire;
  const auto failed = Chat(std::move(request));
  EXPECT_EQ(ReasonOf(failed.status()), "SESSION_NOT_RESUMABLE");
  for (const bool restarted : {false, true}) {
    if (restarted) {
      Stop();
      Begin();
    }
    ChatRequest other = Request("hello", "lost");
    other.project_id = restarted ? "third" : "second";
    other.resume_policy.mode = ResumeMode::kRequire;
    EXPECT_EQ(ReasonOf(Chat(std::move(other)).status()), "SESSION_NOT_RESUMABLE");
  }
  ChatRequest last = Request("hello", "lost");
  last.project_id = "fourth";
  const auto reply = Chat(std::move(last));
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->turn.origin.kind, OriginKind::kFallback);
  EXPECT_EQ(ReasonOf(Chat(Request("hello", "lost")).status()), "SESSION_NOT_FOUND");
}

}  // namespace
}  // namespace acpd::session
