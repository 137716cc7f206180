#include "acp/field_reader.h"

namespace acpd::acp {
namespace {

bool IsAbsent(const JsonValue& value) { return value.raw().empty() || value.IsNull(); }

}  // namespace

FieldReader::FieldReader(std::string_view json, std::string_view what) : what_(what) {
  const std::optional<JsonValue> value = JsonValue::Parse(json);
  if (value && value->IsObject()) {
    object_ = value->Members();
  } else {
    status_ = absl::InvalidArgumentError("The agent's " + what_ + " is not an object.");
  }
}

std::string FieldReader::String(std::string_view name) {
  std::optional<std::string> text = Get(name).String();
  if (!text) Refuse(name, "a string");
  return text ? std::move(*text) : std::string();
}

JsonValue FieldReader::Object(std::string_view name) {
  const JsonValue value = Get(name);
  if (!value.IsObject()) Refuse(name, "an object");
  return value;
}

JsonValue FieldReader::Array(std::string_view name) {
  const JsonValue value = Get(name);
  if (!value.IsArray()) Refuse(name, "an array");
  return value;
}

std::string FieldReader::StringOrNull(std::string_view name) {
  return IsAbsent(Get(name)) ? std::string() : String(name);
}

std::optional<uint64_t> FieldReader::CountOrNull(std::string_view name) {
  const JsonValue value = Get(name);
  if (IsAbsent(value)) return std::nullopt;
  const std::optional<uint64_t> count = value.Uint();
  if (!count) Refuse(name, "a whole number, zero or more,");
  return count;
}

void FieldReader::Refuse(std::string_view name, std::string_view wanted) {
  if (!status_.ok()) return;
  std::string sentence = "The agent's " + what_ + " has no readable `";
  sentence.append(name).append("` (").append(wanted).append(" is expected).");
  status_ = absl::InvalidArgumentError(sentence);
}

JsonObject AnyObject(std::string_view json) {
  const std::optional<JsonValue> value = JsonValue::Parse(json);
  return value ? value->Members() : JsonObject();
}

}  // namespace acpd::acp
