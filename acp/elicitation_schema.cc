// Whether the content of an answered form fits its schema.

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "acp/elicitation.h"
#include "acp/json_value.h"
#include "acp/text.h"
#include "acp/text_formats.h"

namespace acpd::acp {
namespace {

// A check says what is wanted of a value that does not fit ("a number"); empty: it fits.
using Wanted = std::string;

absl::Status Unfit(std::string_view name, std::string_view what) {
  std::string sentence = "`" + ShownText(name, 64) + "` ";
  sentence.append(what).append(".");
  return absl::InvalidArgumentError(sentence);
}

size_t CountCharacters(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; }));
}

// The values of a choice: `enum` [value], `oneOf` or `anyOf` [{const, title}].
class Choices {
 public:
  Choices(const JsonObject& schema, std::string_view titled)
      : exist_(schema.Get("enum").IsArray() || schema.Get(titled).IsArray()) {
    for (const JsonValue& item : schema.Get("enum").Items()) Add(item.String());
    for (const JsonValue& item : schema.Get(titled).Items())
      Add(item.Members().Get("const").String());
  }

  bool Take(const std::string& value) const { return !exist_ || values_.count(value) != 0; }
  Wanted List() const {
    constexpr size_t kMaxShown = 200;
    if (order_.empty()) return "left out: the form offers no choice";
    Wanted list = "one of: " + ShownText(order_.front(), 64);
    for (size_t i = 1; i < order_.size(); ++i) {
      if (list.size() > kMaxShown) return list + " ...";
      list.append(", ").append(ShownText(order_[i], 64));
    }
    return list;
  }

 private:
  void Add(std::optional<std::string> value) {
    if (value && values_.insert(*value).second) order_.push_back(std::move(*value));
  }

  bool exist_;
  std::unordered_set<std::string> values_;
  std::vector<std::string> order_;
};

Wanted CheckLength(const JsonObject& schema, size_t size, const char* least, const char* most,
                   const std::string& of) {
  const std::optional<uint64_t> min = schema.Get(least).Uint();
  const std::optional<uint64_t> max = schema.Get(most).Uint();
  if (min && size < *min) return "at least " + std::to_string(*min) + of;
  if (max && size > *max) return "at most " + std::to_string(*max) + of;
  return "";
}

Wanted CheckText(const JsonValue& value, const JsonObject& schema) {
  const std::optional<std::string> text = value.String();
  if (!text) return "a string";
  Wanted wanted =
      CheckLength(schema, CountCharacters(*text), "minLength", "maxLength", " characters");
  if (!wanted.empty()) return wanted;
  if (const Choices choices(schema, "oneOf"); !choices.Take(*text)) return choices.List();
  const std::string format = schema.StringOr("format");
  if (!FitsFormat(*text, format)) return std::string(ShownFormat(format));
  return "";
}

// A pattern takes up to some milliseconds.
constexpr int kMaxCheckedPatterns = 16;

Wanted CheckPattern(const JsonValue& value, const JsonObject& schema, int* left) {
  const std::optional<std::string> pattern = schema.Get("pattern").String();
  const std::optional<std::string> text = value.String();
  if (!pattern || !text || *left == 0 || schema.StringOr("type") != "string") return "";
  --*left;
  return FitsPattern(*text, *pattern) ? "" : "a string that matches " + ShownText(*pattern, 200);
}

Wanted CheckBounds(double number, const JsonObject& schema) {
  const JsonValue min = schema.Get("minimum");
  const JsonValue max = schema.Get("maximum");
  if (min.Double() && number < *min.Double()) return "at least " + std::string(min.raw());
  if (max.Double() && number > *max.Double()) return "at most " + std::string(max.raw());
  return "";
}

Wanted CheckNumber(const JsonValue& value, const JsonObject& schema) {
  const std::optional<double> number = value.Double();
  return number ? CheckBounds(*number, schema) : "a number";
}

