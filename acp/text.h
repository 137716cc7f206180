#ifndef ACPD_ACP_TEXT_H_
#define ACPD_ACP_TEXT_H_

#include <string>
#include <string_view>

namespace acpd {

// What some programs write in front of UTF-8 text.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Text from outside (agents' lines, stderr, errors, paths) is repaired in this one place before it
// goes on: protobuf strings and JSON parsers refuse invalid UTF-8.

// True when RepairText would change nothing. The common case, and fast.
bool IsCleanText(std::string_view text);
// Each maximal invalid UTF-8 sequence becomes U+FFFD.
std::string RepairText(std::string_view text);
// RepairText for a line of JSON: lone surrogate escapes (`\ud83d` without its other half) become
// `\ufffd` too.
std::string RepairJsonText(std::string_view line);
bool IsCleanJsonText(std::string_view line);
// For a sentence that a person reads: repaired, on one line (control characters as `\u001b`), and
// what is over `max` bytes replaced by "...".
std::string ShownText(std::string_view text, size_t max);
// The longest prefix of at most `max` bytes that does not cut a character.
std::string_view CutText(std::string_view text, size_t max);
// The longest suffix of at most `max` bytes that does not cut a character.
std::string_view CutTextFront(std::string_view text, size_t max);

}  // namespace acpd

#endif  // ACPD_ACP_TEXT_H_
