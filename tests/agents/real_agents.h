#ifndef ACPD_TESTS_AGENTS_REAL_AGENTS_H_
#define ACPD_TESTS_AGENTS_REAL_AGENTS_H_

#include <string>
#include <vector>

#include "tests/e2e/harness/api.h"
#include "tests/e2e/harness/daemon.h"

// The real agents of the tests: how each is started against the fake model, and what of their ways
// differs.
namespace acpd::e2e {

// Where one test's agent lives.
struct AgentPlace {
  std::string agents;     // the folder with all installed agents (ACPD_AGENTS_DIR)
  std::string home;       // the test's own
  std::string model_url;  // of the fake model
};

struct RealAgent {
  std::string name;     // its folder below AgentPlace::agents, and its name in acpd's config
  std::string program;  // path below that folder; a script (.js) runs on the node installed there
  std::vector<std::string> args;
  // Writes what configuration the agent needs below the home; what it needs in its environment.
  std::map<std::string, std::string> (*configure)(const AgentPlace& place);
  // The way acpd is to resume its sessions.
  api::SessionOrigin::Method resume_method;
  // It loses a session that is loaded in the very minute (of the wall clock) in which it was made.
  bool resumes_only_later = false;
  // How a turn ends in which a permission was refused: some agents end it `cancelled` themselves.
  api::TurnResult::Outcome outcome_of_refusal = api::TurnResult::OUTCOME_COMPLETED;
};

// All of them.
const std::vector<RealAgent>& RealAgents();
// By its name; it must exist.
const RealAgent& FindRealAgent(const std::string& name);

// The node that the agents and the fake model run on.
std::string NodeProgram(const std::string& agents);
// The agent's file that has to be installed.
std::string ProgramOf(const RealAgent& agent, const std::string& agents);
// The agent's entry of acpd's config; its files below the home are written.
AgentSpec SpecOf(const RealAgent& agent, const AgentPlace& place);

}  // namespace acpd::e2e

#endif  // ACPD_TESTS_AGENTS_REAL_AGENTS_H_
