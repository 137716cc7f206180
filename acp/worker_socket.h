#ifndef ACPD_ACP_WORKER_SOCKET_H_
#define ACPD_ACP_WORKER_SOCKET_H_

#include <sys/types.h>

#include <boost/asio/local/stream_protocol.hpp>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "acp/asio.h"

namespace acpd::acp {

// Which process must listen on a worker's socket; 0: any of our user.
struct Listening {
  pid_t pid = 0;
  uint64_t start_ticks = 0;
};

// Connects on `pool`. A connected fd, or minus the errno: EPERM when another process listens there,
// or another user's.
awaitable<int> ConnectToWorker(asio::thread_pool& pool, std::string path, Listening expected);

// Nobody listens on the path (any more, or yet).
bool NobodyListens(int error);

// Makes a connected fd a socket of the loop; takes it over.
absl::StatusOr<asio::local::stream_protocol::socket> TakeSocket(asio::any_io_executor loop, int fd);

}  // namespace acpd::acp

#endif  // ACPD_ACP_WORKER_SOCKET_H_
