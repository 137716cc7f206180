#ifndef ACPD_SERVER_AGENT_SESSION_PAGES_H_
#define ACPD_SERVER_AGENT_SESSION_PAGES_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "acpd/v1/session_service.pb.h"
#include "session/views.h"

// ListAgentSessions: pages are as the agent makes them, and one that is too large comes in pieces:
// a token names the agent's page, by its cursor, and how much of it was shown. Pure functions.
namespace acpd::server {

struct AgentSessionsParams {
  std::string agent, cwd;
  std::string cursor;  // of the agent's page; empty: the first
  size_t shown = 0;    // of that page, before
  size_t limit = 0;
};
absl::StatusOr<AgentSessionsParams> AgentSessionsFrom(const v1::ListAgentSessionsRequest& request);

// NOT_SUPPORTED_BY_AGENT: the agent's cursor is too long to be handed out.
absl::Status FillPage(const v1::ListAgentSessionsRequest& request,
                      const AgentSessionsParams& params, const session::AgentSessionPage& page,
                      v1::ListAgentSessionsResponse* response);

}  // namespace acpd::server

#endif  // ACPD_SERVER_AGENT_SESSION_PAGES_H_
