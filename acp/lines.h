#ifndef ACPD_ACP_LINES_H_
#define ACPD_ACP_LINES_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "acp/content.h"

// How the lines that we send are put together: for the sources of acp/ alone. No threads.
namespace acpd::acp {

// Members are sent in the order in which they were set.
using LineJson = nlohmann::ordered_json;

// One line, without its newline. Bytes that are no UTF-8 become U+FFFD.
std::string LineOf(const LineJson& message);
std::string RequestLine(uint64_t id, std::string_view method, LineJson params);
std::string NotificationLine(std::string_view method, LineJson params);
// `request_id` is the raw JSON token that the agent sent.
std::string ResultLine(std::string_view request_id, const LineJson& result);
std::string ErrorObjectLine(std::string_view request_id, const LineJson& error);

// `meta` as `_meta`, unless it is empty.
void SetMeta(LineJson meta, LineJson& params);
// The root keys of `_meta` that W3C's trace context has.
void AddTrace(const TraceContext& trace, LineJson& meta);
// Both for messages whose `_meta` has nothing else.
LineJson Traced(LineJson params, const TraceContext& trace);

// [{"name": ..., "value": ...}, ...]
LineJson NamesAndValues(const std::vector<std::pair<std::string, std::string>>& pairs);

}  // namespace acpd::acp

#endif  // ACPD_ACP_LINES_H_
