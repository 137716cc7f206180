#include "session/config.h"

#include <algorithm>

namespace acpd::session {

const AgentDefinition* Config::Find(const std::string& agent_name) const {
  const auto found = std::find_if(
      agents.begin(), agents.end(),
      [&agent_name](const AgentDefinition& agent) { return agent.name == agent_name; });
  return found == agents.end() ? nullptr : &*found;
}

}  // namespace acpd::session
