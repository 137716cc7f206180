#ifndef ACPD_TESTS_CHAOS_AGENT_SCRIPT_H_
#define ACPD_TESTS_CHAOS_AGENT_SCRIPT_H_

#include <nlohmann/json.hpp>

#include "tests/chaos/dice.h"

namespace acpd::chaos {

// The fake agent's script (tests/fakes/script.h): most set-ups go well, a few fail, so that
// sessions are replaced and turns end before they began.
nlohmann::json MakeAgentScript(Dice* dice);

}  // namespace acpd::chaos

#endif  // ACPD_TESTS_CHAOS_AGENT_SCRIPT_H_
