#include "cli/form_fields.h"

#include <algorithm>
#include <utility>

#include "cli/form_values.h"

namespace acpd::cli {
namespace {

// Of an object; null: it is not there.
const FormJson& MemberOf(const FormJson& object, const char* name) {
  static const FormJson kNull;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found == object.end() ? kNull : *found;
}

// Of an array; none where it is something else.
FormJson::array_t ItemsOf(const FormJson& object, const char* name) {
  const FormJson& member = MemberOf(object, name);
  return member.is_array() ? member.get<FormJson::array_t>() : FormJson::array_t();
}

std::string TextOf(const FormJson& object, const char* name) {
  const FormJson& member = MemberOf(object, name);
  return member.is_string() ? member.get<std::string>() : "";
}

std::optional<double> NumberOf(const FormJson& object, const char* name) {
  const FormJson& member = MemberOf(object, name);
  return member.is_number() ? std::optional(member.get<double>()) : std::nullopt;
}

// `enum`, or `oneOf` / `anyOf` with a `const` each.
std::vector<FormChoice> ChoicesOf(const FormJson& schema) {
  std::vector<FormChoice> choices;
  for (const FormJson& value : ItemsOf(schema, "enum")) {
    if (value.is_string()) choices.push_back({value.get<std::string>(), "", ""});
  }
  for (const char* name : {"oneOf", "anyOf"}) {
    for (const FormJson& choice : ItemsOf(schema, name)) {
      if (!MemberOf(choice, "const").is_string()) continue;
      choices.push_back(
          {TextOf(choice, "const"), TextOf(choice, "title"), TextOf(choice, "description")});
    }
  }
  return choices;
}

struct LimitRow {
  const char* type;
  const char* min;
  const char* max;
};
constexpr LimitRow kLimits[] = {{"string", "minLength", "maxLength"},
                                {"number", "minimum", "maximum"},
                                {"integer", "minimum", "maximum"},
                                {"array", "minItems", "maxItems"}};

void ReadLimits(const FormJson& schema, FormField& field) {
  for (const LimitRow& row : kLimits) {
    if (field.type != row.type) continue;
    field.min = NumberOf(schema, row.min);
    field.max = NumberOf(schema, row.max);
  }
}

// A default that does not fit would only be refused.
void ReadFallback(const FormJson& schema, FormField& field) {
  const FormJson& given = MemberOf(schema, "default");
  if (!given.is_null() && CheckFormValue(field, given).empty()) field.fallback = given;
  // To tick nothing is an answer, too.
  const bool may_be_empty = field.IsArray() && field.required && field.min.value_or(0) < 1;
  if (!field.fallback && may_be_empty) field.fallback = FormJson::array();
}

FormField ReadField(const std::string& name, const FormJson& schema, bool required) {
  FormField field;
  field.name = name;
  field.title = TextOf(schema, "title");
  field.description = TextOf(schema, "description");
  field.type = TextOf(schema, "type");
  field.required = required;
  field.format = TextOf(schema, "format");
  field.choices = ChoicesOf(field.IsArray() ? MemberOf(schema, "items") : schema);
  ReadLimits(schema, field);
  ReadFallback(schema, field);
  return field;
}

}  // namespace

FormSchema ReadFormSchema(const std::string& schema_json) {
  const FormJson json = FormJson::parse(schema_json, nullptr, false);
  FormSchema schema{TextOf(json, "title"), TextOf(json, "description"), {}};
  const FormJson::array_t required = ItemsOf(json, "required");
  const FormJson& properties = MemberOf(json, "properties");
  if (!properties.is_object()) return schema;
  for (const auto& [name, property] : properties.items()) {
    const bool must = std::find(required.begin(), required.end(), FormJson(name)) != required.end();
    schema.fields.push_back(ReadField(name, property, must));
  }
  return schema;
}

}  // namespace acpd::cli
