#include "server/durations.h"

#include <charconv>
#include <span>

#include "server/strings.h"

namespace acpd::server {
namespace {

struct Unit {
  std::string_view name;
  int64_t factor;
};

constexpr Unit kTimes[] = {{"ms", 1}, {"s", 1000}, {"m", 60 * 1000}, {"h", 60 * 60 * 1000}};
constexpr Unit kSizes[] = {{"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};

std::optional<int64_t> ParseWithUnit(std::string_view text, std::span<const Unit> units) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  int64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  const std::string_view name = text.substr(rest - text.data());
  for (const Unit& unit : units) {
    int64_t product = 0;
    if (name != unit.name) continue;
    if (__builtin_mul_overflow(number, unit.factor, &product)) return std::nullopt;
    return product;
  }
  return std::nullopt;
}

std::string FormatWithUnit(int64_t value, std::span<const Unit> units) {
  const Unit* best = &units.front();
  for (const Unit& unit : units) {
    if (value != 0 && value % unit.factor == 0) best = &unit;
  }
  return Cat(value / best->factor, best->name);
}

}  // namespace

std::optional<std::chrono::milliseconds> ParseDuration(std::string_view text) {
  const std::optional<int64_t> ms = ParseWithUnit(text, kTimes);
  if (!ms) return std::nullopt;
  return std::chrono::milliseconds(*ms);
}

std::string FormatDuration(std::chrono::milliseconds duration) {
  return FormatWithUnit(duration.count(), kTimes);
}

std::optional<int64_t> ParseSize(std::string_view text) { return ParseWithUnit(text, kSizes); }

std::string FormatSize(int64_t bytes) { return FormatWithUnit(bytes, kSizes); }

}  // namespace acpd::server
