#ifndef ACPD_SESSION_AGENT_SETTINGS_H_
#define ACPD_SESSION_AGENT_SETTINGS_H_

#include <string>
#include <string_view>

#include "session/config.h"

namespace acpd::session {

// How a running agent is treated, for WorkerRow::settings: a worker goes on with it when its agent
// has left the config. How it is started is left out, and with it whatever secrets stand there.
std::string PackSettings(const AgentDefinition& agent);
// A definition without a command; defaults for what the bytes do not have.
AgentDefinition UnpackSettings(const std::string& name, std::string_view packed);

}  // namespace acpd::session

#endif  // ACPD_SESSION_AGENT_SETTINGS_H_
