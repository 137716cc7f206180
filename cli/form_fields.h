#ifndef ACPD_CLI_FORM_FIELDS_H_
#define ACPD_CLI_FORM_FIELDS_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace acpd::cli {

// Keeps the order in which an agent wrote its fields.
using FormJson = nlohmann::ordered_json;

struct FormChoice {
  std::string value, title, description;
};

// One field of a form that an agent wants filled in (ACP elicitation).
struct FormField {
  std::string name, title, description;
  std::string type;  // string, number, integer, boolean, array; others are taken as texts
  bool required = false;
  std::vector<FormChoice> choices;   // of a text, or of an array's items
  std::optional<double> min, max;    // of a number, a text's length or an array's
  std::string format;                // of a text: email, uri, date, date-time
  std::optional<FormJson> fallback;  // what is offered; nullopt: nothing

  bool Chooses() const { return !choices.empty(); }
  bool IsArray() const { return type == "array"; }
};

struct FormSchema {
  std::string title, description;
  std::vector<FormField> fields;  // in the agent's order
};

// Reads the JSON schema of a form. What it does not know is left out: acpd checks the answer.
FormSchema ReadFormSchema(const std::string& schema_json);

}  // namespace acpd::cli

#endif  // ACPD_CLI_FORM_FIELDS_H_
