#ifndef ACPD_SESSION_PERMISSION_RULES_H_
#define ACPD_SESSION_PERMISSION_RULES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "session/config.h"
#include "session/types.h"
#include "session/views.h"

namespace acpd::session {

// What a permission is asked for.
struct PermissionSubject {
  std::string tool_kind, title;
  std::vector<std::string> paths;  // as the agent wrote them
  std::string raw_input;           // of the tool call, JSON; empty: none
  std::string cwd;                 // the session's: relative paths and patterns are below it
};

// What decides about a permission before a person is asked. Pure functions.

// The first rule that matches; nullopt: none does.
std::optional<PermissionMode> DecideByRules(const std::vector<PermissionRule>& rules,
                                            const PermissionSubject& subject);

// How a permission is answered: by the turn's own mode (kUnspecified: it has none), the config's
// rules, what was answered with an "always" before, and the agent's mode. The stricter of the
// turn's mode and the rules counts: DENY, then ASK by a rule, then ALLOW. A turn that ASKs is not
// asked for what a rule or an earlier "always" allows.
PermissionMode DecidePermission(PermissionMode turn, std::optional<PermissionMode> rule,
                                std::optional<PermissionMode> remembered, PermissionMode agent);

// The answers that were given with "always", of one session. Kept by kind, title and files of the
// tool call, and its input where it may be a command, exactly: what is allowed is never wider than
// what was seen. At most 256; the oldest go.
class PermissionMemory {
 public:
  explicit PermissionMemory(std::string_view packed = {});
  std::optional<PermissionMode> Find(const PermissionSubject& subject) const;
  // Of an option of kind allow_always or reject_always; others are not remembered. True: it
  // changed.
  bool Remember(const std::string& key, OptionKind kind);
  std::string Packed() const;
  // What a subject is remembered by; empty: it cannot be (no title, or more than 8 KiB of it).
  static std::string KeyOf(const PermissionSubject& subject);

 private:
  struct Entry {
    std::string key;
    PermissionMode mode = PermissionMode::kAsk;
  };
  std::vector<Entry> entries_;
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_PERMISSION_RULES_H_
