#ifndef ACPD_SESSION_RESUME_ANSWERS_H_
#define ACPD_SESSION_RESUME_ANSWERS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "session/types.h"

namespace acpd::session {

// How an attempt to resume ended, before it is judged.
struct ResumeAnswer {
  enum class Kind { kResult, kError, kExited, kTimedOut };
  Kind kind = Kind::kResult;
  ResumeMethod method = ResumeMethod::kUnspecified;
  std::string requested_id;  // agent_session_id asked for
  std::string returned_id;   // of a result; empty: it has none
  int64_t code = 0;          // of an error
  std::string message;
  std::string data;  // JSON
};

// What is done about it.
enum class ResumeVerdict {
  kResumed,
  kIgnored,        // another session than the one asked for: that new session is the fallback
                   // (RESUME_IGNORED)
  kNotFound,       // SESSION_NOT_FOUND
  kRetryNotFound,  // a weak sign: again, and SESSION_NOT_FOUND when it stays
  kRetryFailed,    // again, and RESUME_FAILED when it stays
  kNextMethod,     // -32601; none left: RESUME_UNSUPPORTED
  kExited,         // AGENT_EXITED
  kTimedOut,       // RESUME_TIMEOUT
  kAuthRequired,   // AGENT_AUTH_REQUIRED: the Chat fails, no fallback
};

// The one table of what agents answer to session/load, session/resume and session/new with a resume
// id. `missing_patterns`: further texts (any case) of this agent that mean "no such session".
ResumeVerdict JudgeResume(const ResumeAnswer& answer,
                          const std::vector<std::string>& missing_patterns);

// The same table for a prompt on a session that was just resumed: does this error say that the
// session does not exist?
bool SaysSessionNotFound(int64_t code, std::string_view message, std::string_view data,
                         const std::vector<std::string>& missing_patterns);

}  // namespace acpd::session

#endif  // ACPD_SESSION_RESUME_ANSWERS_H_
