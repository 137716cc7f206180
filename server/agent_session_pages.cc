#include "server/agent_session_pages.h"

#include <algorithm>

#include "server/convert_agent.h"
#include "server/list_pages.h"
#include "server/page_token.h"
#include "server/request_checks.h"
#include "server/strings.h"
#include "session/errors.h"

namespace acpd::server {
namespace {

constexpr size_t kMaxAgentSessions = 500;
constexpr size_t kMaxCursor = 64u << 10;

// Adds what is left of the agent's page until ours is full. Returns how much of the agent's page
// was shown then.
size_t AddSessions(const AgentSessionsParams& params, const session::AgentSessionPage& page,
                   v1::ListAgentSessionsResponse* response) {
  size_t shown = std::min(params.shown, page.sessions.size());
  const size_t end = std::min(page.sessions.size(), shown + params.limit);
  for (size_t bytes = 0; shown < end; ++shown) {
    auto* added = response->add_sessions();
    ToProto(page.sessions[shown], added);
    bytes += added->ByteSizeLong();
    if (bytes <= kMaxPageBytes) continue;
    response->mutable_sessions()->RemoveLast();
    break;
  }
  return shown;
}

}  // namespace

absl::StatusOr<AgentSessionsParams> AgentSessionsFrom(const v1::ListAgentSessionsRequest& request) {
  Checks checks;
  checks.Text("agent", request.agent());
  checks.Text("cwd", request.cwd());
  checks.Require(request.cwd().empty() || request.cwd().starts_with('/'), "INVALID_REQUEST",
                 "cwd is no absolute path.");
  checks.Require(request.page_size() >= 0, "INVALID_REQUEST", "page_size is negative.");
  if (!checks.status().ok()) return checks.status();
  const auto token = TokenOf(request);
  if (!token.ok()) return token.status();
  AgentSessionsParams params;
  params.agent = request.agent();
  params.cwd = request.cwd();
  params.cursor = token->before_id;
  params.shown = token->as_of_position;
  params.limit = kMaxAgentSessions;
  if (request.page_size() > 0)
    params.limit = std::min<size_t>(params.limit, static_cast<size_t>(request.page_size()));
  return params;
}

absl::Status FillPage(const v1::ListAgentSessionsRequest& request,
                      const AgentSessionsParams& params, const session::AgentSessionPage& page,
                      v1::ListAgentSessionsResponse* response) {
  PageToken next;
  next.as_of_position = AddSessions(params, page, response);
  next.before_id = params.cursor;
  if (next.as_of_position == page.sessions.size()) {
    if (page.next_cursor.empty()) return absl::OkStatus();
    if (page.next_cursor.size() > kMaxCursor) {
      return session::MakeError("NOT_SUPPORTED_BY_AGENT",
                                Cat("the agent goes on with a cursor of more than ", kMaxCursor,
                                    " bytes; ask for the sessions of one cwd."));
    }
    next.before_id = page.next_cursor;
    next.as_of_position = 0;
  }
  response->set_next_page_token(EncodePageToken(next, ListName(request)));
  return absl::OkStatus();
}

}  // namespace acpd::server
