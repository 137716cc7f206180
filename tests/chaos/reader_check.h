#ifndef ACPD_TESTS_CHAOS_READER_CHECK_H_
#define ACPD_TESTS_CHAOS_READER_CHECK_H_

#include "tests/chaos/log_check.h"
#include "tests/chaos/watch.h"

namespace acpd::chaos {

// I2: what a reader saw over all its connections is the log from its start on, each event once, in
// order, the same bytes. Deleted sessions are left out: a late reader cannot have their log.
void CheckWatch(const Watch& watch, const LogCheck& log, Tally* tally);

}  // namespace acpd::chaos

#endif  // ACPD_TESTS_CHAOS_READER_CHECK_H_
