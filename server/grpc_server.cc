#include "server/grpc_server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <algorithm>
#include <deque>
#include <future>
#include <thread>
#include <utility>

#include "server/active_calls.h"
#include "server/admin_service.h"
#include "server/service.h"

namespace acpd::server {
namespace {

constexpr const char* kHealthNames[] = {"", "acpd.v1.SessionService", "acpd.v1.AdminService"};
// Of a call, in bytes; what gRPC takes by itself is less than a trace context may have.
constexpr int kMaxMetadata = 32 << 10;
constexpr int kKeepaliveTime = 30'000, kKeepaliveTimeout = 10'000;  // ms
// Clients may ping every 5 s; a ping that is a little early is no offence.
constexpr int kLeastPingInterval = 4'000;
// For the last bytes to leave.
constexpr milliseconds kFlushTime(250);
// For the calls that are then cancelled to end.
constexpr milliseconds kEndTime(2'000);

void SetOptions(size_t max_message_in, grpc::ServerBuilder& builder) {
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTime);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeout);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kLeastPingInterval);
  // A port that another process listens on is an error.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMaxMetadata);
  builder.SetMaxReceiveMessageSize(static_cast<int>(std::min<size_t>(max_message_in, INT32_MAX)));
  builder.SetMaxSendMessageSize(-1);
}

// `address` with the port that was bound.
std::string WithPort(const std::string& address, int port) {
  if (address.rfind("unix:", 0) == 0) return address;
  return address.substr(0, address.rfind(':') + 1) + std::to_string(port);
}

}  // namespace

// The services stand before the server that calls them, and go after it.
class GrpcServer::Impl {
 public:
  explicit Impl(const Options& options)
      : service(options.manager, options.log, options.store, *options.config, options.loop,
                &active),
        admin({options.manager, options.store, options.config, options.stop}, options.loop,
              &active) {}

  absl::Status Listen(const Options& options, std::vector<std::string>& addresses) {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    grpc::ServerBuilder builder;
    SetOptions(options.config->limits.max_message_in, builder);
    builder.RegisterService(&service);
    builder.RegisterService(&admin);
    std::deque<int> ports(options.listen.size(), 0);
    for (size_t i = 0; i < options.listen.size(); ++i) {
      builder.AddListeningPort(options.listen[i], grpc::InsecureServerCredentials(), &ports[i]);
    }
    server = builder.BuildAndStart();
    for (size_t i = 0; i < options.listen.size(); ++i) {
      if (ports[i] == 0) return CannotListen(options.listen[i]);
      addresses.push_back(WithPort(options.listen[i], ports[i]));
    }
    return server ? absl::OkStatus() : CannotListen("any address");
  }

  static absl::Status CannotListen(const std::string& address) {
    return absl::FailedPreconditionError("cannot listen on " + address +
                                         ": is it in use, or not an address of this host?");
  }

  void SetServing(bool serving) {
    auto* health = server->GetHealthCheckService();
    for (const char* name : kHealthNames) health->SetServingStatus(name, serving);
  }

  bool Shutdown(milliseconds deadline) {
    if (std::exchange(down, true) || !server) return !stuck;
    SetServing(false);
    active.Drain();
    active.AwaitNone(std::chrono::steady_clock::now() + deadline);
    stuck = !EndServer();
    return !stuck;
  }

  // gRPC waits without end for a call that is never finished: on a thread of its own, so that
  // nobody else does.
  bool EndServer() {
    auto ended = std::make_shared<std::promise<void>>();
    std::thread([server = server.get(), ended] {
      // Cancels what is left when the time is over; health watchers among it.
      server->Shutdown(std::chrono::system_clock::now() + kFlushTime);
      server->Wait();
      ended->set_value();
    }).detach();
    return ended->get_future().wait_for(kEndTime) == std::future_status::ready;
  }

  ActiveCalls active;
  Service service;
  AdminService admin;
  std::unique_ptr<grpc::Server> server;
  bool down = false;
  bool stuck = false;  // a call does not end: the thread that waits for it needs all of this
};

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(Options options) {
  std::unique_ptr<GrpcServer> self(new GrpcServer(std::make_unique<Impl>(options)));
  if (auto status = self->impl_->Listen(options, self->addresses_); !status.ok()) return status;
  self->SetServing(false);
  return self;
}

GrpcServer::GrpcServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

GrpcServer::~GrpcServer() {
  if (!impl_->Shutdown(milliseconds(0))) (void)impl_.release();
}

void GrpcServer::SetServing(bool serving) { impl_->SetServing(serving); }

bool GrpcServer::Shutdown(milliseconds deadline) { return impl_->Shutdown(deadline); }

}  // namespace acpd::server
