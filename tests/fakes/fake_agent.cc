// fake_agent: a scripted ACP agent for tests. It can be told anything:
//   FAKE_AGENT_INLINE    the script (script.h), or
//   FAKE_AGENT_SCRIPT    a file with it; neither: a good agent that talks like the demo agent
//   FAKE_AGENT_STATE     folder of its sessions, so that another process resumes them; none: they
//   end with the process FAKE_AGENT_LOG       file that gets what it received and did (agent_log.h)
//   FAKE_AGENT_BARRIERS  folder of its barriers
//   ACPD_TEST_WIRE       folder for all that went over its pipes (agent_wire.h)
// A prompt may bring its own steps (verb_table.cc):  ![{"update": "hi"}, {"barrier": "b1"},
// {"reply":
// {"stopReason": "end_turn"}}]

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "tests/fakes/agent.h"

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  const char* log = std::getenv("FAKE_AGENT_LOG");
  acpd::fakes::AgentLog(log == nullptr ? "" : log).WriteStart(argc, argv);
  try {
    return acpd::fakes::FakeAgent(acpd::fakes::Script::FromEnvironment()).Serve();
  } catch (const std::exception& mistake) {  // an argument of the wrong type in a step
    std::fprintf(stderr, "fake_agent: %s\n", mistake.what());
    return 64;
  }
}
