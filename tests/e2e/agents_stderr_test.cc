// An agent's stderr is always drained, kept to a tail, and shown where it explains an end.

#include "tests/e2e/agents_support.h"

namespace acpd::e2e {
namespace {

using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr int kBeforeInitialize = 256 << 10;
constexpr int kInTheTurn = 8 << 20;
constexpr size_t kGrowth = 1 << 20;  // of each process' memory
constexpr size_t kTail = 64 << 10;

TEST_F(E2eTest, AgentsThatWriteALotOnStderrAreDrainedAtConstantMemory) {
  UseScript({{"initialize", json::array({Do("stderr", kBeforeInitialize)})}});
  StartDaemon();
  // The first writes of this size decide how much room the tails and buffers take.
  const json steps =
      json::array({Do("stderr", 1 << 20), Do("barrier", "before"), Do("stderr", kInTheTurn),
                   Do("barrier", "after"), Do("update", "done")});
  const auto chat = client().Begin("shop", "", Scripted(steps));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  ASSERT_TRUE(barriers().WaitReached("before"));
  ASSERT_THAT(log().Pids(), SizeIs(1));
  const pid_t worker = ParentOf(log().Pids()[0]);
  const size_t acpd_before = ResidentBytes(daemon().pid());
  const size_t worker_before = ResidentBytes(worker);
  ASSERT_GT(acpd_before, 0u);
  ASSERT_GT(worker_before, 0u);
  barriers().Release("before");
  ASSERT_TRUE(barriers().WaitReached("after")) << "the agent hangs in a write to stderr";
  EXPECT_LT(ResidentBytes(daemon().pid()), acpd_before + kGrowth);
  EXPECT_LT(ResidentBytes(worker), worker_before + kGrowth);
  barriers().Release("after");
  const auto turn = client().GetTurn(chat.response.turn_id(), api::WAIT_FOR_FINISHED);
  EXPECT_EQ(turn.response.result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  EXPECT_EQ(turn.response.result().text(), "done");

  // Its last words explain a later end.
  const auto last = client().Say(
      "shop", chat.response.session_id(),
      Scripted(json::array(
          {Do("stderr", kInTheTurn), Do("stderr", "\nfatal: out of tokens\n"), Do("exit", 3)})));
  ASSERT_TRUE(last.ok()) << last.ToString();
  const api::TurnResult& result = last.response.result();
  EXPECT_EQ(result.outcome(), api::TurnResult::OUTCOME_INTERRUPTED);
  EXPECT_EQ(result.error().reason(), "AGENT_EXITED");
  EXPECT_THAT(result.error().message(), HasSubstr("exit code 3"));
  EXPECT_THAT(result.error().message(), HasSubstr("fatal: out of tokens"));
  EXPECT_LT(result.error().message().size(), 4096u);
  const std::vector<Event> events = AllEvents();
  const size_t exited = IndexOf(events, Is(Event::kWorkerExited));
  ASSERT_LT(exited, events.size());
  const api::WorkerExited& exit = events[exited].worker_exited();
  EXPECT_EQ(exit.exit_code(), 3);
  EXPECT_FALSE(exit.expected());
  EXPECT_TRUE(exit.stderr_tail().ends_with("fatal: out of tokens\n")) << exit.stderr_tail();
  EXPECT_LE(exit.stderr_tail().size(), kTail);
  EXPECT_THAT(exit.stderr_tail().size(), Ge(kTail / 2));
}

}  // namespace
}  // namespace acpd::e2e
