// The methods that look after sessions.
#include <utility>

#include "server/list_pages.h"
#include "server/option_request.h"
#include "server/requests.h"
#include "server/service.h"
#include "server/service_answer.h"
#include "server/trace.h"

namespace acpd::server {

Service::Reactor* Service::CreateSession(Context* context, const v1::CreateSessionRequest* request,
                                         v1::Session* response) {
  auto setup = SetupFrom(*request, rules_, TraceFrom(*context));
  if (!setup.ok()) return Refuse(context, setup.status());
  return Serve(context, [this, setup = *std::move(setup), response](UnaryCall& call) mutable {
    return AnswerSession(call, manager_->CreateSession(call.call(), std::move(setup)), response);
  });
}

Service::Reactor* Service::GetSession(Context* context, const v1::GetSessionRequest* request,
                                      v1::Session* response) {
  if (auto status = CheckSessionId(request->session_id()); !status.ok())
    return Refuse(context, status);
  return Serve(context, [this, request, response](UnaryCall& call) {
    return AnswerSession(call, manager_->GetSession(call.call(), request->session_id()), response);
  });
}

Service::Reactor* Service::ListSessions(Context* context, const v1::ListSessionsRequest* request,
                                        v1::ListSessionsResponse* response) {
  auto params = ListSessionsFrom(*request);
  if (!params.ok()) return Refuse(context, params.status());
  return Serve(context, [this, request, params = *std::move(params), response](UnaryCall& call) {
    return Answer(manager_->ListSessions(call.call(), params.query),
                  [this, request, params, response](const session::SessionPage& page) {
                    FillPage(*request, params, page, response);
                    response->set_epoch(epoch_);
                  });
  });
}

Service::Reactor* Service::SetSessionOption(Context* context,
                                            const v1::SetSessionOptionRequest* request,
                                            v1::Session* response) {
  auto change = SessionChangeFrom(*request, TraceFrom(*context));
  if (!change.ok()) return Refuse(context, change.status());
  return Serve(context, [this, request, change = *std::move(change), response](UnaryCall& call) {
    return AnswerSession(
        call, manager_->SetSessionOption(call.call(), request->session_id(), change), response);
  });
}

Service::Reactor* Service::ForkSession(Context* context, const v1::ForkSessionRequest* request,
                                       v1::Session* response) {
  auto setup = ForkFrom(*request, rules_, TraceFrom(*context));
  if (!setup.ok()) return Refuse(context, setup.status());
  return Serve(context, [this, request, setup = *std::move(setup), response](UnaryCall& call) {
    return AnswerSession(call, manager_->ForkSession(call.call(), request->session_id(), setup),
                         response);
  });
}

Service::Reactor* Service::CloseSession(Context* context, const v1::CloseSessionRequest* request,
                                        v1::Session* response) {
  if (auto status = CheckSessionId(request->session_id()); !status.ok())
    return Refuse(context, status);
  return Serve(context, [this, request, response](UnaryCall& call) {
    return AnswerSession(
        call, manager_->CloseSession(call.call(), request->session_id(), request->force()),
        response);
  });
}

Service::Reactor* Service::DeleteSession(Context* context, const v1::DeleteSessionRequest* request,
                                         v1::DeleteSessionResponse*) {
  if (auto status = CheckSessionId(request->session_id()); !status.ok())
    return Refuse(context, status);
  return Serve(context, [this, request](UnaryCall& call) {
    call.AddTrailer(kSessionIdKey, request->session_id());
    return manager_->DeleteSession(call.call(), request->session_id(), request->force());
  });
}

}  // namespace acpd::server
