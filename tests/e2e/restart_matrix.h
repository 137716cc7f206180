#ifndef ACPD_TESTS_E2E_RESTART_MATRIX_H_
#define ACPD_TESTS_E2E_RESTART_MATRIX_H_

#include <string>
#include <vector>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {

// Where the turn stands when its end begins.
enum class Phase { kQueued, kStarting, kRunning, kWaiting };

// What becomes of acpd between the two.
enum class Fate {
  kStays,
  kIsKilled,  // and started again before the end begins
  kIsAway,    // the end happens while there is no acpd
};

struct Expected {
  api::TurnResult::Outcome outcome = api::TurnResult::OUTCOME_UNSPECIFIED;  // it cannot happen
  std::string reason;                                                       // of the result's error
};

class MatrixTest;

// One way for a turn to end.
struct Ending {
  const char* name;
  void (MatrixTest::*happen)();
  Expected queued, starting, running, waiting;
  json steps = json::array();  // the agent's, once the test has let the turn go
  // Something else than the agent's word ends it: it happens without an acpd just as well.
  bool without_acpd = false;
  Expected starting_away = {};
};

struct MatrixCase {
  Ending ending;
  Phase phase;
  Fate fate;
  Expected expected;
};

std::string NameOf(const MatrixCase& c);
void PrintTo(const MatrixCase& c, std::ostream* out);

// One turn (the victim) that is brought to where it is to stand, and ended.
class MatrixTest : public TurnsTest, public ::testing::WithParamInterface<MatrixCase> {
 public:
  // What happens; it may go on by itself.
  void LetGo();
  void CancelIt();
  void CancelProject();
  void KillTheAgent();
  void KillTheWorker();
  void RemoveTheAgent();
  void AnswerCancelled();
  void AnswerNo();
  void Close();
  void Delete();
  void Drain();
  void FillTheQueue();
  void StopAcpd();
  void Interrupt();

 protected:
  void SetUp() override;
  void Bring();
  // Whether the session is to be set up by a resume that fails.
  bool IsResume() const;
  std::string BarrierOfSetUp() const;
  bool Is(const char* ending) const { return std::string(ending) == GetParam().ending.name; }
  void ExpectTheEnd();
  void ExpectUsable();
  // Agents that have just answered are given a second before they are stopped: not by the tests.
  void KillAgents();

  std::string session_id_, victim_;

 private:
  json StepsOfVictim() const;
  json ScriptOfAgent() const;
  void Answer(bool no);
  std::vector<api::Turn> ListTurns(const std::vector<api::TurnState>& states);
};

}  // namespace acpd::e2e

#endif  // ACPD_TESTS_E2E_RESTART_MATRIX_H_
