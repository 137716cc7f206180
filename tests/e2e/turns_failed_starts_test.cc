// A turn that cannot start ends once, in the queue too.

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using Result = api::TurnResult;

// A load error needs a session that was there before.
class LoadErrorEndsOnceTest : public TurnsTest {
 protected:
  void SetUp() override {
    json script = json::object();
    script["session/load"] = Steps(Barrier("load"), Error(-32603, "broken"));
    UseScript(script);
    SetFake("resume", json::array({"session/load"}));
    StartDaemon();
  }
  std::string AcceptRequiring(const std::string& session_id) {
    api::ChatRequest request = ChatOf(kProject, session_id, "hello", api::WAIT_FOR_ACCEPTED);
    request.mutable_resume_policy()->set_mode(api::ResumePolicy::MODE_REQUIRE);
    request.mutable_resume_policy()->set_max_retries(0);
    const auto chat = client().Chat(request);
    EXPECT_TRUE(chat.ok()) << chat.ToString();
    return chat.response.turn_id();
  }
  void ExpectFailedOnce(const std::string& turn_id) {
    const api::Turn turn = WaitForTurn(turn_id);
    EXPECT_EQ(turn.result().outcome(), Result::OUTCOME_FAILED);
    EXPECT_EQ(turn.result().error().reason(), "RESUME_FAILED");
    EXPECT_EQ(CountEnds(turn_id), 1u);
  }
};

TEST_F(LoadErrorEndsOnceTest, StartingAndQueued) {
  const std::string id = MakeDormant();
  const std::string starting = AcceptRequiring(id);
  ASSERT_TRUE(barriers().WaitReached("load"));
  const std::string queued = AcceptRequiring(id);
  barriers().Release("load");
  ExpectFailedOnce(starting);
  ExpectFailedOnce(queued);
  KillAndRestartDaemon();
  ExpectFailedOnce(starting);
  ExpectFailedOnce(queued);
}

// So does a command that was never there: nothing of it can run.
TEST_F(TurnsTest, ASpawnErrorEndsStartingAndQueuedTurnsOnce) {
  options().agents["fake"].command = dir() / "no-such-agent";
  StartDaemon();
  const auto first = client().Chat(ChatOf(kProject, "", "hello", api::WAIT_FOR_ACCEPTED));
  ASSERT_TRUE(first.ok()) << first.ToString();
  const std::string second = Accept(first.response.session_id(), Steps(Say("x")));
  for (const bool restarted : {false, true}) {
    if (restarted) KillAndRestartDaemon();
    for (const std::string& turn_id : {first.response.turn_id(), second}) {
      const api::Turn turn = WaitForTurn(turn_id);
      EXPECT_EQ(turn.result().outcome(), Result::OUTCOME_FAILED);
      EXPECT_EQ(turn.result().error().reason(), "AGENT_START_FAILED");
      EXPECT_EQ(CountEnds(turn_id), 1u);
    }
  }
}

}  // namespace
}  // namespace acpd::e2e
