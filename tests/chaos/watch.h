#ifndef ACPD_TESTS_CHAOS_WATCH_H_
#define ACPD_TESTS_CHAOS_WATCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/e2e/harness/subscription.h"

namespace acpd::chaos {

// One event of the log, as short as it can be compared.
struct Seen {
  uint64_t position = 0;
  uint64_t seq = 0;
  uint64_t session = 0;  // the hash of its id
  uint64_t bytes = 0;    // the hash of the whole event
};
Seen Shorten(const e2e::Event& event);

// What one reader saw of one scope, over all its connections.
struct Watch {
  std::string reader;
  std::string session_id;  // of these at most one; none: everything
  std::string project_id;
  std::string epoch;
  bool started = false;        // the first stream has begun
  uint64_t start = 0;          // everything behind this position was to come
  uint64_t cursor = 0;         // where the next stream begins
  bool to_the_end = false;     // it read the log to its end, when that was quiet
  std::vector<uint64_t> from;  // the cursor of each connection
  std::vector<Seen> seen;
};

}  // namespace acpd::chaos

#endif  // ACPD_TESTS_CHAOS_WATCH_H_
