#ifndef ACPD_SERVER_STORED_REQUEST_H_
#define ACPD_SERVER_STORED_REQUEST_H_

#include <string>
#include <string_view>

#include "acp/content.h"
#include "acpd/v1/session_service.pb.h"
#include "session/types.h"

// A ChatRequest as it is kept with its turn. Pure functions.
namespace acpd::server {

// Without wait_for and api_key (and, without `mcp_secrets`, without meta_json and the values of MCP
// env and headers), but with marks that they were there, and with the trace context.
std::string EncodeRequest(const v1::ChatRequest& request, const acp::TraceContext& trace = {},
                          bool mcp_secrets = true);
// False when the bytes cannot be read.
bool ReadRequest(std::string_view stored_bytes, session::ChatRequest* request);

// HMAC under `key` over the canonical form of every field but request_id, wait_for and api_key.
std::string ContentHash(const v1::ChatRequest& request, std::string_view key);

}  // namespace acpd::server

#endif  // ACPD_SERVER_STORED_REQUEST_H_
