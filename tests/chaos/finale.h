#ifndef ACPD_TESTS_CHAOS_FINALE_H_
#define ACPD_TESTS_CHAOS_FINALE_H_

#include "tests/chaos/actor.h"
#include "tests/chaos/log_check.h"

// What is asked of acpd once the actors are done. Each adds violations to the tally.
namespace acpd::chaos {

// Waits until every turn has ended (I1).
void Drain(const Stage& stage, e2e::Client* client);

// Gives the whole log to the check.
void ReplayAll(const Stage& stage, e2e::Client* client, LogCheck* log);

// ListTurns and ListSessions must say what the log says.
void CheckLists(const Stage& stage, e2e::Client* client, const LogCheck& log);

// Closes every session; then acpd has no child and no more descriptors than `descriptors` (I3).
void CloseAll(const Stage& stage, e2e::Client* client, uint64_t descriptors);

// acpd has been stopped: no process, no socket and no temporary file is left (I3).
void CheckLeftovers(const Stage& stage);

}  // namespace acpd::chaos

#endif  // ACPD_TESTS_CHAOS_FINALE_H_
