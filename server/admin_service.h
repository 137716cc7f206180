#ifndef ACPD_SERVER_ADMIN_SERVICE_H_
#define ACPD_SERVER_ADMIN_SERVICE_H_

#include <grpcpp/support/server_callback.h>

#include <functional>
#include <optional>

#include "acpd/v1/admin_service.grpc.pb.h"
#include "server/call.h"
#include "server/daemon_config.h"
#include "session/session_manager.h"
#include "session/store.h"

namespace acpd::server {

// acpd.v1.AdminService: what operators ask of this process. No logic of the domain. gRPC's threads
// call it. Owned by the GrpcServer, and outlives its server.
class AdminService final : public v1::AdminService::CallbackService {
 public:
  struct Parts {
    session::SessionManager* manager = nullptr;
    session::Store* store = nullptr;
    const DaemonConfig* config = nullptr;
    // Has acpd stopped, without waiting for it; nullopt: as the config says. False: it is stopping
    // already. On the loop.
    std::function<bool(std::optional<Workers>)> stop;
  };
  AdminService(Parts parts, asio::any_io_executor loop, ActiveCalls* active);

  using Context = grpc::CallbackServerContext;
  using Reactor = grpc::ServerUnaryReactor;

  Reactor* GetServerInfo(Context*, const v1::GetServerInfoRequest*,
                         v1::GetServerInfoResponse*) override;
  Reactor* Drain(Context*, const v1::DrainRequest*, v1::DrainResponse*) override;
  Reactor* SetWireLog(Context*, const v1::SetWireLogRequest*, v1::SetWireLogResponse*) override;
  Reactor* Shutdown(Context*, const v1::ShutdownRequest*, v1::ShutdownResponse*) override;
  Reactor* LoginAgent(Context*, const v1::LoginAgentRequest*, v1::LoginAgentResponse*) override;
  Reactor* LogoutAgent(Context*, const v1::LogoutAgentRequest*, v1::LogoutAgentResponse*) override;

 private:
  Reactor* Serve(Context* context, UnaryCall::Work work) {
    return UnaryCall::Start(calls_, context, std::move(work));
  }
  awaitable<absl::Status> FillInfo(v1::GetServerInfoResponse* response) const;
  awaitable<absl::Status> WaitDrained(session::CallPtr call, bool resume,
                                      v1::DrainResponse* response) const;
  awaitable<absl::Status> SwitchWireLog(std::string session_id, bool on) const;
  awaitable<absl::Status> Stop(std::optional<Workers> workers) const;

  const Parts parts_;
  const CallContext calls_;
  const session::WallTime started_at_;
  const SteadyTime started_;
};

}  // namespace acpd::server

#endif  // ACPD_SERVER_ADMIN_SERVICE_H_
