#include "acp/top_level_scan.h"

#include <algorithm>

#include "acp/byte_codec.h"
#include "acp/json_value.h"
#include "acp/text.h"

namespace acpd::acp {
namespace {

constexpr size_t kMaxToken = 1024;

}  // namespace

void TopLevelScan::Feed(std::string_view bytes) {
  while (!bytes.empty() && !no_object_) {
    bytes.remove_prefix(in_string_ ? FeedString(bytes) : FeedOutside(bytes.front()));
  }
}

size_t TopLevelScan::FeedString(std::string_view bytes) {
  if (escaped_) {
    escaped_ = false;
    Keep(bytes.substr(0, 1));
    return 1;
  }
  const auto end =
      std::find_if(bytes.begin(), bytes.end(), [](char c) { return c == '"' || c == '\\'; });
  if (end == bytes.end()) {
    Keep(bytes);
    return bytes.size();
  }
  escaped_ = *end == '\\';
  in_string_ = escaped_;
  const auto size = static_cast<size_t>(end - bytes.begin()) + 1;
  Keep(bytes.substr(0, size));
  return size;
}

size_t TopLevelScan::FeedOutside(char c) {
  switch (c) {
    case ' ':
    case '\t':
    case '\r':
    case '\n':
      break;
    case '{':
      Open();
      break;
    case '[':
      no_object_ = depth_ == 0;
      Open();
      break;
    case '}':
    case ']':
      Close();
      break;
    case ',':
      if (depth_ == 1) EndMember();
      break;
    case ':':
      if (depth_ == 1) {
        key_ = too_long_ ? std::string() : token_;
        token_.clear();
        too_long_ = false;
      }
      break;
    default:
      no_object_ = depth_ == 0 && kByteOrderMark.find(c) == std::string_view::npos;
      in_string_ = c == '"' && !no_object_;
      Keep(std::string_view(&c, 1));
  }
  return 1;
}

void TopLevelScan::Open() {
  if (depth_ == 1) Keep("{");  // an object or array is no id and no method: its token is none
  ++depth_;
}

void TopLevelScan::Close() {
  if (depth_ == 1) EndMember();
  if (depth_ > 0) --depth_;
}

void TopLevelScan::EndMember() {
  const std::string value = too_long_ ? std::string() : token_;
  if (key_ == R"("id")") id_ = value;
  if (key_ == R"("method")") method_ = value;
  key_.clear();
  token_.clear();
  too_long_ = false;
}

void TopLevelScan::Keep(std::string_view bytes) {
  if (depth_ != 1 || too_long_) return;
  too_long_ = token_.size() + bytes.size() > kMaxToken;
  if (!too_long_) token_.append(bytes);
}

std::string TopLevelScan::Save() const {
  ByteWriter out;
  out.Number(depth_);
  for (const bool flag : {in_string_, escaped_, no_object_, too_long_}) {
    out.Number(static_cast<uint8_t>(flag));
  }
  out.Text(key_).Text(token_).Text(id_).Text(method_);
  return std::move(out).Bytes();
}

std::optional<TopLevelScan> TopLevelScan::Restore(std::string_view saved) {
  ByteReader in(saved);
  TopLevelScan scan;
  scan.depth_ = in.Number<uint64_t>();
  for (bool* flag : {&scan.in_string_, &scan.escaped_, &scan.no_object_, &scan.too_long_}) {
    *flag = in.Bool();
  }
  for (std::string* text : {&scan.key_, &scan.token_, &scan.id_, &scan.method_}) {
    *text = in.Text();
    if (text->size() > kMaxToken) return std::nullopt;
  }
  if (!in.Finished()) return std::nullopt;
  return scan;
}

TopLevelScan TopLevelScan::Blind() {
  TopLevelScan scan;
  scan.no_object_ = true;
  return scan;
}

std::string TopLevelScan::Id() const {
  std::string token = RepairJsonText(id_);
  const std::optional<JsonValue> value = JsonValue::Parse(token);
  return value && IsRpcId(value->raw()) ? token : std::string();
}

std::string TopLevelScan::Method() const {
  const std::string token = RepairJsonText(method_);
  const std::optional<JsonValue> value = JsonValue::Parse(token);
  return value ? value->String().value_or("") : std::string();
}

}  // namespace acpd::acp
