#ifndef ACPD_ACP_ELICITATION_H_
#define ACPD_ACP_ELICITATION_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// What an agent asks of a person beside permissions
// (https://agentclientprotocol.com/protocol/elicitation). No threads.
namespace acpd::acp {

struct Elicitation {
  bool url_mode = false;
  std::string session_id;    // empty: its scope is a request of ours (a login, say)
  std::string request_id;    // raw JSON token of that request; empty: none
  std::string tool_call_id;  // may be empty
  std::string message;
  std::string schema_json;          // of a form: requestedSchema, verbatim
  std::string elicitation_id, url;  // of url mode
};
// The params of elicitation/create. INVALID_ARGUMENT with a sentence that names the field.
absl::StatusOr<Elicitation> ReadElicitation(std::string_view params_json);
// The params of elicitation/complete; empty: it cannot be read.
std::string ReadElicitationId(std::string_view params_json);

// Whether `content_json` is an object that fits `schema_json` (the subset that ACP allows: an
// object of strings with format, pattern, length and enum; numbers and integers with bounds;
// booleans; multiple choices). INVALID_ARGUMENT with a sentence that names the member and what is
// wanted.
absl::Status CheckContent(std::string_view content_json, std::string_view schema_json);

// Answers; `request_id` is the raw JSON token that the agent sent. Empty `content_json`: none.
std::string ElicitationAcceptLine(std::string_view request_id, std::string_view content_json);
std::string ElicitationDeclineLine(std::string_view request_id);
std::string ElicitationCancelLine(std::string_view request_id);

}  // namespace acpd::acp

#endif  // ACPD_ACP_ELICITATION_H_
