#include "server/trace.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace acpd::server {
namespace {

using CallMetadata = std::multimap<grpc::string_ref, grpc::string_ref>;

constexpr size_t kMaxTracestate = 512;
constexpr size_t kMaxBaggage = 8192;
constexpr std::string_view kForm = "00-00000000000000000000000000000000-0000000000000000-00";

// Lists that came in several entries are one (RFC 9110, 5.3).
std::string JoinedValues(const CallMetadata& metadata, const char* key) {
  std::string value;
  const auto [begin, end] = metadata.equal_range(key);
  for (auto entry = begin; entry != end; ++entry) {
    if (entry != begin) value.push_back(',');
    value.append(entry->second.data(), entry->second.size());
  }
  return value;
}

// Two, 32, 16 and two lower-case hex digits, and dashes between them.
bool IsTraceparent(std::string_view text) {
  const auto fits = [](char form, char c) {
    if (form == '-') return c == '-';
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  };
  return std::equal(kForm.begin(), kForm.end(), text.begin(), text.end(), fits);
}

std::string WhereFitting(std::string text, size_t max) {
  const auto printable = [](char c) { return c >= ' ' && c <= '~'; };
  const bool fits = text.size() <= max && std::all_of(text.begin(), text.end(), printable);
  return fits ? text : "";
}

}  // namespace

acp::TraceContext TraceFrom(const CallMetadata& metadata) {
  acp::TraceContext trace;
  trace.baggage = WhereFitting(JoinedValues(metadata, "baggage"), kMaxBaggage);
  std::string parent = JoinedValues(metadata, "traceparent");
  if (!IsTraceparent(parent)) return trace;
  trace.traceparent = std::move(parent);
  trace.tracestate = WhereFitting(JoinedValues(metadata, "tracestate"), kMaxTracestate);
  return trace;
}

acp::TraceContext TraceFrom(const grpc::CallbackServerContext& context) {
  return TraceFrom(context.client_metadata());
}

}  // namespace acpd::server
