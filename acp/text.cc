#include "acp/text.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace acpd {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr size_t kEscapeSize = 6;                          // \uXXXX

struct Step {
  size_t size;
  bool valid;
};

bool IsContinuation(char c) { return (static_cast<uint8_t>(c) & 0xC0) == 0x80; }

// The character at the front of `text`, or the longest start of one that is not finished (Unicode
// 15, table 3-7: what a decoder replaces by one U+FFFD).
Step NextCharacter(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  if (lead < 0x80) return {1, true};
  if (lead < 0xC2 || lead > 0xF4) return {1, false};
  const size_t size = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // The second byte excludes overlong forms, surrogates and what is beyond U+10FFFF.
  const uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (text.size() < 2) return {1, false};
  const auto second = static_cast<uint8_t>(text[1]);
  if (second < low || second > high) return {1, false};
  for (size_t i = 2; i < size; ++i) {
    if (i >= text.size() || !IsContinuation(text[i])) return {i, false};
  }
  return {size, true};
}

// The code unit of a `\uXXXX` that stands at `at`; -1: there is none.
int EscapedUnit(std::string_view line, size_t at) {
  if (at + kEscapeSize > line.size() || line[at] != '\\' || line[at + 1] != 'u') return -1;
  unsigned unit = 0;
  const char* end = line.data() + at + kEscapeSize;
  const auto [ptr, error] = std::from_chars(line.data() + at + 2, end, unit, 16);
  return error == std::errc() && ptr == end ? static_cast<int>(unit) : -1;
}

bool IsHighSurrogate(int unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
bool IsLowSurrogate(int unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

// The place of the first lone surrogate escape at or after `at`, which must not be inside an
// escape.
size_t FindLoneSurrogate(std::string_view line, size_t at) {
  while ((at = line.find('\\', at)) != std::string_view::npos) {
    const int unit = EscapedUnit(line, at);
    if (IsLowSurrogate(unit)) return at;
    if (!IsHighSurrogate(unit)) {
      at += 2;  // `\\` among others: its second backslash opens nothing
    } else if (IsLowSurrogate(EscapedUnit(line, at + kEscapeSize))) {
      at += 2 * kEscapeSize;
    } else {
      return at;
    }
  }
  return at;
}

}  // namespace

bool IsCleanText(std::string_view text) { return simdjson::validate_utf8(text); }

std::string RepairText(std::string_view text) {
  if (IsCleanText(text)) return std::string(text);
  std::string out;
  out.reserve(text.size() + 16);
  while (!text.empty()) {
    const Step step = NextCharacter(text);
    out.append(step.valid ? text.substr(0, step.size) : kReplacement);
    text.remove_prefix(step.size);
  }
  return out;
}

bool IsCleanJsonText(std::string_view line) {
  return IsCleanText(line) && FindLoneSurrogate(line, 0) == std::string_view::npos;
}

std::string RepairJsonText(std::string_view line) {
  std::string out = RepairText(line);
  size_t at = 0;
  while ((at = FindLoneSurrogate(out, at)) != std::string::npos) {
    out.replace(at, kEscapeSize, "\\ufffd");
    at += kEscapeSize;
  }
  return out;
}

std::string ShownText(std::string_view text, size_t max) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (const char c : RepairText(CutText(text, max))) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte >= 0x20 && byte != 0x7F) {
      out.push_back(c);
    } else {
      out.append("\\u00").append({kHex[byte >> 4], kHex[byte & 15]});
    }
  }
  const bool whole = text.size() <= max && out.size() <= max;
  return whole ? out : std::string(CutText(out, max)) + "...";
}

// In text that is no UTF-8 a border may be nowhere near: three bytes are as long as a character's
// rest can be.
std::string_view CutText(std::string_view text, size_t max) {
  if (text.size() <= max) return text;
  size_t size = max;
  while (size > 0 && max - size < 3 && IsContinuation(text[size])) --size;
  return text.substr(0, IsContinuation(text[size]) ? max : size);
}

std::string_view CutTextFront(std::string_view text, size_t max) {
  if (text.size() <= max) return text;
  const size_t first = text.size() - max;
  size_t at = first;
  while (at < text.size() && at - first < 3 && IsContinuation(text[at])) ++at;
  return text.substr(at < text.size() && IsContinuation(text[at]) ? first : at);
}

}  // namespace acpd
