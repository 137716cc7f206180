#ifndef ACPD_SESSION_SECRETS_H_
#define ACPD_SESSION_SECRETS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Keeps keys out of what operators read. Pure functions.
namespace acpd::session {

// Whether a variable of this name holds one: KEY, TOKEN, SECRET or PASSWORD is part of the name.
bool NamesSecret(std::string_view variable);

// `text` with every secret in it replaced by `***`, cut at `limit` bytes. Secrets of less than 8
// bytes stay: they would blot out words. JSON writes quotes, backslashes and control characters
// another way, so a secret counts as the pieces between those.
std::string HideSecrets(std::string_view text, const std::vector<std::string>& secrets,
                        size_t limit);

}  // namespace acpd::session

#endif  // ACPD_SESSION_SECRETS_H_
