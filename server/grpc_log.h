#ifndef ACPD_SERVER_GRPC_LOG_H_
#define ACPD_SERVER_GRPC_LOG_H_

#include "server/log.h"

namespace acpd::server {

// What the gRPC library logs becomes lines of `log` instead of lines of its own shape on stderr.
// Call it before the first use of gRPC; `log` has to live to the end of the process.
void RouteGrpcLog(Log* log);

}  // namespace acpd::server

#endif  // ACPD_SERVER_GRPC_LOG_H_
