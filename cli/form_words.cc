#include "cli/form_words.h"

#include <algorithm>

#include "cli/text.h"

namespace acpd::cli {
namespace {

struct WordsRow {
  const char* key;
  const char* words;
};
// By type.
constexpr WordsRow kTypeWords[] = {{"number", "a number"},
                                   {"integer", "a whole number"},
                                   {"boolean", "y or n"},
                                   {"array", "any of them, separated by commas"}};
// By format.
constexpr WordsRow kFormatWords[] = {{"email", "an e-mail address"},
                                     {"uri", "an address such as https://example.com/"},
                                     {"date", "a date such as 2026-01-31"},
                                     {"date-time", "a time such as 2026-01-31T09:30:00Z"}};
constexpr WordsRow kFormatExamples[] = {{"email", "name@example.com"},
                                        {"uri", "https://example.com/"},
                                        {"date", "2026-01-31"},
                                        {"date-time", "2026-01-31T09:30:00Z"}};

template <size_t kRows>
std::string WordsFor(const WordsRow (&rows)[kRows], const std::string& key) {
  for (const WordsRow& row : rows) {
    if (key == row.key) return row.words;
  }
  return "";
}

std::string NumberWords(double number) { return FormJson(number).dump(); }

// Of limits, which mostly are whole: without a ".0".
std::string LimitNumber(double number) {
  const std::string words = NumberWords(number);
  return words.ends_with(".0") ? words.substr(0, words.size() - 2) : words;
}

// What may be typed.
std::string Hint(const FormField& field) {
  const bool array = field.IsArray();
  if (field.Chooses() && !array) return "";  // its list says it
  std::string hint = WordsFor(kTypeWords, field.type);
  if (hint.empty()) hint = WordsFor(kFormatWords, field.format);
  std::string limits = LimitWords(field);
  if (limits.empty()) return hint;
  if (field.type == "string") limits += " characters";
  return hint + (hint.empty() ? "" : array ? ", " : ": ") + limits;
}

std::string ChoiceWords(const FormChoice& choice) {
  const std::string value = ShownLine(choice.value);
  const std::string title = ShownLine(choice.title);
  return title.empty() || title == value ? value : title + " (" + value + ")";
}

std::string ShowOne(const FormField& field, const FormJson& value) {
  for (const FormChoice& choice : field.choices) {
    if (value == choice.value) return ChoiceWords(choice);
  }
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  return value.is_string() ? ShownLine(value.get<std::string>()) : value.dump();
}

FormJson ExampleValue(const FormField& field) {
  if (field.fallback) return *field.fallback;
  if (field.type == "boolean") return true;
  if (field.type == "number" || field.type == "integer")
    return static_cast<int64_t>(field.min.value_or(std::min(1.0, field.max.value_or(1))));
  const std::string text = WordsFor(kFormatExamples, field.format);
  const std::string word = field.Chooses() ? field.choices.front().value : text;
  return field.IsArray() ? FormJson::array({word}) : FormJson(word.empty() ? "..." : word);
}

}  // namespace

std::string LimitWords(const FormField& field) {
  // A text of at least nothing is any.
  const bool least =
      field.min && (*field.min > 0 || field.type == "number" || field.type == "integer");
  if (least && field.max) {
    const std::string min = LimitNumber(*field.min);
    return *field.min == *field.max ? "exactly " + min : min + " to " + LimitNumber(*field.max);
  }
  if (least) return "at least " + LimitNumber(*field.min);
  return field.max ? "at most " + LimitNumber(*field.max) : "";
}

std::string FieldLabel(const FormField& field) {
  const std::string title = ShownLine(field.title);
  return title.empty() ? ShownLine(field.name) : title;
}

std::string FieldHeading(const FormField& field) {
  const std::string label = FieldLabel(field);
  const std::string name = ShownLine(field.name);
  std::string notes = label == name ? "" : name + ", ";
  notes += field.required ? "required" : "optional";
  const std::string hint = Hint(field);
  if (!hint.empty()) notes += ", " + hint;
  const std::string description = ShownLine(field.description);
  return label + " (" + notes + ")" + (description.empty() ? "" : " - " + description);
}

std::vector<std::string> ChoiceLines(const FormField& field) {
  std::vector<std::string> lines;
  for (const FormChoice& choice : field.choices) {
    const std::string description = ShownLine(choice.description);
    lines.push_back(std::to_string(lines.size() + 1) + ") " + ChoiceWords(choice) +
                    (description.empty() ? "" : " - " + description));
  }
  return lines;
}

std::string ShowFormValue(const FormField& field, const std::optional<FormJson>& value) {
  if (!value) return "(left out)";
  if (!value->is_array()) return ShowOne(field, *value);
  if (value->empty()) return "none";
  std::vector<std::string> words;
  for (const FormJson& item : *value) words.push_back(ShowOne(field, item));
  return Join(words);
}

std::vector<std::string> DescribeForm(const FormSchema& schema) {
  std::vector<std::string> lines;
  for (const std::string& text : {schema.title, schema.description}) {
    if (!text.empty()) lines.push_back(ShownLine(text));
  }
  for (const FormField& field : schema.fields) {
    std::string line = FieldHeading(field);
    if (field.fallback) line += " [" + ShowFormValue(field, field.fallback) + "]";
    lines.push_back(line);
    // By their values, not their numbers: the content has to have those.
    for (const FormChoice& choice : field.choices)
      lines.push_back("  " + FormJson(choice.value).dump() +
                      (choice.title.empty() ? "" : ": " + ShownLine(choice.title)));
  }
  return lines;
}

std::string ExampleContent(const FormSchema& schema) {
  FormJson content = FormJson::object();
  for (const FormField& field : schema.fields) {
    if (field.required || schema.fields.size() == 1) content[field.name] = ExampleValue(field);
  }
  std::string json = content.dump();
  // An apostrophe stands in strings only.
  for (size_t at = 0; (at = json.find('\'', at)) != std::string::npos; at += 6)
    json.replace(at, 1, "\\u0027");
  return json;
}

}  // namespace acpd::cli
