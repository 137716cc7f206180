// The lines of types.h that we send.

#include "acp/lines.h"
#include "acp/types.h"

namespace acpd::acp {

std::string AuthenticateLine(uint64_t id, std::string_view method_id, const TraceContext& trace) {
  return RequestLine(id, "authenticate", Traced({{"methodId", method_id}}, trace));
}

std::string CloseSessionLine(uint64_t id, std::string_view session_id, const TraceContext& trace) {
  return RequestLine(id, "session/close", Traced({{"sessionId", session_id}}, trace));
}

std::string DeleteSessionLine(uint64_t id, std::string_view session_id, const TraceContext& trace) {
  return RequestLine(id, "session/delete", Traced({{"sessionId", session_id}}, trace));
}

std::string CancelLine(std::string_view session_id, const TraceContext& trace) {
  return NotificationLine("session/cancel", Traced({{"sessionId", session_id}}, trace));
}

std::string PermissionSelectedLine(std::string_view request_id, std::string_view option_id) {
  return ResultLine(request_id, {{"outcome", {{"outcome", "selected"}, {"optionId", option_id}}}});
}

std::string PermissionCancelledLine(std::string_view request_id) {
  return ResultLine(request_id, {{"outcome", {{"outcome", "cancelled"}}}});
}

std::string ErrorLine(std::string_view request_id, int64_t code, std::string_view message) {
  return ErrorObjectLine(request_id, {{"code", code}, {"message", message}});
}

}  // namespace acpd::acp
