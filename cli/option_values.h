#ifndef ACPD_CLI_OPTION_VALUES_H_
#define ACPD_CLI_OPTION_VALUES_H_

#include <string>

#include "cli/connection.h"

namespace acpd::cli {

// "ID=VALUE" as a value of a config option: `true` and `false` are booleans where the session's
// option is one, or nothing is known of it. The command line has checked its form.
acpd::v1::ConfigOptionValue ReadOptionValue(const std::string& word,
                                            const acpd::v1::Session& session);

}  // namespace acpd::cli

#endif  // ACPD_CLI_OPTION_VALUES_H_
