#ifndef ACPD_SERVER_STRINGS_H_
#define ACPD_SERVER_STRINGS_H_

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/string_view.h"

// Strings for messages. Debian's Abseil has a string_view of its own, which std::string_view does
// not convert to: so absl::StrCat and its like cannot be used with ours.
namespace acpd::server {

inline void AppendPiece(std::string* out, std::string_view piece) { out->append(piece); }
inline void AppendPiece(std::string* out, absl::string_view piece) {
  out->append(piece.data(), piece.size());
}
inline void AppendPiece(std::string* out, const std::string& piece) { out->append(piece); }
inline void AppendPiece(std::string* out, const char* piece) { out->append(piece); }
template <std::integral T>
void AppendPiece(std::string* out, T piece) {
  out->append(std::to_string(piece));
}

template <class... Pieces>
std::string Cat(const Pieces&... pieces) {
  std::string out;
  (AppendPiece(&out, pieces), ...);
  return out;
}

template <class T>
std::string JoinStrings(const std::vector<T>& items, std::string_view separator) {
  std::string out;
  for (const T& item : items) {
    if (!out.empty()) out.append(separator);
    out.append(item);
  }
  return out;
}

inline bool ConsumePrefix(std::string_view* text, std::string_view prefix) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

}  // namespace acpd::server

#endif  // ACPD_SERVER_STRINGS_H_
