#ifndef ACPD_SESSION_WALL_CLOCK_H_
#define ACPD_SESSION_WALL_CLOCK_H_

#include <chrono>

#include "session/types.h"

namespace acpd::session {

// The system's clock, which may be set at any time.
inline WallTime WallNow() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(since_epoch).count();
}

}  // namespace acpd::session

#endif  // ACPD_SESSION_WALL_CLOCK_H_
