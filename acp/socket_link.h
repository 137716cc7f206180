#ifndef ACPD_ACP_SOCKET_LINK_H_
#define ACPD_ACP_SOCKET_LINK_H_

#include <boost/asio/local/stream_protocol.hpp>
#include <memory>

#include "acp/worker_link.h"

namespace acpd::acp {

// The link over a socket that is connected to a worker. Runs on the socket's executor, which is the
// loop.
std::unique_ptr<WorkerLink> MakeWorkerLink(asio::local::stream_protocol::socket socket);

}  // namespace acpd::acp

#endif  // ACPD_ACP_SOCKET_LINK_H_
