#include "session/permission_rules.h"

#include <fnmatch.h>

#include <algorithm>

#include "session/pack.h"

namespace acpd::session {
namespace {

constexpr size_t kMostRemembered = 256;
constexpr size_t kLongestKey = 8u << 10;  // what has more is asked each time
constexpr size_t kFieldsOfEntry = 2;
constexpr char kAllowed[] = "a";
constexpr char kDenied[] = "d";

bool Matches(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

// Without `.`, `..` and doubled slashes, so that a path cannot pass by a pattern in disguise. Links
// are not followed: what a path leads to is not known here.
std::string Normal(const std::string& path, const std::string& cwd) {
  const std::string whole = path.starts_with('/') ? path : cwd + "/" + path;
  std::vector<std::string> parts;
  for (size_t at = 0; at < whole.size();) {
    const size_t end = std::min(whole.find('/', at), whole.size());
    std::string part = whole.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(std::move(part));
    } else if (!parts.empty()) {
      parts.pop_back();
    }
  }
  std::string normal;
  for (const std::string& part : parts) normal += "/" + part;
  return normal.empty() ? "/" : normal;
}

bool MatchesPaths(const PermissionRule& rule, const PermissionSubject& subject) {
  if (rule.path.empty()) return true;
  const std::string pattern =
      rule.path.starts_with('/') ? rule.path : Normal(".", subject.cwd) + "/" + rule.path;
  const auto matches = [&](const std::string& path) {
    return Matches(pattern, Normal(path, subject.cwd));
  };
  const auto& paths = subject.paths;
  if (rule.mode == PermissionMode::kAllow) {
    return !paths.empty() && std::all_of(paths.begin(), paths.end(), matches);
  }
  return std::any_of(paths.begin(), paths.end(), matches);
}

}  // namespace

std::optional<PermissionMode> DecideByRules(const std::vector<PermissionRule>& rules,
                                            const PermissionSubject& subject) {
  for (const PermissionRule& rule : rules) {
    // Of what the agent does not say the kind nobody can tell that a rule does not forbid it.
    const bool unknown = subject.tool_kind.empty() && rule.mode != PermissionMode::kAllow;
    if (!rule.tool_kind.empty() && unknown) return PermissionMode::kAsk;
    if (!rule.tool_kind.empty() && rule.tool_kind != subject.tool_kind) continue;
    if (!rule.title.empty() && !Matches(rule.title, subject.title)) continue;
    if (MatchesPaths(rule, subject)) return rule.mode;
  }
  return std::nullopt;
}

PermissionMode DecidePermission(PermissionMode turn, std::optional<PermissionMode> rule,
                                std::optional<PermissionMode> remembered, PermissionMode agent) {
  using enum PermissionMode;
  if (turn == kDeny || rule == kDeny) return kDeny;
  if (rule == kAsk) return kAsk;
  if (rule == kAllow || turn == kAllow) return kAllow;
  if (remembered) return *remembered;
  return turn == kUnspecified ? agent : turn;
}

PermissionMemory::PermissionMemory(std::string_view packed) {
  const auto fields = Unpack(packed);
  if (!fields || fields->size() % kFieldsOfEntry != 0) return;
  for (size_t i = 0; i < fields->size(); i += kFieldsOfEntry) {
    const bool allowed = (*fields)[i + 1] == kAllowed;
    entries_.push_back({(*fields)[i], allowed ? PermissionMode::kAllow : PermissionMode::kDeny});
  }
}

std::string PermissionMemory::KeyOf(const PermissionSubject& subject) {
  if (subject.title.empty()) return "";
  std::vector<std::string> parts = {subject.tool_kind, subject.title};
  parts.insert(parts.end(), subject.paths.begin(), subject.paths.end());
  // Some agents call every command by one title. An edit's input is another one each time.
  const std::string& kind = subject.tool_kind;
  const bool may_be_command = kind.empty() || kind == "execute" || kind == "other";
  if (may_be_command || subject.paths.empty()) parts.push_back(subject.raw_input);
  std::string key = Pack(parts);
  return key.size() <= kLongestKey ? key : "";
}

std::optional<PermissionMode> PermissionMemory::Find(const PermissionSubject& subject) const {
  const std::string key = KeyOf(subject);
  if (key.empty()) return std::nullopt;
  for (const Entry& entry : entries_) {
    if (entry.key == key) return entry.mode;
  }
  return std::nullopt;
}

bool PermissionMemory::Remember(const std::string& key, OptionKind kind) {
  const bool allow = kind == OptionKind::kAllowAlways;
  if (key.empty() || (!allow && kind != OptionKind::kRejectAlways)) return false;
  const PermissionMode mode = allow ? PermissionMode::kAllow : PermissionMode::kDeny;
  std::erase_if(entries_, [&key](const Entry& entry) { return entry.key == key; });
  if (entries_.size() >= kMostRemembered) entries_.erase(entries_.begin());
  entries_.push_back({key, mode});
  return true;
}

std::string PermissionMemory::Packed() const {
  std::vector<std::string> fields;
  for (const Entry& entry : entries_) {
    fields.push_back(entry.key);
    fields.push_back(entry.mode == PermissionMode::kAllow ? kAllowed : kDenied);
  }
  return fields.empty() ? "" : Pack(fields);
}

}  // namespace acpd::session
