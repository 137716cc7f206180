// However a turn ends, wherever it stands by then, and whether or not acpd is killed in between: it
// ends once, and what is said of it agrees.

#include "tests/e2e/restart_matrix.h"

#include <algorithm>

namespace acpd::e2e {
namespace {

using Result = api::TurnResult;

const Expected kDone{Result::OUTCOME_COMPLETED, ""};
const Expected kCancelled{Result::OUTCOME_CANCELLED, ""};
const Expected kImpossible;

Expected Failed(const std::string& reason) { return {Result::OUTCOME_FAILED, reason}; }
Expected Interrupted(const std::string& reason) { return {Result::OUTCOME_INTERRUPTED, reason}; }

// The agent's word or its exit comes at its own time, whatever the phase: let go.
Ending OfAgent(const char* name, const json& steps, const Expected& expected) {
  return {.name = name,
          .happen = &MatrixTest::LetGo,
          .queued = expected,
          .starting = expected,
          .running = expected,
          .waiting = expected,
          .steps = steps,
          .without_acpd = true,
          .starting_away = expected};
}

Ending OfCaller(const char* name, void (MatrixTest::*happen)(), const Expected& expected,
                const json& steps = json::array()) {
  return {.name = name,
          .happen = happen,
          .queued = expected,
          .starting = expected,
          .running = expected,
          .waiting = expected,
          .steps = steps};
}

std::vector<Ending> EndingsOfAgents() {
  return {
      OfAgent("EndTurn", Steps(Say("done")), kDone),
      OfAgent("Refusal", Steps(Reply("refusal")), {Result::OUTCOME_REFUSED, ""}),
      OfAgent("MaxTokens", Steps(Reply("max_tokens")), {Result::OUTCOME_TRUNCATED, ""}),
      OfAgent("AgentError", Steps(Error(-32603, "no")), Failed("AGENT_ERROR")),
      OfAgent("AgentExit", Steps(Step("exit", 3)), Interrupted("AGENT_EXITED")),
      OfAgent("TurnTimeout", Steps("silent"), Failed("TURN_TIMEOUT")),
  };
}

std::vector<Ending> EndingsOfCallers() {
  using T = MatrixTest;
  const json cancelled =
      Steps(Step("expect_answer", {{"id", "q"}, {"outcome", "cancelled"}}), Reply("cancelled"));
  const json rejected = Steps(Step("expect_answer", {{"id", "q"}, {"optionId", "no"}}));
  Ending interrupt = OfCaller("Interrupt", &T::Interrupt, kCancelled);
  interrupt.queued = kDone;
  return {
      OfCaller("Cancel", &T::CancelIt, kCancelled),
      OfCaller("CancelOfTheProject", &T::CancelProject, kCancelled),
      OfCaller("QuestionCancelled", &T::AnswerCancelled, kCancelled, cancelled),
      OfCaller("QuestionRejected", &T::AnswerNo, kDone, rejected),
      OfCaller("Close", &T::Close, kCancelled),
      OfCaller("Delete", &T::Delete, kCancelled),
      OfCaller("Drain", &T::Drain, kDone),
      OfCaller("QueueFull", &T::FillTheQueue, kDone),
      interrupt,
  };
}

// Each ends the turn that has the agent; one in the queue behind it runs.
std::vector<Ending> EndingsOfProcesses() {
  using T = MatrixTest;
  const Expected exited = Interrupted("AGENT_EXITED"), lost = Interrupted("WORKER_LOST");
  const Expected no_start = Failed("AGENT_START_FAILED");
  const Expected not_resumable = Failed("SESSION_NOT_RESUMABLE");
  return {
      {"AgentKilled", &T::KillTheAgent, kDone, no_start, exited, exited, Steps(), true, kDone},
      {"WorkerKilled", &T::KillTheWorker, kDone, no_start, lost, lost, Steps(), true, kDone},
      {"SpawnError", &T::RemoveTheAgent, no_start, no_start, kImpossible, kImpossible, Steps(),
       true, no_start},
      {"ResumeErrorBehindATurn", &T::KillTheAgent, not_resumable, kImpossible, kImpossible,
       kImpossible},
      {"ResumeError", &T::LetGo, kImpossible, not_resumable, kImpossible, kImpossible},
      {"Shutdown", &T::StopAcpd, kDone, kDone, kCancelled, kCancelled},
      {"Stall", &T::LetGo, Failed("TURN_STALLED"), Failed("TURN_STALLED"), Failed("TURN_STALLED"),
       kImpossible, Steps("silent")},
  };
}

const Expected& ExpectedOf(const Ending& ending, Phase phase, Fate fate) {
  switch (phase) {
    case Phase::kQueued:
      return ending.queued;
    case Phase::kStarting:
      return fate == Fate::kIsAway ? ending.starting_away : ending.starting;
    case Phase::kRunning:
      return ending.running;
    case Phase::kWaiting:
      break;
  }
  return ending.waiting;
}

std::vector<MatrixCase> AllCases() {
  std::vector<Ending> endings = EndingsOfAgents();
  for (const Ending& ending : EndingsOfCallers()) endings.push_back(ending);
  for (const Ending& ending : EndingsOfProcesses()) endings.push_back(ending);
  std::vector<MatrixCase> cases;
  for (const Ending& ending : endings) {
    for (const Phase phase : {Phase::kQueued, Phase::kStarting, Phase::kRunning, Phase::kWaiting}) {
      for (const Fate fate : {Fate::kStays, Fate::kIsKilled, Fate::kIsAway}) {
        const Expected& expected = ExpectedOf(ending, phase, fate);
        if (expected.outcome == Result::OUTCOME_UNSPECIFIED) continue;
        if (fate == Fate::kIsAway && !ending.without_acpd) continue;
        cases.push_back({ending, phase, fate, expected});
      }
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Endings, MatrixTest, ::testing::ValuesIn(AllCases()),
                         [](const auto& info) { return NameOf(info.param); });

TEST_P(MatrixTest, ATurnEndsOnce) {
  ASSERT_NO_FATAL_FAILURE(Bring());
  const MatrixCase& c = GetParam();
  if (c.fate != Fate::kStays) daemon().Kill();
  if (c.fate == Fate::kIsAway) (this->*c.ending.happen)();
  if (c.fate != Fate::kStays) {
    // What is set up anew stands at the barrier once more.
    if (c.fate == Fate::kIsKilled) barriers().Reset(BarrierOfSetUp());
    StartDaemon();
    if (c.phase == Phase::kStarting && c.fate == Fate::kIsKilled) {
      ASSERT_TRUE(barriers().WaitReached(BarrierOfSetUp()));
    }
  }
  if (c.fate != Fate::kIsAway) {
    ASSERT_NO_FATAL_FAILURE((this->*c.ending.happen)());
  }
  LetGo();
  if (!Is("Delete")) ExpectTheEnd();
  ExpectUsable();
  // The agent got the prompt once, if at all.
  const std::vector<json> prompts = log().Received("session/prompt");
  EXPECT_LE(std::count_if(prompts.begin(), prompts.end(),
                          [](const json& prompt) {
                            return prompt.dump().find("\\\"victim\\\"") != std::string::npos;
                          }),
            1);
  if (c.fate == Fate::kStays && !Is("Delete")) {
    KillAndRestartDaemon();
    ExpectTheEnd();
  }
  KillAgents();
}

}  // namespace
}  // namespace acpd::e2e
