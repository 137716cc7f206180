#ifndef ACPD_SERVER_CHAT_REQUEST_H_
#define ACPD_SERVER_CHAT_REQUEST_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "acp/content.h"
#include "acpd/v1/session_service.pb.h"
#include "session/types.h"

// What makes turns, as the domain's ChatRequest: Chat, CreateSession and ForkSession. Checked as
// far as that goes without knowing any state. Errors are those of session/errors.h. Pure functions.
namespace acpd::server {

// What these requests are read with.
struct RequestRules {
  std::string hash_key;         // keys the content hash
  size_t max_line = 32u << 20;  // of the prompt's line to the agent
  bool store_mcp_secrets = true;
};

absl::StatusOr<session::ChatRequest> ChatFrom(const v1::ChatRequest& request,
                                              const RequestRules& rules,
                                              const acp::TraceContext& trace = {});
absl::StatusOr<session::ChatRequest> SetupFrom(const v1::CreateSessionRequest& request,
                                               const RequestRules& rules,
                                               const acp::TraceContext& trace = {});
// Its `session_id` is the session to copy, which its content hash covers; the project is not known
// here.
absl::StatusOr<session::ChatRequest> ForkFrom(const v1::ForkSessionRequest& request,
                                              const RequestRules& rules,
                                              const acp::TraceContext& trace = {});

// The fields alone, for requests that were checked before they were stored.
session::ChatRequest FieldsFrom(const v1::ChatRequest& request);

}  // namespace acpd::server

#endif  // ACPD_SERVER_CHAT_REQUEST_H_
