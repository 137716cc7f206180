#ifndef ACPD_TESTS_E2E_HARNESS_WAIT_H_
#define ACPD_TESTS_E2E_HARNESS_WAIT_H_

#include <chrono>
#include <functional>

namespace acpd::e2e {

using std::chrono::milliseconds;

// How long tests wait for what has to happen. Generous: a loaded machine is slow, and only failing
// tests wait so long.
inline constexpr milliseconds kPatience{20'000};

// Tries `condition` every few milliseconds until it holds (true) or `patience` is over (false).
bool WaitUntil(const std::function<bool()>& condition, milliseconds patience = kPatience);

}  // namespace acpd::e2e

#endif  // ACPD_TESTS_E2E_HARNESS_WAIT_H_
