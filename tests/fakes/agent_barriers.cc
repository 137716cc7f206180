#include "tests/fakes/agent_barriers.h"

#include <unistd.h>

#include <fstream>

namespace acpd::fakes {

void AgentBarriers::Reach(const std::string& name) const {
  std::ofstream(folder_ + "/" + name + ".reached") << ::getpid() << '\n';
}

bool AgentBarriers::Released(const std::string& name) const {
  return ::access((folder_ + "/" + name + ".release").c_str(), F_OK) == 0;
}

}  // namespace acpd::fakes
