#ifndef ACPD_SERVER_CONVERT_AGENT_H_
#define ACPD_SERVER_CONVERT_AGENT_H_

#include "acpd/v1/admin_service.pb.h"
#include "acpd/v1/session_service.pb.h"
#include "session/views.h"

// What is known of an agent itself, as messages of the API; like server/convert.h.
namespace acpd::server {

void ToProto(const session::AgentView& agent, v1::Agent* out);
void ToProto(const session::AgentSessionView& session,
             v1::ListAgentSessionsResponse::AgentSession* out);
void ToProto(const session::LoginView& login, v1::LoginAgentResponse* out);

}  // namespace acpd::server

#endif  // ACPD_SERVER_CONVERT_AGENT_H_
