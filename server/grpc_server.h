#ifndef ACPD_SERVER_GRPC_SERVER_H_
#define ACPD_SERVER_GRPC_SERVER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "acp/asio.h"
#include "server/daemon_config.h"
#include "session/event_log.h"
#include "session/session_manager.h"
#include "session/store.h"

namespace acpd::server {

// The listening gRPC server: both services with health, reflection and keepalive. It owns
// sockets, callback threads and all calls; what a call does is the manager's business. Thread-safe,
// but Shutdown and the destructor block and so never run on the loop, which has to run until they
// are through. Owned by main, and gone before the manager, the log and the loop.
class GrpcServer {
 public:
  struct Options {
    std::vector<std::string>
        listen;  // `host:port`, `[v6]:port` or `unix:/path`; port 0: the system chooses
    session::SessionManager* manager = nullptr;
    session::EventLog* log = nullptr;
    session::Store* store = nullptr;
    asio::any_io_executor loop;
    const DaemonConfig* config = nullptr;
    std::function<bool(std::optional<Workers>)> stop;  // AdminService::Parts
  };

  // Listens on every address or fails, naming the address that could not be had.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(Options options);
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  // What it really listens on, in the order of Options::listen, with real ports.
  const std::vector<std::string>& addresses() const { return addresses_; }

  // What the health service says for "" and the two services. It starts as not serving.
  void SetServing(bool serving);

  // Ends the server within `deadline`: reports NOT_SERVING, refuses new calls and ends streams with
  // UNAVAILABLE / SHUTTING_DOWN and their position, waits for the calls under way (the manager ends
  // those that wait), then cancels what is left. False: a call did not end even then, and goes on
  // with what it uses until the process ends.
  bool Shutdown(milliseconds deadline);

 private:
  class Impl;
  explicit GrpcServer(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
  std::vector<std::string> addresses_;
};

}  // namespace acpd::server

#endif  // ACPD_SERVER_GRPC_SERVER_H_
