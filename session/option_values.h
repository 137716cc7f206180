#ifndef ACPD_SESSION_OPTION_VALUES_H_
#define ACPD_SESSION_OPTION_VALUES_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "acp/options.h"
#include "acp/types.h"

// Config options, their values, and modes, as lists: what is in them, and what an agent offers.
// Pure functions.
namespace acpd::session {

// nullptr: there is none.
const acp::ConfigOption* FindOption(const std::vector<acp::ConfigOption>& options,
                                    std::string_view id);
// The option that is the session's mode: it goes before the older `modes`.
const acp::ConfigOption* ModeOption(const std::vector<acp::ConfigOption>& options);
const acp::ConfigOption* ModelOption(const std::vector<acp::ConfigOption>& options);

acp::OptionValue ValueOf(const acp::ConfigOption& option);
bool Has(const acp::ConfigOption& option, const acp::OptionValue& value);
// Puts it in, in the place of an earlier value of the same option; of 256 the oldest goes.
void Want(acp::OptionValue value, std::vector<acp::OptionValue>& wanted);
std::vector<acp::ConfigOption> WithValue(std::vector<acp::ConfigOption> options,
                                         const acp::OptionValue& value);
// As a sentence names it: true, false or the choice in quotes.
std::string Words(const acp::OptionValue& value);

// NOT_SUPPORTED_BY_AGENT, with what the agent offers instead.
absl::Status CheckOffered(const std::vector<acp::ConfigOption>& options,
                          const acp::OptionValue& value);
absl::Status CheckMode(const std::vector<acp::ModeInfo>& modes, const std::string& mode_id);

}  // namespace acpd::session

#endif  // ACPD_SESSION_OPTION_VALUES_H_
