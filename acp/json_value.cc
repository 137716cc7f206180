#include "acp/json_value.h"

#include <simdjson.h>

#include <charconv>
#include <cmath>

#include "acp/json_grammar.h"
#include "acp/simdjson_raw.h"

namespace acpd::acp {
namespace {

namespace ondemand = simdjson::ondemand;

// One text under simdjson, which wants a padded copy. What it finds is given back as a part of the
// text itself.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text), copy_(text) {
    failed_ = parser_.iterate(copy_).get(document_) != simdjson::SUCCESS;
  }
  bool failed() const { return failed_; }
  ondemand::document& document() { return document_; }
  std::string_view InText(std::string_view in_copy) const {
    return text_.substr(static_cast<size_t>(in_copy.data() - copy_.data()), in_copy.size());
  }

 private:
  std::string_view text_;
  simdjson::padded_string copy_;
  ondemand::parser parser_;
  ondemand::document document_;
  bool failed_ = false;
};

template <typename Number>
std::optional<Number> WholeNumber(std::string_view raw) {
  Number number{};
  const char* end = raw.data() + raw.size();
  const auto [ptr, error] = std::from_chars(raw.data(), end, number);
  if (raw.empty() || error != std::errc() || ptr != end) return std::nullopt;
  return number;
}

// `3.0` and `1e3`: whole numbers to everybody but from_chars.
std::optional<double> WholeDouble(std::string_view raw) {
  const std::optional<double> number = WholeNumber<double>(raw);
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (!number || std::trunc(*number) != *number || std::abs(*number) > kExact) return std::nullopt;
  return number;
}

}  // namespace

std::optional<JsonValue> JsonValue::Parse(std::string_view text) {
  const simdjson::padded_string copy(text);
  const JsonGrammar::Verdict verdict = JsonGrammar(kMaxDepth).Check(copy);
  if (verdict != JsonGrammar::Verdict::kObject && verdict != JsonGrammar::Verdict::kOther) {
    return std::nullopt;
  }
  return JsonValue(TrimJsonSpace(text));
}

std::optional<std::string> JsonValue::String() const {
  if (!raw_.starts_with('"')) return std::nullopt;
  Cursor cursor(raw_);
  std::string_view text;
  if (cursor.failed() || cursor.document().get_string().get(text)) return std::nullopt;
  return std::string(text);
}

std::optional<bool> JsonValue::Bool() const {
  if (raw_ == "true") return true;
  if (raw_ == "false") return false;
  return std::nullopt;
}

std::optional<int64_t> JsonValue::Int() const {
  if (const std::optional<int64_t> number = WholeNumber<int64_t>(raw_)) return number;
  const std::optional<double> number = WholeDouble(raw_);
  return number ? std::optional<int64_t>(static_cast<int64_t>(*number)) : std::nullopt;
}

std::optional<uint64_t> JsonValue::Uint() const {
  if (const std::optional<uint64_t> number = WholeNumber<uint64_t>(raw_)) return number;
  const std::optional<double> number = WholeDouble(raw_);
  if (!number || *number < 0) return std::nullopt;
  return static_cast<uint64_t>(*number);
}

std::optional<double> JsonValue::Double() const { return WholeNumber<double>(raw_); }

JsonObject JsonValue::Members() const {
  JsonObject result;
  if (!IsObject()) return result;
  Cursor cursor(raw_);
  ondemand::object object;
  if (cursor.failed() || cursor.document().get_object().get(object)) return result;
  for (auto field : object) {
    std::string_view name;
    ondemand::value value;
    std::string_view raw;
    if (field.unescaped_key().get(name) || field.value().get(value)) break;
    std::string owned(name);
    if (!RawJson(value, &raw)) break;
    result.members_.emplace_back(std::move(owned), JsonValue(cursor.InText(raw)));
  }
  return result;
}

std::vector<JsonValue> JsonValue::Items() const {
  std::vector<JsonValue> items;
  if (!IsArray()) return items;
  Cursor cursor(raw_);
  ondemand::array array;
  if (cursor.failed() || cursor.document().get_array().get(array)) return items;
  for (auto item : array) {
    ondemand::value value;
    std::string_view raw;
    if (item.get(value) || !RawJson(value, &raw)) break;
    items.push_back(JsonValue(cursor.InText(raw)));
  }
  return items;
}

JsonValue JsonObject::Get(std::string_view name) const {
  for (auto member = members_.rbegin(); member != members_.rend(); ++member) {
    if (member->first == name) return member->second;
  }
  return {};
}

bool IsRpcId(std::string_view token) {
  if (token.empty()) return false;
  const char c = token.front();
  return c == '"' || c == '-' || (c >= '0' && c <= '9') || token == "null";
}

}  // namespace acpd::acp
