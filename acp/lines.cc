#include "acp/lines.h"

namespace acpd::acp {
namespace {

// `request_id` goes back as it came: parsing it would turn a number beyond 2^53 into another one.
std::string AnswerLine(std::string_view request_id, std::string_view member,
                       const LineJson& value) {
  std::string line = R"({"jsonrpc":"2.0","id":)";
  line += request_id.empty() ? "null" : request_id;
  line += ",\"";
  line += member;
  line += "\":";
  line += LineOf(value);
  line += '}';
  return line;
}

}  // namespace

// dump() writes no newline and escapes those in strings.
std::string LineOf(const LineJson& message) {
  return message.dump(-1, ' ', false, LineJson::error_handler_t::replace);
}

std::string RequestLine(uint64_t id, std::string_view method, LineJson params) {
  return LineOf(
      {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}});
}

std::string NotificationLine(std::string_view method, LineJson params) {
  return LineOf({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
}

std::string ResultLine(std::string_view request_id, const LineJson& result) {
  return AnswerLine(request_id, "result", result);
}

std::string ErrorObjectLine(std::string_view request_id, const LineJson& error) {
  return AnswerLine(request_id, "error", error);
}

void SetMeta(LineJson meta, LineJson& params) {
  if (!meta.empty()) params["_meta"] = std::move(meta);
}

void AddTrace(const TraceContext& trace, LineJson& meta) {
  if (!trace.traceparent.empty()) meta["traceparent"] = trace.traceparent;
  if (!trace.tracestate.empty()) meta["tracestate"] = trace.tracestate;
  if (!trace.baggage.empty()) meta["baggage"] = trace.baggage;
}

LineJson Traced(LineJson params, const TraceContext& trace) {
  LineJson meta = LineJson::object();
  AddTrace(trace, meta);
  SetMeta(std::move(meta), params);
  return params;
}

LineJson NamesAndValues(const std::vector<std::pair<std::string, std::string>>& pairs) {
  LineJson list = LineJson::array();
  for (const auto& [name, value] : pairs) list.push_back({{"name", name}, {"value", value}});
  return list;
}

}  // namespace acpd::acp
