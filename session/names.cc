#include "session/names.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <mutex>

#include "absl/strings/escaping.h"
#include "acp/text.h"

namespace acpd::session {
namespace {

constexpr size_t kMaxProjectId = 128;
constexpr size_t kMaxSessionId = 256;
constexpr size_t kMaxRequestId = 256;
constexpr size_t kMaxLabels = 64;
constexpr size_t kMaxLabelBytes = 16u << 10;

bool IsAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Whether clean UTF-8 holds a character that does not print: C0, DEL, C1, the line and paragraph
// separators.
bool HasUnprintable(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x20 || c == 0x7f) return true;
    if (c == 0xc2 && static_cast<unsigned char>(text[i + 1]) < 0xa0) return true;
    if (text.substr(i, 3) == "\xe2\x80\xa8" || text.substr(i, 3) == "\xe2\x80\xa9") return true;
  }
  return false;
}

constexpr uint32_t kCounterMax = 0xfff;  // the 12 bits behind the version

// Time and counter of the newest id: together they only go up, also when the clock goes back.
struct IdTick {
  uint64_t time_ms = 0;
  uint32_t counter = 0;
};

// The tick of the next id. A new millisecond starts its counter at `start`, in the lower half, so
// that there is room to count up within it; when there is none left, the ids run ahead of the
// clock.
IdTick NextTick(uint64_t time_ms, uint32_t start) {
  static std::mutex mutex;
  static IdTick newest;
  std::lock_guard lock(mutex);
  if (time_ms > newest.time_ms) {
    newest = {time_ms, start & (kCounterMax >> 1)};
  } else if (newest.counter < kCounterMax) {
    ++newest.counter;
  } else {
    newest = {newest.time_ms + 1, 0};
  }
  return newest;
}

std::string FormatUuid(const unsigned char (&bytes)[16]) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  text.reserve(36);
  for (size_t i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text.push_back('-');
    text.push_back(kHex[bytes[i] >> 4]);
    text.push_back(kHex[bytes[i] & 0xf]);
  }
  return text;
}

}  // namespace

bool IsProjectId(std::string_view id) {
  if (id.empty() || id.size() > kMaxProjectId || !IsAlphanumeric(id[0])) return false;
  return std::all_of(id.begin(), id.end(),
                     [](char c) { return IsAlphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

bool IsSessionId(std::string_view id) {
  if (id.empty() || id.size() > kMaxSessionId) return false;
  return std::all_of(id.begin(), id.end(), [](char c) { return c >= '!' && c <= '~' && c != '/'; });
}

bool IsRequestId(std::string_view id) {
  if (id.empty() || id.size() > kMaxRequestId) return false;
  return IsCleanText(id) && !HasUnprintable(id);
}

bool AreLabels(const Labels& labels) {
  size_t bytes = 0;
  for (const auto& [key, value] : labels) bytes += key.size() + value.size();
  return labels.size() <= kMaxLabels && bytes <= kMaxLabelBytes;
}

std::string NewId(WallTime now) {
  const std::string random = RandomBytes(10);
  const auto byte = [&random](size_t i) { return static_cast<unsigned char>(random[i]); };
  const auto now_ms = static_cast<uint64_t>(std::max<WallTime>(now, 0)) / 1000;
  const IdTick tick = NextTick(now_ms, static_cast<uint32_t>(byte(8) << 8 | byte(9)));
  unsigned char bytes[16];
  for (int i = 0; i < 6; ++i) bytes[i] = static_cast<unsigned char>(tick.time_ms >> (8 * (5 - i)));
  bytes[6] = static_cast<unsigned char>(0x70 | tick.counter >> 8);
  bytes[7] = static_cast<unsigned char>(tick.counter);
  for (size_t i = 0; i < 8; ++i) bytes[8 + i] = byte(i);
  bytes[8] = static_cast<unsigned char>(0x80 | (bytes[8] & 0x3f));
  return FormatUuid(bytes);
}

WallTime TimeOfId(std::string_view id) {
  constexpr size_t kTimeDigits = 13;  // 12 and a hyphen
  if (id.size() < kTimeDigits) return 0;
  const std::string digits = std::string(id.substr(0, 8)) + std::string(id.substr(9, 4));
  uint64_t ms = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), ms, /*base=*/16);
  if (error != std::errc() || end != digits.data() + digits.size()) return 0;
  return static_cast<WallTime>(ms) * 1000;
}

std::string Fingerprint(std::string_view key, std::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest, &size);
  return absl::WebSafeBase64Escape({reinterpret_cast<const char*>(digest), size});
}

std::string RandomBytes(size_t n) {
  std::string bytes(n, '\0');
  size_t filled = 0;
  while (filled < n) {
    const ssize_t got = getrandom(bytes.data() + filled, n - filled, 0);
    if (got > 0) {
      filled += static_cast<size_t>(got);
    } else if (errno != EINTR) {
      std::abort();  // a kernel without random numbers: nothing made here could be trusted
    }
  }
  return bytes;
}

}  // namespace acpd::session
