#ifndef ACPD_CLI_FORM_WORDS_H_
#define ACPD_CLI_FORM_WORDS_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/form_fields.h"

namespace acpd::cli {

// Forms in words for a person.

// "at least 3", "1 to 10" and the like; empty: there is no limit.
std::string LimitWords(const FormField& field);
// The agent's title of it, else its name.
std::string FieldLabel(const FormField& field);
// "Colour (colour, required, a number from 1 to 2) - Which one you like".
std::string FieldHeading(const FormField& field);
// The choices as a numbered list, one a line.
std::vector<std::string> ChoiceLines(const FormField& field);
// A value as the person knows it: titles for choices, yes and no.
std::string ShowFormValue(const FormField& field, const std::optional<FormJson>& value);
// A whole form as lines: its words, its fields and their choices.
std::vector<std::string> DescribeForm(const FormSchema& schema);
// Some content with every required field, to be changed by hand. As JSON that a shell takes between
// apostrophes.
std::string ExampleContent(const FormSchema& schema);

}  // namespace acpd::cli

#endif  // ACPD_CLI_FORM_WORDS_H_
