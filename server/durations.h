#ifndef ACPD_SERVER_DURATIONS_H_
#define ACPD_SERVER_DURATIONS_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Durations and sizes as people write them in the config.
namespace acpd::server {

// "500ms", "10s", "5m", "1h": a whole number and one of these units. nullopt: anything else, or too
// large to count in ms.
std::optional<std::chrono::milliseconds> ParseDuration(std::string_view text);
// In the largest unit that says it exactly: 90 s is "90s", 120 s is "2m".
std::string FormatDuration(std::chrono::milliseconds duration);

// "10B", "64KiB", "3MiB", "1GiB", in bytes.
std::optional<int64_t> ParseSize(std::string_view text);
std::string FormatSize(int64_t bytes);

}  // namespace acpd::server

#endif  // ACPD_SERVER_DURATIONS_H_
