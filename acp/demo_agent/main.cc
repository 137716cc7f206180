// acpd-demo-agent: speaks ACP on stdin and stdout, and remembers its sessions below XDG_STATE_HOME.

#include <csignal>
#include <cstdlib>
#include <string>

#include "acp/demo_agent/demo_agent.h"

namespace {

std::string StateFolder() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return std::string(state) + "/acpd-demo-agent";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return std::string(home) + "/.local/state/acpd-demo-agent";
  return "";  // nowhere to write: sessions live as long as the process
}

}  // namespace

int main() {
  std::signal(SIGPIPE, SIG_IGN);
  acpd::demo::DemoAgent(StateFolder()).Run();
  return 0;
}
