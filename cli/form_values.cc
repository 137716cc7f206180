#include "cli/form_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "cli/form_words.h"
#include "cli/text.h"

namespace acpd::cli {
namespace {

constexpr char kNotUtf8[] = "please type text in UTF-8";

// nullopt: it is none of them. A number on the list goes before a value that reads the same: it is
// the number that the person sees in front.
const FormChoice* ChoiceFor(const FormField& field, const std::string& typed) {
  for (size_t i = 0; i < field.choices.size(); ++i) {
    if (typed == std::to_string(i + 1)) return &field.choices[i];
  }
  for (const FormChoice& choice : field.choices) {
    if (typed == choice.value) return &choice;
  }
  for (const FormChoice& choice : field.choices) {
    const bool title = !choice.title.empty() && Lowered(typed) == Lowered(choice.title);
    if (title || Lowered(typed) == Lowered(choice.value)) return &choice;
  }
  return nullptr;
}

std::string NoChoice(const FormField& field, const std::string& typed) {
  return "\"" + typed + "\" is none of them; please type a number from 1 to " +
         std::to_string(field.choices.size());
}

template <typename Number>
bool ReadAllOf(const std::string& typed, Number* number) {
  const char* begin = typed.data() + (typed.starts_with("+") ? 1 : 0);
  const char* end = typed.data() + typed.size();
  const auto [stop, error] = std::from_chars(begin, end, *number);
  return error == std::errc() && stop == end;
}

std::string ReadNumber(const FormField& field, const std::string& typed, FormJson* value) {
  int64_t whole = 0;
  double number = 0;
  if (ReadAllOf(typed, &whole)) {
    *value = whole;
  } else if (!ReadAllOf(typed, &number) || !std::isfinite(number)) {
    return field.type == "integer" ? "please type a whole number, such as 3"
                                   : "please type a number, such as 3 or 1.5";
  } else {
    *value = number;
  }
  return "";
}

std::string ReadBoolean(const std::string& typed, FormJson* value) {
  const std::string word = Lowered(typed);
  const bool yes = word == "y" || word == "yes" || word == "true";
  if (!yes && word != "n" && word != "no" && word != "false") return "please type y or n";
  *value = yes;
  return "";
}

std::string ReadSeveral(const FormField& field, const std::string& typed, FormJson* value) {
  *value = FormJson::array();
  for (size_t at = 0; at <= typed.size();) {
    const size_t end = std::min(typed.find(',', at), typed.size());
    std::string word = Trimmed(typed.substr(at, end - at));
    at = end + 1;
    if (word.empty()) continue;
    if (field.Chooses()) {
      const FormChoice* choice = ChoiceFor(field, word);
      if (choice == nullptr) return NoChoice(field, word);
      word = choice->value;
    }
    if (std::find(value->begin(), value->end(), FormJson(word)) == value->end())
      value->push_back(word);
  }
  return "";
}

std::string CheckLimits(const FormField& field, double size, const std::string& of) {
  if ((!field.min || size >= *field.min) && (!field.max || size <= *field.max)) return "";
  return "please give " + LimitWords(field) + of;
}

bool IsOffered(const FormField& field, const FormJson& value) {
  return !field.Chooses() ||
         std::any_of(field.choices.begin(), field.choices.end(),
                     [&value](const FormChoice& choice) { return value == choice.value; });
}

std::string CheckArray(const FormField& field, const FormJson& value) {
  if (!value.is_array()) return "it is no list";
  for (const FormJson& item : value) {
    if (!item.is_string() || !IsOffered(field, item)) return "it is not on the list";
  }
  return CheckLimits(field, static_cast<double>(value.size()), " of them");
}

}  // namespace

std::string ReadFormValue(const FormField& field, const std::string& typed, FormJson* value) {
  if (!IsUtf8(typed)) return kNotUtf8;
  const std::string word = Trimmed(typed);
  std::string wrong;
  if (field.type == "number" || field.type == "integer") {
    wrong = ReadNumber(field, word, value);
  } else if (field.type == "boolean") {
    wrong = ReadBoolean(word, value);
  } else if (field.IsArray()) {
    wrong = ReadSeveral(field, word, value);
  } else if (field.Chooses()) {
    const FormChoice* choice = ChoiceFor(field, word);
    if (choice == nullptr) return NoChoice(field, word);
    *value = choice->value;
  } else {
    *value = typed;  // blanks at its ends may be meant
  }
  return wrong.empty() ? CheckFormValue(field, *value) : wrong;
}

std::string CheckFormValue(const FormField& field, const FormJson& value) {
  if (field.type == "boolean") return value.is_boolean() ? "" : "it is neither yes nor no";
  if (field.IsArray()) return CheckArray(field, value);
  if (field.type == "number" || field.type == "integer") {
    if (!value.is_number()) return "it is no number";
    if (field.type == "integer" && !value.is_number_integer())
      return "please type a whole number, such as 3";
    return CheckLimits(field, value.get<double>(), "");
  }
  if (!value.is_string()) return "it is no text";
  if (!IsOffered(field, value)) return "it is not on the list";
  return CheckLimits(field, static_cast<double>(CountCharacters(value.get<std::string>())),
                     " characters");
}

}  // namespace acpd::cli
