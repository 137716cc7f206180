#include "acp/text_formats.h"

#include <re2/re2.h>

#include <chrono>

namespace acpd::acp {
namespace {

bool IsEmail(std::string_view text) {
  static const RE2& form = *new RE2(R"([^\x00-\x20\x7F@]+@[^\x00-\x20\x7F@]+)");
  return RE2::FullMatch(text, form);
}

bool IsUri(std::string_view text) {
  static const RE2& form = *new RE2(R"([A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20\x7F]+)");
  return RE2::FullMatch(text, form);
}

bool IsDate(std::string_view text) {
  static const RE2& form = *new RE2(R"((\d{4})-(\d{2})-(\d{2}))");
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  return RE2::FullMatch(text, form, &year, &month, &day) &&
         std::chrono::year_month_day(std::chrono::year(year), std::chrono::month(month),
                                     std::chrono::day(day))
             .ok();
}

// RFC 3339, which has leap seconds.
bool IsDateTime(std::string_view text) {
  static const RE2& form = *new RE2(
      R"([Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d))");
  constexpr size_t kDate = 10;
  return text.size() > kDate && IsDate(text.substr(0, kDate)) &&
         RE2::FullMatch(text.substr(kDate), form);
}

struct TextFormat {
  std::string_view name, shown;
  bool (*fits)(std::string_view);
};

constexpr TextFormat kTextFormats[] = {
    {"email", "an e-mail address", IsEmail},
    {"uri", "a URI with its scheme", IsUri},
    {"date", "a date like 2026-12-31", IsDate},
    {"date-time", "a time like 2026-12-31T23:59:59Z", IsDateTime},
};

const TextFormat* FindFormat(std::string_view name) {
  for (const TextFormat& format : kTextFormats) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

}  // namespace

bool FitsFormat(std::string_view text, std::string_view format) {
  const TextFormat* found = FindFormat(format);
  return found == nullptr || found->fits(text);
}

std::string_view ShownFormat(std::string_view format) {
  const TextFormat* found = FindFormat(format);
  return found == nullptr ? std::string_view() : found->shown;
}

bool FitsPattern(std::string_view text, std::string_view pattern) {
  if (pattern.size() > kMaxCheckedPattern || text.size() > kMaxCheckedText) return true;
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(32 << 10);  // what repetition makes large is not compiled
  const RE2 compiled(pattern, options);
  return !compiled.ok() || RE2::PartialMatch(text, compiled);
}

}  // namespace acpd::acp
