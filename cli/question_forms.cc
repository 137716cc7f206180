#include "cli/question_forms.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace acpd::cli {
namespace {

using google::protobuf::ListValue;
using google::protobuf::Struct;
using google::protobuf::Value;

const Value* Find(const Struct& object, const std::string& name) {
  const auto found = object.fields().find(name);
  return found == object.fields().end() ? nullptr : &found->second;
}

std::string TextOf(const Struct& object, const std::string& name) {
  const Value* value = Find(object, name);
  return value == nullptr ? "" : value->string_value();
}

// `enum`, or `oneOf` / `anyOf` with a `const` each.
std::vector<std::string> ChoicesOf(const Struct& schema) {
  std::vector<std::string> choices;
  if (const Value* values = Find(schema, "enum")) {
    for (const Value& value : values->list_value().values())
      choices.push_back(value.string_value());
  }
  for (const char* name : {"oneOf", "anyOf"}) {
    const Value* values = Find(schema, name);
    if (values == nullptr) continue;
    for (const Value& value : values->list_value().values())
      choices.push_back(TextOf(value.struct_value(), "const"));
  }
  return choices;
}

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string Show(const Value& value) {
  std::string json;
  if (value.kind_case() == Value::kStringValue) return value.string_value();
  return google::protobuf::util::MessageToJsonString(value, &json).ok() ? json : "";
}

std::string Trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

bool IsOneOf(const std::vector<std::string>& choices, const std::string& word) {
  return choices.empty() || std::find(choices.begin(), choices.end(), word) != choices.end();
}

std::string ReadNumber(const std::string& text, bool whole, Value* value) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (*end != '\0' || !std::isfinite(number)) return "please type a number";
  if (whole && number != std::floor(number)) return "please type a whole number";
  value->set_number_value(number);
  return "";
}

std::string ReadBool(const std::string& text, Value* value) {
  const bool yes = text == "y" || text == "yes" || text == "true";
  if (!yes && text != "n" && text != "no" && text != "false") return "please type yes or no";
  value->set_bool_value(yes);
  return "";
}

std::string ReadSeveral(const std::string& text, const std::vector<std::string>& choices,
                        Value* value) {
  ListValue* list = value->mutable_list_value();
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string word = Trimmed(text.substr(at, end - at));
    at = end + 1;
    if (word.empty()) continue;
    if (!IsOneOf(choices, word)) return "\"" + word + "\" is none of " + Join(choices);
    list->add_values()->set_string_value(word);
  }
  return "";
}

}  // namespace

QuestionForm::Field QuestionForm::ReadField(const std::string& name, const Struct& schema) {
  Field field;
  field.name = name;
  field.title = TextOf(schema, "title");
  field.description = TextOf(schema, "description");
  field.type = TextOf(schema, "type");
  const Value* items = Find(schema, "items");
  field.choices = ChoicesOf(items == nullptr ? schema : items->struct_value());
  if (const Value* fallback = Find(schema, "default")) field.fallback = *fallback;
  return field;
}

QuestionForm::QuestionForm(const std::string& schema_json) {
  Struct schema;
  if (!google::protobuf::util::JsonStringToMessage(schema_json, &schema).ok()) return;
  std::vector<std::string> required;
  if (const Value* names = Find(schema, "required")) {
    for (const Value& value : names->list_value().values())
      required.push_back(value.string_value());
  }
  const Value* properties = Find(schema, "properties");
  if (properties == nullptr) return;
  for (const auto& [name, property] : properties->struct_value().fields()) {
    Field field = ReadField(name, property.struct_value());
    field.required = std::find(required.begin(), required.end(), name) != required.end();
    fields_.push_back(std::move(field));
  }
  // A map has no order of its own; what is required comes first.
  std::sort(fields_.begin(), fields_.end(), [](const Field& a, const Field& b) {
    return a.required != b.required ? a.required : a.name < b.name;
  });
}

std::string QuestionForm::Prompt() const {
  const Field& field = fields_[next_];
  std::string text = "  " + (field.title.empty() ? field.name : field.title);
  if (!field.description.empty()) text += " - " + field.description;
  std::string hint = Join(field.choices);
  if (field.type == "boolean") hint = "yes, no";
  if (field.type == "array") hint = "any of, separated by commas: " + hint;
  if (!hint.empty()) text += " (" + hint + ")";
  if (field.fallback) text += " [" + Show(*field.fallback) + "]";
  if (!field.fallback && !field.required) text += " (may be empty)";
  return text + ": ";
}

std::string QuestionForm::Fill(const std::string& line) {
  const Field& field = fields_[next_];
  const std::string text = field.type == "string" && field.choices.empty() ? line : Trimmed(line);
  Value value;
  std::string wrong;
  if (text.empty()) {
    if (!field.fallback && field.required) return "it is required";
    if (field.fallback) (*content_.mutable_fields())[field.name] = *field.fallback;
    ++next_;
    return "";
  }
  if (field.type == "number" || field.type == "integer") {
    wrong = ReadNumber(text, field.type == "integer", &value);
  } else if (field.type == "boolean") {
    wrong = ReadBool(text, &value);
  } else if (field.type == "array") {
    wrong = ReadSeveral(text, field.choices, &value);
  } else if (!IsOneOf(field.choices, text)) {
    wrong = "please type one of " + Join(field.choices);
  } else {
    value.set_string_value(text);
  }
  if (!wrong.empty()) return wrong;
  (*content_.mutable_fields())[field.name] = value;
  ++next_;
  return "";
}

std::string QuestionForm::Content() const {
  std::string json;
  return google::protobuf::util::MessageToJsonString(content_, &json).ok() ? json : "{}";
}

}  // namespace acpd::cli
