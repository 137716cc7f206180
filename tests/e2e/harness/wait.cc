#include "tests/e2e/harness/wait.h"

#include <thread>

namespace acpd::e2e {

bool WaitUntil(const std::function<bool()>& condition, milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline) return condition();
    std::this_thread::sleep_for(milliseconds(2));
  }
  return true;
}

}  // namespace acpd::e2e
