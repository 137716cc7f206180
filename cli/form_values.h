#ifndef ACPD_CLI_FORM_VALUES_H_
#define ACPD_CLI_FORM_VALUES_H_

#include <string>

#include "cli/form_fields.h"

namespace acpd::cli {

// Turns what was typed for a field into its value: a choice by its number, value or title, several
// of them separated by commas, "y" and the like. Empty; or what is wrong with it, for the person.
std::string ReadFormValue(const FormField& field, const std::string& typed, FormJson* value);
// Whether a value fits a field, as far as it can be said here: acpd checks patterns and formats.
// Empty, or what is wrong with it.
std::string CheckFormValue(const FormField& field, const FormJson& value);

}  // namespace acpd::cli

#endif  // ACPD_CLI_FORM_VALUES_H_
