#ifndef ACPD_TESTS_AGENTS_CONFIGURE_AGENTS_H_
#define ACPD_TESTS_AGENTS_CONFIGURE_AGENTS_H_

#include <map>
#include <string>

// What each real agent needs to talk to the fake model: files in its home, and environment.
namespace acpd::e2e {

// Where one test's agent lives.
struct AgentPlace {
  std::string agents;     // the folder with all installed agents (ACPD_AGENTS_DIR)
  std::string home;       // the test's own
  std::string model_url;  // of the fake model
  bool logged_in = true;  // it gets the model's key
};

using Environment = std::map<std::string, std::string>;

// Writes what the agent needs below the home; what it needs in its environment.
using ConfigureAgent = Environment (*)(const AgentPlace& place);

Environment ConfigureClaude(const AgentPlace& place);
Environment ConfigureCodex(const AgentPlace& place);    // the one in Rust
Environment ConfigureCodexTs(const AgentPlace& place);  // the one on node
Environment ConfigureGemini(const AgentPlace& place);
Environment ConfigureOpencode(const AgentPlace& place);
Environment ConfigureNothing(const AgentPlace& place);

// What every agent gets: nothing of the machine's own settings reaches it, and no proxy stands
// before the loopback.
Environment CommonEnvironment(const AgentPlace& place);

// The node that the agents and the fake model run on.
std::string NodeProgram(const std::string& agents);

}  // namespace acpd::e2e

#endif  // ACPD_TESTS_AGENTS_CONFIGURE_AGENTS_H_
