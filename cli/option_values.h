#ifndef ACPD_CLI_OPTION_VALUES_H_
#define ACPD_CLI_OPTION_VALUES_H_

#include <string>

#include "cli/connection.h"

namespace acpd::cli {

// "ID=VALUE" as a value of a config option: `true` and `false` are booleans where the session's
// option is one, or nothing is known of it. False: it is not of that form.
bool ReadOptionValue(const std::string& word, const acpd::v1::Session& session,
                     acpd::v1::ConfigOptionValue* value);

}  // namespace acpd::cli

#endif  // ACPD_CLI_OPTION_VALUES_H_
