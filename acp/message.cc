#include "acp/message.h"

#include <simdjson.h>

#include <algorithm>
#include <bit>

#include "acp/json_grammar.h"
#include "acp/json_value.h"
#include "acp/simdjson_raw.h"
#include "acp/text.h"
#include "acp/top_level_scan.h"
#include "acp/update_reader.h"

namespace acpd::acp {
namespace {

namespace ondemand = simdjson::ondemand;
using Kind = Message::Kind;
using Verdict = JsonGrammar::Verdict;

constexpr size_t kSimdjsonPadding = simdjson::SIMDJSON_PADDING;
constexpr size_t kLeastCapacity = 4096;

// What a message is, by the members it has (its `jsonrpc` is not asked for: agents forget it). A
// `method` makes it a request or a notification, whatever else there is.
Kind Classify(const Message& message, bool method_is_string) {
  const bool has_id = !message.id.empty();
  if (has_id && !IsRpcId(message.id)) return Kind::kInvalid;
  if (method_is_string) {
    if (has_id) return Kind::kRequest;
    const bool update = message.method == "session/update" && !message.update.json.empty();
    return update ? Kind::kUpdate : Kind::kNotification;
  }
  const bool has_result = !message.result.empty();
  // Some send both, one of them null.
  if (!message.error.empty() && (message.error != "null" || !has_result)) return Kind::kError;
  return has_result && has_id ? Kind::kResult : Kind::kInvalid;
}

Message OfKind(Kind kind) {
  Message message;
  message.kind = kind;
  return message;
}

}  // namespace

struct MessageParser::Impl {
  explicit Impl(size_t depth) : max_depth(depth), grammar(depth) {}

  Message Parse(std::string_view line, bool padded);
  Message Read(std::string_view line);
  bool ReadMember(std::string_view name, ondemand::value& value, Message* message);
  Message ScanDeep(std::string_view line);
  std::string_view Padded(std::string_view line);

  size_t max_depth;
  JsonGrammar grammar;
  ondemand::parser slicer;
  ondemand::document document;
  bool method_is_string = false;
  std::string copy;  // of a line without padding, or of a repaired one
  std::string scanned_id;
  std::string scanned_method;
};

Message MessageParser::Impl::Parse(std::string_view line, bool padded) {
  if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  if (!padded) line = Padded(line);
  Verdict verdict = grammar.Check(line);
  if (verdict == Verdict::kNotJson && !IsCleanJsonText(line)) {
    line = Padded(RepairJsonText(line));
    verdict = grammar.Check(line);
  }
  switch (verdict) {
    case Verdict::kNotJson:
      return {};
    case Verdict::kTooDeep:
      return ScanDeep(line);
    case Verdict::kOther:  // an array may be a batch, which ACP does not have
      return OfKind(TrimJsonSpace(line).starts_with('[') ? Kind::kInvalid : Kind::kNotJson);
    case Verdict::kObject:
      break;
  }
  return Read(line);
}

// The padding is written, not only reserved: simdjson reads it.
std::string_view MessageParser::Impl::Padded(std::string_view line) {
  copy.reserve(line.size() + kSimdjsonPadding);
  copy.assign(line);
  copy.append(kSimdjsonPadding, '\0');
  return std::string_view(copy).substr(0, line.size());
}

Message MessageParser::Impl::ScanDeep(std::string_view line) {
  TopLevelScan scan;
  scan.Feed(line);
  scanned_id = scan.Id();
  scanned_method = scan.Method();
  Message message = OfKind(Kind::kInvalid);
  message.too_deep = true;
  message.id = scanned_id;
  message.method = scanned_method;
  return message;
}

Message MessageParser::Impl::Read(std::string_view line) {
  const size_t wanted = std::bit_ceil(std::max(line.size() + 1, kLeastCapacity));
  if (slicer.capacity() < wanted && slicer.allocate(wanted, max_depth + 2)) throw std::bad_alloc();
  Message message;
  method_is_string = false;
  ondemand::object object;
  bool ok =
      !slicer.iterate(line.data(), line.size(), line.size() + kSimdjsonPadding).get(document) &&
      !document.get_object().get(object);
  if (ok) {
    for (auto each : object) {
      ondemand::field field;
      ok = !std::move(each).get(field) && ReadMember(MemberName(field), field.value(), &message);
      if (!ok) break;
    }
  }
  message.kind = ok ? Classify(message, method_is_string) : Kind::kInvalid;
  return message;
}

bool MessageParser::Impl::ReadMember(std::string_view name, ondemand::value& value,
                                     Message* message) {
  if (name == "method") {
    message->method = {};
    method_is_string = !value.get_string().get(message->method);
  } else if (name == "params") {
    return ReadParams(document, value, &message->params, &message->update);
  } else if (name == "id") {
    return RawJson(value, &message->id);
  } else if (name == "result") {
    return RawJson(value, &message->result);
  } else if (name == "error") {
    return RawJson(value, &message->error);
  }
  return true;
}

MessageParser::MessageParser(size_t max_depth) : impl_(std::make_unique<Impl>(max_depth)) {}
MessageParser::~MessageParser() = default;
MessageParser::MessageParser(MessageParser&&) noexcept = default;
MessageParser& MessageParser::operator=(MessageParser&&) noexcept = default;

Message MessageParser::Parse(std::string_view line, bool padded) {
  return impl_->Parse(line, padded);
}

void MessageParser::Shrink() { impl_ = std::make_unique<Impl>(impl_->max_depth); }

}  // namespace acpd::acp
