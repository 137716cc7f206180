// Stopping an agent takes its whole process tree: launchers above it, children below it, and those
// that ignore TERM or have left its process group.

#include <chrono>
#include <csignal>
#include <filesystem>

#include "tests/e2e/agents_support.h"

namespace acpd::e2e {
namespace {

using std::chrono::duration_cast;
using std::chrono::steady_clock;
using ::testing::Each;
using ::testing::SizeIs;

constexpr milliseconds kGrace{300};

class ProcessTreeTest : public E2eTest {
 protected:
  ProcessTreeTest() {
    const std::string wrapper = dir() / "launcher";
    // The last line keeps the shell from becoming the agent.
    WriteFile(wrapper, "#!/bin/sh\n'" + ProgramPath("fake_agent") + "' \"$@\"\nexit $?\n");
    std::filesystem::permissions(wrapper, std::filesystem::perms(0755));
    options().agents["fake"].command = wrapper;
    SetFake("stop_grace", std::to_string(kGrace.count()) + "ms");
  }

  // A turn whose agent has the children; it stands at the barrier "turn". Then pids_ are the
  // worker, the launcher, the agent and its children.
  void StartTree() {
    StartDaemon();
    const json steps =
        json::array({Do("fork", {{"ignore", "TERM"}}), Do("fork", {{"setsid", true}}),
                     Do("fork", {{"ignore", "TERM"}, {"setsid", true}, {"hold", "stdout"}}),
                     Do("barrier", "turn")});
    const auto chat = client().Begin("shop", "", Scripted(steps));
    ASSERT_TRUE(chat.ok()) << chat.ToString();
    session_id_ = chat.response.session_id();
    turn_id_ = chat.response.turn_id();
    ASSERT_TRUE(barriers().WaitReached("turn"));
    ASSERT_THAT(log().Pids(), SizeIs(1));
    const pid_t agent = log().Pids()[0], launcher = ParentOf(agent);
    pids_ = {ParentOf(launcher), launcher, agent};
    for (const json& fork : log().Events("fork")) pids_.push_back(fork.at("child"));
    ASSERT_THAT(pids_, SizeIs(6));
    ASSERT_THAT(pids_, Each(::testing::Truly(IsAlive)));
    ASSERT_EQ(ParentOf(pids_[0]), daemon().pid()) << "the agent's launcher is not a worker's child";
  }

  void EndTurn() {
    barriers().Release("turn");
    const auto turn = client().GetTurn(turn_id_, api::WAIT_FOR_FINISHED);
    ASSERT_EQ(turn.response.result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  }

  void ExpectAllGone() {
    for (const pid_t pid : pids_) EXPECT_FALSE(IsAlive(pid)) << pid;
  }

  std::string session_id_, turn_id_;
  std::vector<pid_t> pids_;
};

TEST_F(ProcessTreeTest, IsGoneWhenACloseHasBeenAnswered) {
  StartTree();
  EndTurn();
  const auto begin = steady_clock::now();
  const auto closed = client().CloseSession(session_id_);
  const auto took = duration_cast<milliseconds>(steady_clock::now() - begin);
  ASSERT_TRUE(closed.ok()) << closed.ToString();
  EXPECT_EQ(closed.response.state(), api::Session::STATE_DORMANT);
  // The worker itself leaves when acpd has taken note of the end.
  const pid_t worker = pids_[0];
  pids_.erase(pids_.begin());
  ExpectAllGone();
  EXPECT_TRUE(WaitUntil([worker] { return !IsAlive(worker); }));
  // The second that an agent has for its record, and the steps of the stop.
  EXPECT_LT(took, milliseconds(1000) + 3 * kGrace + milliseconds(1000));
}

TEST_F(ProcessTreeTest, IsGoneWhenADeleteHasBeenAnswered) {
  StartTree();
  EndTurn();
  api::DeleteSessionRequest request;
  request.set_session_id(session_id_);
  const auto deleted = client().Call(&Client::Stub::DeleteSession, request);
  ASSERT_TRUE(deleted.ok()) << deleted.ToString();
  const pid_t worker = pids_[0];
  pids_.erase(pids_.begin());
  ExpectAllGone();
  EXPECT_TRUE(WaitUntil([worker] { return !IsAlive(worker); }));
}

TEST_F(ProcessTreeTest, IsGoneWhenAForcedCancelHasBeenAnswered) {
  StartTree();
  api::CancelRequest request;
  request.set_session_id(session_id_);
  request.mutable_grace();  // 0: kill at once
  const auto cancelled = client().Cancel(request);
  ASSERT_TRUE(cancelled.ok()) << cancelled.ToString();
  EXPECT_EQ(cancelled.response.outcome(), api::CancelResponse::OUTCOME_FORCED);
  const pid_t worker = pids_[0];
  pids_.erase(pids_.begin());
  ExpectAllGone();
  EXPECT_TRUE(WaitUntil([worker] { return !IsAlive(worker); }));
}

TEST_F(ProcessTreeTest, IsGoneWhenTheAgentItselfIsKilled) {
  StartTree();
  ASSERT_EQ(::kill(pids_[2], SIGKILL), 0);
  const auto turn = client().GetTurn(turn_id_, api::WAIT_FOR_FINISHED);
  EXPECT_EQ(turn.response.result().outcome(), api::TurnResult::OUTCOME_INTERRUPTED);
  EXPECT_EQ(turn.response.result().error().reason(), "AGENT_EXITED");
  const pid_t worker = pids_[0];
  pids_.erase(pids_.begin());
  ExpectAllGone();
  EXPECT_TRUE(WaitUntil([worker] { return !IsAlive(worker); }));
}

TEST_F(ProcessTreeTest, IsGoneWhenAcpdHasStopped) {
  StartTree();
  EXPECT_EQ(daemon().Stop(), (ExitStatus{0, 0}));
  ExpectAllGone();
}

TEST_F(ProcessTreeTest, IsGoneWhenTheWorkerIsKilled) {
  StartTree();
  ASSERT_EQ(::kill(pids_[0], SIGKILL), 0);
  const auto turn = client().GetTurn(turn_id_, api::WAIT_FOR_FINISHED);
  EXPECT_EQ(turn.response.result().outcome(), api::TurnResult::OUTCOME_INTERRUPTED);
  EXPECT_EQ(turn.response.result().error().reason(), "WORKER_LOST");
  ExpectAllGone();
}

}  // namespace
}  // namespace acpd::e2e
