#ifndef ACPD_SERVER_DAEMON_H_
#define ACPD_SERVER_DAEMON_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "acp/launcher.h"
#include "server/codec.h"
#include "server/daemon_config.h"
#include "server/grpc_server.h"
#include "server/log.h"
#include "server/loop_thread.h"
#include "server/stop_signals.h"
#include "server/store_watch.h"
#include "session/event_log.h"
#include "session/session_manager.h"

namespace acpd::server {

// All parts of the running daemon, in the order in which they are made, and how they start and
// stop. Main thread only. Never destroyed: coroutines of the loop still hold on to the manager when
// it has stopped, and nothing in memory has to be saved; the process ends by _exit.
class Daemon {
 public:
  // `address_file` gets the addresses once it is ready; empty: none.
  Daemon(DaemonConfig config, std::string address_file);
  ~Daemon() = delete;

  // Returns when it serves, or an error whose message is one sentence.
  absl::Status Start();
  // Blocks until the first SIGTERM or SIGINT, or until a caller wants it stopped. Another signal, a
  // second or more after the first, ends the process at once.
  StopRequest WaitForStop() { return signals_.Wait(); }
  // Ends what runs, or lets go of it, step by step, each step with a deadline of its own.
  void Stop(StopRequest request);
  // Gives back what a Start that failed had.
  void Abandon();

  Log& log() { return log_; }

 private:
  absl::Status MakeFolders();
  absl::Status OpenStore();
  void MakeManager();
  void WatchStore();
  absl::Status StartServer();
  absl::Status WriteAddressFile();
  void LogServing();
  void CheckStep(bool in_time, const char* step);
  std::function<void(const std::string&)> OnError(std::string what);

  const DaemonConfig config_;
  const std::string address_file_;
  const std::string worker_program_;
  Log log_;
  StopSignals signals_;
  LoopThread loop_;
  asio::thread_pool pool_{4};
  session::OpenedStore store_;
  std::unique_ptr<StoreWatch> store_watch_;
  std::unique_ptr<acp::Launcher> launcher_;
  Codec codec_;
  std::unique_ptr<session::SessionManager> manager_;
  std::unique_ptr<GrpcServer> server_;
};

}  // namespace acpd::server

#endif  // ACPD_SERVER_DAEMON_H_
