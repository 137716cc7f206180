#ifndef ACPD_SERVER_SERVER_INFO_H_
#define ACPD_SERVER_SERVER_INFO_H_

#include <map>
#include <string>

#include "acpd/v1/admin_service.pb.h"
#include "server/daemon_config.h"
#include "session/session_manager.h"

// What operators see of acpd, as the messages of the AdminService. Pure functions.
namespace acpd::server {

// The config's `limits`, by their keys and as the config writes them.
std::map<std::string, std::string> FormatLimits(const session::Limits& limits);

void ToProto(const session::ManagerCounts& counts, v1::GetServerInfoResponse::Counts* out);
v1::WorkersAtShutdown ToProto(Workers workers);

}  // namespace acpd::server

#endif  // ACPD_SERVER_SERVER_INFO_H_
