#ifndef ACPD_TESTS_AGENTS_AGENT_TEST_H_
#define ACPD_TESTS_AGENTS_AGENT_TEST_H_

#include <memory>
#include <string>

#include "tests/agents/fake_model.h"
#include "tests/agents/real_agents.h"
#include "tests/e2e/harness/e2e_test.h"

namespace acpd::e2e {

// Real agents need seconds to start on an idle machine, and tests share theirs.
inline constexpr milliseconds kAgentPatience{90'000};

inline constexpr char kProject[] = "shop";
inline constexpr char kRemember[] = "remember the number 42";
inline constexpr char kRemembered[] = "OK, I will remember 42.";
inline constexpr char kRecall[] = "what number did I say?";

// A session id that no agent and no acpd knows.
inline constexpr char kUnknownSession[] = "00000000-0000-4000-8000-000000000000";

// A test with a real acpd and one real agent (the parameter: its name), both with a home of their
// own, and a fake model. acpd has been started when the test begins. After the test: as after each
// E2eTest, and its result is recorded (cell_record.h).
//
// ACPD_AGENTS_DIR: where the agents are installed; without it the test is skipped. ACPD_AGENTS:
// those to test with, separated by commas; unset: all.
class AgentTest : public E2eTest, public ::testing::WithParamInterface<std::string> {
 protected:
  // `extra`: further keys of the agent's entry in acpd's config.
  explicit AgentTest(json extra = json::object(), bool logged_in = true)
      : extra_(std::move(extra)), logged_in_(logged_in) {}
  void SetUp() override;
  void TearDown() override;
  // What else acpd is to be started with.
  virtual void Configure() {}

  const RealAgent& agent() const { return FindRealAgent(GetParam()); }
  // Where the agents are installed.
  static std::string AgentsFolder();
  // Whether the agent cannot do this; it is then the test's result, unless something fails.
  bool Cannot(Ability ability);

  // A Chat that waits for the turn's end / until the agent has the prompt; an empty session_id: a
  // new session.
  Called<api::ChatResponse> Say(const std::string& session_id, const std::string& prompt);
  Called<api::ChatResponse> Begin(const std::string& session_id, const std::string& prompt);
  // A new session whose agent was told the number and has answered; its id, empty on failure.
  std::string Remember();
  // The same, and it was closed.
  std::string RememberAndClose();
  // A new turn of the session, which goes on for many seconds and has begun to answer; its id,
  // empty on failure.
  std::string BeginLongAnswer(const std::string& session_id);
  // The turn's result, waited for. Fails the test where it does not end.
  api::TurnResult WaitForEnd(const std::string& turn_id, milliseconds patience = kAgentPatience);
  // How many TurnEnded the whole log has for the turn.
  int EndsOf(const std::string& turn_id);
  // Every line says what the model was asked.
  std::string AskedOfModel() const { return model_->Log(); }

  // Fails the test unless the agent said this, and nothing else (but see RealAgent).
  void ExpectText(const std::string& said, const std::string& text) const;
  // Fails the test unless the turn was completed with this answer, in a session that came to be
  // ready this way.
  void ExpectAnswer(const Called<api::ChatResponse>& chat, api::SessionOrigin::Kind kind,
                    const std::string& text) const;

 private:
  json extra_;
  bool logged_in_;
  std::string cannot_;
  std::unique_ptr<FakeModel> model_;
};

// Names of agents that fit, for INSTANTIATE_TEST_SUITE_P, and how they are written there.
std::vector<std::string> AgentNames(bool (*fits)(const RealAgent&) = nullptr);
std::string AgentTestName(const ::testing::TestParamInfo<std::string>& info);

}  // namespace acpd::e2e

#endif  // ACPD_TESTS_AGENTS_AGENT_TEST_H_
