#ifndef ACPD_SERVER_CONFIG_TEXT_H_
#define ACPD_SERVER_CONFIG_TEXT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace acpd::server {

// What becomes of the other templates, and of `$$`, when the config is read.
enum class TextKind {
  kPlain,     // there are none; `$$` is a dollar
  kTemplate,  // they stay, for session/launch.h, as `$$` does; what ${env:} and ${file:} gave has
              // its dollars doubled
};

// Replaces ${env:NAME} and ${file:PATH} (without the line ends at its end, at most 64 KiB).
// NOT_FOUND when one has no value: unset, empty, no such file. INVALID_ARGUMENT for bad templates
// and unreadable files. Blocking.
absl::StatusOr<std::string> ExpandConfigText(std::string_view text, TextKind kind);

}  // namespace acpd::server

#endif  // ACPD_SERVER_CONFIG_TEXT_H_
