#ifndef ACPD_SESSION_NAMES_H_
#define ACPD_SESSION_NAMES_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "session/types.h"

namespace acpd::session {

bool IsProjectId(std::string_view id);  // [A-Za-z0-9][A-Za-z0-9._-]{0,127}
bool IsSessionId(std::string_view id);  // 1-256 bytes of [!-~] without `/`
bool IsRequestId(std::string_view id);  // 1-256 bytes of printable UTF-8
bool AreLabels(const Labels& labels);   // at most 64, keys and values 16 KiB in all

// A new UUID, version 7 (RFC 9562): its first 48 bits are the time in ms, and ids made by one
// process ascend.
std::string NewId(WallTime now);
// When an id was made, to the millisecond; 0: it is none of ours.
WallTime TimeOfId(std::string_view id);

// base64url HMAC-SHA-256 of `text` under `key`.
std::string Fingerprint(std::string_view key, std::string_view text);
// `n` random bytes (getrandom).
std::string RandomBytes(size_t n);

}  // namespace acpd::session

#endif  // ACPD_SESSION_NAMES_H_
