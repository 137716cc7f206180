// The methods that ask agents of themselves.
#include <utility>

#include "server/agent_session_pages.h"
#include "server/convert_agent.h"
#include "server/service.h"
#include "server/service_answer.h"

namespace acpd::server {
namespace {

awaitable<absl::Status> AnswerAgentSessions(
    const v1::ListAgentSessionsRequest* request, AgentSessionsParams params,
    awaitable<absl::StatusOr<session::AgentSessionPage>> work,
    v1::ListAgentSessionsResponse* response) {
  const absl::StatusOr<session::AgentSessionPage> page = co_await std::move(work);
  if (!page.ok()) co_return page.status();
  co_return FillPage(*request, params, *page, response);
}

}  // namespace

Service::Reactor* Service::ListAgents(Context* context, const v1::ListAgentsRequest*,
                                      v1::ListAgentsResponse* response) {
  return Serve(context, [this, response](UnaryCall& call) {
    return Answer(manager_->ListAgents(call.call()),
                  [response](const std::vector<session::AgentView>& agents) {
                    for (const auto& agent : agents) ToProto(agent, response->add_agents());
                  });
  });
}

Service::Reactor* Service::ProbeAgent(Context* context, const v1::ProbeAgentRequest* request,
                                      v1::Agent* response) {
  return Serve(context, [this, request, response](UnaryCall& call) {
    return Answer(manager_->ProbeAgent(call.call(), request->agent()),
                  [response](const session::AgentView& agent) { ToProto(agent, response); });
  });
}

Service::Reactor* Service::ListAgentSessions(Context* context,
                                             const v1::ListAgentSessionsRequest* request,
                                             v1::ListAgentSessionsResponse* response) {
  auto params = AgentSessionsFrom(*request);
  if (!params.ok()) return Refuse(context, params.status());
  return Serve(context, [this, request, params = *std::move(params), response](UnaryCall& call) {
    auto page = manager_->ListAgentSessions(call.call(), params.agent, params.cwd, params.cursor);
    return AnswerAgentSessions(request, params, std::move(page), response);
  });
}

}  // namespace acpd::server
