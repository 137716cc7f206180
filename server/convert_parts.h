#ifndef ACPD_SERVER_CONVERT_PARTS_H_
#define ACPD_SERVER_CONVERT_PARTS_H_

#include <string>
#include <string_view>

#include "acp/text.h"
#include "server/convert.h"

// What server/convert_*.cc and server/codec_*.cc share. Pure functions.
namespace acpd::server {

// The enums have the same numbers (server/enum_numbers.cc).
template <class Proto, class Domain>
Proto Cast(Domain value) {
  return static_cast<Proto>(value);
}

inline std::string Cut(std::string_view text, size_t max) {
  return std::string(CutText(text, max));
}
inline std::string Word(std::string_view text) { return Cut(text, kMaxWord); }
inline std::string Sentence(std::string_view text) { return Cut(text, kMaxSentence); }

// The same into a string that keeps its buffer.
inline void Assign(std::string_view from, std::string* to) { to->assign(from.data(), from.size()); }
inline void AssignWord(std::string_view from, std::string* to) {
  Assign(CutText(from, kMaxWord), to);
}
inline void AssignSentence(std::string_view from, std::string* to) {
  Assign(CutText(from, kMaxSentence), to);
}

// Whether a list's last entry still fits behind the others; else it is taken off again.
template <class Repeated>
bool Fits(Repeated* list, size_t max, size_t& bytes) {
  bytes += list->rbegin()->ByteSizeLong();
  if (bytes <= max) return true;
  list->RemoveLast();
  return false;
}

}  // namespace acpd::server

#endif  // ACPD_SERVER_CONVERT_PARTS_H_
