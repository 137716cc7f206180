#ifndef ACPD_SESSION_SESSION_CAPABILITIES_H_
#define ACPD_SESSION_SESSION_CAPABILITIES_H_

#include "acp/setup.h"
#include "session/config.h"

namespace acpd::session {

// What acpd offers to an agent of this definition in `initialize`.
inline acp::ClientCapabilities OfferedTo(const AgentDefinition& agent) {
  acp::ClientCapabilities offered;
  offered.read_text_file = agent.capabilities.fs && agent.capabilities.fs_read;
  offered.write_text_file = agent.capabilities.fs;
  offered.terminal = agent.capabilities.terminal;
  offered.elicitation_form = offered.elicitation_url = agent.capabilities.elicitation;
  return offered;
}

}  // namespace acpd::session

#endif  // ACPD_SESSION_SESSION_CAPABILITIES_H_