// Beyond 2^53 two integers may be one as doubles.
Wanted CheckInteger(const JsonValue& value, const JsonObject& schema) {
  const std::optional<int64_t> number = value.Int();
  if (!number) return "a whole number";
  const JsonValue min = schema.Get("minimum");
  const JsonValue max = schema.Get("maximum");
  if (min.Int() && *number < *min.Int()) return "at least " + std::string(min.raw());
  if (max.Int() && *number > *max.Int()) return "at most " + std::string(max.raw());
  return min.Int() && max.Int() ? "" : CheckBounds(static_cast<double>(*number), schema);
}

Wanted CheckBoolean(const JsonValue& value, const JsonObject&) {
  return value.Bool() ? "" : "true or false";
}

Wanted CheckMultiple(const JsonValue& value, const JsonObject& schema) {
  if (!value.IsArray()) return "an array of strings";
  const std::vector<JsonValue> items = value.Items();
  Wanted wanted = CheckLength(schema, items.size(), "minItems", "maxItems", " items");
  if (!wanted.empty()) return wanted;
  const Choices choices(schema.Get("items").Members(), "anyOf");
  for (const JsonValue& item : items) {
    const std::optional<std::string> text = item.String();
    if (!text) return "an array of strings";
    if (!choices.Take(*text)) return "an array of which each is " + choices.List();
  }
  return "";
}

// For types of a later ACP: what may stand in an answer at all.
Wanted CheckAnything(const JsonValue& value, const JsonObject&) {
  if (value.IsArray()) return CheckMultiple(value, JsonObject());
  const bool plain =
      !value.IsNull() && !value.IsObject() && (value.String() || value.Bool() || value.Double());
  return plain ? "" : "a string, a number, true, false or an array of strings";
}

struct PropertyType {
  std::string_view name;
  Wanted (*check)(const JsonValue& value, const JsonObject& schema);
};

constexpr PropertyType kPropertyTypes[] = {
    {"string", CheckText},     {"number", CheckNumber},  {"integer", CheckInteger},
    {"boolean", CheckBoolean}, {"array", CheckMultiple},
};

Wanted CheckProperty(const JsonValue& value, const JsonObject& schema) {
  const std::string type = schema.StringOr("type");
  for (const PropertyType& known : kPropertyTypes) {
    if (known.name == type) return known.check(value, schema);
  }
  return CheckAnything(value, schema);
}

}  // namespace

absl::Status CheckContent(std::string_view content_json, std::string_view schema_json) {
  const std::optional<JsonValue> parsed = JsonValue::Parse(content_json);
  if (!parsed || !parsed->IsObject()) {
    return absl::InvalidArgumentError("The content has to be a JSON object, in UTF-8.");
  }
  const std::optional<JsonValue> schema = JsonValue::Parse(schema_json);
  const JsonObject form = schema ? schema->Members() : JsonObject();
  const JsonObject properties = form.Get("properties").Members();
  std::unordered_map<std::string_view, JsonValue> by_name;
  for (const auto& [name, property] : properties.all()) by_name[name] = property;

  const JsonObject content = parsed->Members();
  std::unordered_set<std::string_view> given;
  int patterns_left = kMaxCheckedPatterns;
  for (const auto& [name, value] : content.all()) {
    if (!given.insert(name).second) return Unfit(name, "is given twice: give it once");
    const auto property = by_name.find(name);
    if (property == by_name.end()) return Unfit(name, "is not asked for: leave it out");
    const JsonObject wish = property->second.Members();
    Wanted wanted = CheckProperty(value, wish);
    if (wanted.empty()) wanted = CheckPattern(value, wish, &patterns_left);
    if (!wanted.empty()) return Unfit(name, "has to be " + wanted);
  }
  for (const JsonValue& item : form.Get("required").Items()) {
    const std::optional<std::string> name = item.String();
    if (name && given.count(*name) == 0) return Unfit(*name, "is required: give it a value");
  }
  return absl::OkStatus();
}

}  // namespace acpd::acp
