#ifndef ACPD_ACP_SPOOL_LINK_H_
#define ACPD_ACP_SPOOL_LINK_H_

#include <memory>
#include <string>

#include "acp/worker_link.h"

namespace acpd::acp {

// Where the worker that listens on a socket leaves what nobody came for (acp/worker/spool.h).
std::string SpoolPath(const std::string& socket_path);

// A link to a worker that is gone and has left its spool: gives what it would have sent, from the
// offset of SendAttach on, in pieces that are read on `pool`. Lines, acknowledgements and STOP come
// too late and are ignored; SendAckExit removes the spool and the socket file. UNAVAILABLE: there
// is no spool (`its worker is gone`), or it is not a file of our own. Read gives UNAVAILABLE for
// one that is torn, malformed or another worker's. Loop thread only.
awaitable<absl::StatusOr<std::unique_ptr<WorkerLink>>> OpenSpoolLink(asio::any_io_executor loop,
                                                                     asio::thread_pool& pool,
                                                                     std::string socket_path,
                                                                     std::string worker_id);

}  // namespace acpd::acp

#endif  // ACPD_ACP_SPOOL_LINK_H_
