#ifndef ACPD_TESTS_E2E_HARNESS_INVARIANTS_H_
#define ACPD_TESTS_E2E_HARNESS_INVARIANTS_H_

#include <map>
#include <string>
#include <vector>

#include "tests/e2e/harness/subscription.h"

// What must hold of every recorded stream. Each returns the violations as sentences; empty: it
// holds. Pure functions.
namespace acpd::e2e {

// I1: exactly one TurnEnded for each turn in the stream and each accepted one, and nothing of a
// turn before its TurnQueued. For a stream of all sessions from the first event on. `accepted`:
// session ids by turn id; those of a deleted session are not looked for, since its log went with
// it.
std::vector<std::string> CheckTurnsEndOnce(const std::vector<Event>& events,
                                           const std::map<std::string, std::string>& accepted);

// I2: within each session `seq` counts up by one from its first event in the stream on (a Gap
// begins it anew), and `position` grows over all sessions.
std::vector<std::string> CheckNoHoleNoRepeat(const std::vector<Event>& events);

}  // namespace acpd::e2e

#endif  // ACPD_TESTS_E2E_HARNESS_INVARIANTS_H_
