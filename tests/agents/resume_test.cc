// Sessions whose worker is gone, for a good or a bad reason, are resumed with their context.

#include <signal.h>

#include <chrono>
#include <thread>

#include "tests/agents/agent_test.h"

namespace acpd::e2e {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using std::chrono::system_clock;

// Each of the first two makes a session that remembers and loses its worker in one way; its id, or
// an empty one on failure.
class ResumeTest : public AgentTest {
 protected:
  std::string RememberAndBeKilledBetweenTurns();
  std::string RememberAndBeKilledInATurn();
  void ExpectResumed(const std::string& session_id);

 private:
  // SIGKILL to the agent itself, and to nothing that it started.
  void KillAgentOf(const std::string& session_id);
};

void ResumeTest::KillAgentOf(const std::string& session_id) {
  const auto session = client().GetSession(session_id);
  ASSERT_TRUE(session.ok()) << session.ToString();
  const pid_t pid = session.response.worker().pid();
  ASSERT_GT(pid, 1);
  const auto stream = client().SubscribeSession(session_id);
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
  const auto exited = stream->WaitFor(Is(Event::kWorkerExited), kAgentPatience);
  ASSERT_TRUE(exited) << "acpd does not see that the agent is gone";
  EXPECT_EQ(exited->worker_exited().signal(), SIGKILL);
  EXPECT_FALSE(exited->worker_exited().expected());
}

std::string ResumeTest::RememberAndBeKilledBetweenTurns() {
  const std::string session_id = Remember();
  // Some agents write their record of a turn after they have answered it.
  std::this_thread::sleep_until(std::chrono::steady_clock::now() + seconds(1));
  KillAgentOf(session_id);
  EXPECT_EQ(client().GetSession(session_id).response.state(), api::Session::STATE_DORMANT);
  return session_id;
}

std::string ResumeTest::RememberAndBeKilledInATurn() {
  const std::string session_id = Remember();
  const std::string turn_id = BeginLongAnswer(session_id);
  KillAgentOf(session_id);
  const api::TurnResult result = WaitForEnd(turn_id);
  EXPECT_EQ(result.outcome(), api::TurnResult::OUTCOME_INTERRUPTED) << result.ShortDebugString();
  EXPECT_EQ(result.error().reason(), "AGENT_EXITED");
  EXPECT_TRUE(result.prompt_sent());
  EXPECT_EQ(EndsOf(turn_id), 1);
  return session_id;
}

void ResumeTest::ExpectResumed(const std::string& session_id) {
  const auto chat = Say(session_id, kRecall);
  if (agent().resume_method == api::SessionOrigin::METHOD_UNSPECIFIED) {
    Cannot(Ability::kResumeByLoad);
    ExpectAnswer(chat, api::SessionOrigin::KIND_FALLBACK, "UNKNOWN");
    EXPECT_EQ(chat.response.origin().reason(), "RESUME_UNSUPPORTED");
    return;
  }
  ExpectAnswer(chat, api::SessionOrigin::KIND_RESUMED, "42");
  EXPECT_EQ(chat.response.session_id(), session_id);
  EXPECT_EQ(api::SessionOrigin::Method_Name(chat.response.origin().method()),
            api::SessionOrigin::Method_Name(agent().resume_method));
}

// All three in one test, so that the wait for the next minute is one.
using ResumeLaterTest = ResumeTest;

INSTANTIATE_TEST_SUITE_P(Agents, ResumeLaterTest,
                         ::testing::ValuesIn(AgentNames([](const RealAgent& agent) {
                           return agent.resumes_only_later;
                         })),
                         AgentTestName);

void WaitForNextMinute() {
  const auto next = std::chrono::floor<minutes>(system_clock::now()) + minutes(1);
  std::this_thread::sleep_until(next + seconds(1));
}

TEST_P(ResumeLaterTest, AfterACloseAndAfterKills) {
  const std::string closed = RememberAndClose();
  const std::string killed_between = RememberAndBeKilledBetweenTurns();
  const std::string killed_within = RememberAndBeKilledInATurn();
  WaitForNextMinute();
  {
    SCOPED_TRACE("closed");
    ExpectResumed(closed);
  }
  {
    SCOPED_TRACE("killed between turns");
    ExpectResumed(killed_between);
  }
  {
    SCOPED_TRACE("killed within a turn");
    ExpectResumed(killed_within);
  }
}

using ResumeAtOnceTest = ResumeTest;

INSTANTIATE_TEST_SUITE_P(Agents, ResumeAtOnceTest,
                         ::testing::ValuesIn(AgentNames([](const RealAgent& agent) {
                           return !agent.resumes_only_later;
                         })),
                         AgentTestName);

TEST_P(ResumeAtOnceTest, AfterAClose) { ExpectResumed(RememberAndClose()); }

TEST_P(ResumeAtOnceTest, AfterAKillBetweenTurns) {
  ExpectResumed(RememberAndBeKilledBetweenTurns());
}

TEST_P(ResumeAtOnceTest, AfterAKillInATurn) { ExpectResumed(RememberAndBeKilledInATurn()); }

}  // namespace
}  // namespace acpd::e2e
