#ifndef ACPD_SERVER_SERVICE_H_
#define ACPD_SERVER_SERVICE_H_

#include <grpcpp/support/server_callback.h>

#include <string>

#include "acpd/v1/session_service.grpc.pb.h"
#include "server/call.h"
#include "server/chat_request.h"
#include "server/subscription.h"
#include "session/session_manager.h"
#include "session/store.h"

namespace acpd::server {

// Events are written as bytes: they lie in the log as they travel.
using ServiceBase = v1::SessionService::WithRawCallbackMethod_SubscribeProgress<
    v1::SessionService::WithRawCallbackMethod_ChatStream<
        v1::SessionService::WithRawCallbackMethod_ListEvents<v1::SessionService::CallbackService>>>;

// acpd.v1.SessionService: each method checks and converts its request, calls the domain on the
// loop, converts the answer and finishes. No logic. gRPC's threads call it. Owned by the
// GrpcServer, and outlives its server.
class Service final : public ServiceBase {
 public:
  Service(session::SessionManager* manager, session::EventLog* log, session::Store* store,
          const session::Config& config, asio::any_io_executor loop, ActiveCalls* active);

  using Context = grpc::CallbackServerContext;
  using Reactor = grpc::ServerUnaryReactor;
  using Stream = grpc::ServerWriteReactor<grpc::ByteBuffer>;

  Reactor* Chat(Context*, const v1::ChatRequest*, v1::ChatResponse*) override;
  Reactor* Cancel(Context*, const v1::CancelRequest*, v1::CancelResponse*) override;
  Stream* SubscribeProgress(Context*, const grpc::ByteBuffer*) override;
  Stream* ChatStream(Context*, const grpc::ByteBuffer*) override;
  Reactor* GetTurn(Context*, const v1::GetTurnRequest*, v1::Turn*) override;
  Reactor* ListTurns(Context*, const v1::ListTurnsRequest*, v1::ListTurnsResponse*) override;
  Reactor* ListEvents(Context*, const grpc::ByteBuffer*, grpc::ByteBuffer*) override;
  Reactor* Respond(Context*, const v1::RespondRequest*, v1::RespondResponse*) override;
  Reactor* CreateSession(Context*, const v1::CreateSessionRequest*, v1::Session*) override;
  Reactor* GetSession(Context*, const v1::GetSessionRequest*, v1::Session*) override;
  Reactor* ListSessions(Context*, const v1::ListSessionsRequest*,
                        v1::ListSessionsResponse*) override;
  Reactor* CloseSession(Context*, const v1::CloseSessionRequest*, v1::Session*) override;
  Reactor* DeleteSession(Context*, const v1::DeleteSessionRequest*,
                         v1::DeleteSessionResponse*) override;
  Reactor* ListAgents(Context*, const v1::ListAgentsRequest*, v1::ListAgentsResponse*) override;
  Reactor* ProbeAgent(Context*, const v1::ProbeAgentRequest*, v1::Agent*) override;
  Reactor* SetSessionOption(Context*, const v1::SetSessionOptionRequest*, v1::Session*) override;
  Reactor* ForkSession(Context*, const v1::ForkSessionRequest*, v1::Session*) override;
  Reactor* ListAgentSessions(Context*, const v1::ListAgentSessionsRequest*,
                             v1::ListAgentSessionsResponse*) override;

 private:
  Reactor* Serve(Context* context, UnaryCall::Work work) {
    return UnaryCall::Start(calls_, context, std::move(work));
  }

  session::SessionManager* const manager_;
  const std::string epoch_;
  const RequestRules rules_;
  const CallContext calls_;
  const Subscription::Surroundings streams_;
};

}  // namespace acpd::server

#endif  // ACPD_SERVER_SERVICE_H_
