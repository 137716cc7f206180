#ifndef ACPD_SERVER_TRACE_H_
#define ACPD_SERVER_TRACE_H_

#include <grpcpp/support/server_callback.h>
#include <grpcpp/support/string_ref.h>

#include <map>

#include "acp/content.h"

namespace acpd::server {

// The trace context of a call's metadata (https://www.w3.org/TR/trace-context,
// https://www.w3.org/TR/baggage): what is malformed or too long is left out, and tracestate with a
// traceparent that is. Thread-safe.
acp::TraceContext TraceFrom(const std::multimap<grpc::string_ref, grpc::string_ref>& metadata);
acp::TraceContext TraceFrom(const grpc::CallbackServerContext& context);

}  // namespace acpd::server

#endif  // ACPD_SERVER_TRACE_H_
