#include "session/pack.h"

#include <cstdint>

namespace acpd::session {
namespace {

constexpr size_t kLengthBytes = 4;

void AppendItem(std::string_view item, std::string& out) {
  const auto length = static_cast<uint32_t>(item.size());
  for (size_t i = 0; i < kLengthBytes; ++i) out.push_back(static_cast<char>(length >> (8 * i)));
  out.append(item);
}

// Takes one item off the front of `blob`; false: it is cut short.
bool TakeItem(std::string_view& blob, std::string_view& item) {
  if (blob.size() < kLengthBytes) return false;
  uint32_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) {
    length |= static_cast<uint32_t>(static_cast<unsigned char>(blob[i])) << (8 * i);
  }
  blob.remove_prefix(kLengthBytes);
  if (blob.size() < length) return false;
  item = blob.substr(0, length);
  blob.remove_prefix(length);
  return true;
}

}  // namespace

std::string Pack(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) AppendItem(item, out);
  return out;
}

std::optional<std::vector<std::string>> Unpack(std::string_view blob) {
  std::vector<std::string> items;
  while (!blob.empty()) {
    std::string_view item;
    if (!TakeItem(blob, item)) return std::nullopt;
    items.emplace_back(item);
  }
  return items;
}

std::string PackMap(const std::map<std::string, std::string>& map) {
  std::string out;
  for (const auto& [key, value] : map) {
    AppendItem(key, out);
    AppendItem(value, out);
  }
  return out;
}

std::optional<std::map<std::string, std::string>> UnpackMap(std::string_view blob) {
  std::map<std::string, std::string> map;
  while (!blob.empty()) {
    std::string_view key, value;
    if (!TakeItem(blob, key) || !TakeItem(blob, value)) return std::nullopt;
    if (!map.emplace(key, value).second) return std::nullopt;
  }
  return map;
}

}  // namespace acpd::session
