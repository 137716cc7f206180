#ifndef ACPD_TESTS_E2E_HARNESS_BARRIERS_H_
#define ACPD_TESTS_E2E_HARNESS_BARRIERS_H_

#include <string>

#include "tests/e2e/harness/wait.h"

namespace acpd::e2e {

// The test's side of the fake agent's barriers (FAKE_AGENT_BARRIERS is `folder`).
class Barriers {
 public:
  explicit Barriers(std::string folder) : folder_(std::move(folder)) {}
  const std::string& folder() const { return folder_; }

  // An agent stands at the barrier; false: none came in time.
  bool WaitReached(const std::string& name, milliseconds patience = kPatience) const;
  bool Reached(const std::string& name) const;
  // Lets everyone go on who stands there or comes later.
  void Release(const std::string& name) const;
  // As though nobody had been there: it holds again.
  void Reset(const std::string& name) const;

 private:
  std::string folder_;
};

}  // namespace acpd::e2e

#endif  // ACPD_TESTS_E2E_HARNESS_BARRIERS_H_
