#ifndef ACPD_TESTS_CHAOS_AGENT_CHECK_H_
#define ACPD_TESTS_CHAOS_AGENT_CHECK_H_

#include <string>

#include "tests/chaos/log_check.h"
#include "tests/chaos/tally.h"

namespace acpd::chaos {

// What the agents received, by the log that they wrote: each prompt, answer and cancel at most
// once, a prompt of a turn that ended well exactly once, and none of a turn that says that its
// prompt was not sent.
void CheckAgents(const std::string& agent_log, const LogCheck& log, Tally* tally);

}  // namespace acpd::chaos

#endif  // ACPD_TESTS_CHAOS_AGENT_CHECK_H_
