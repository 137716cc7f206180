#ifndef ACPD_SESSION_LOG_READING_H_
#define ACPD_SESSION_LOG_READING_H_

#include <cstdint>
#include <string>

#include "session/core.h"
#include "session/event_log.h"

namespace acpd::session {

// The log, read from a coroutine of the loop: the past of `scope` behind position `after`, at most
// a page of it; empty: there is no more.
awaitable<EventLog::Page> ReadPage(Core& core, LogScope scope, uint64_t after);
// The next rows of a session's own log, at most a page of them.
awaitable<SessionRows> ReadRange(Core& core, SessionRange range, size_t max_bytes);
// The position before the session's event `seq`.
awaitable<uint64_t> Locate(Core& core, std::string session_id, uint64_t seq);

}  // namespace acpd::session

#endif  // ACPD_SESSION_LOG_READING_H_
