#ifndef ACPD_ACP_TEXT_FORMATS_H_
#define ACPD_ACP_TEXT_FORMATS_H_

#include <string_view>

// What JSON Schema can ask of a string. No threads.
namespace acpd::acp {

// Whether `text` has JSON Schema's format `format`: email, uri, date or date-time. True for formats
// that are not known.
bool FitsFormat(std::string_view text, std::string_view format);
// How a person is told of it ("an e-mail address"); empty for formats that are not known.
std::string_view ShownFormat(std::string_view format);

// Whether `pattern` is found in `text`. True where this is not checked, so that the loop is not
// held up and nobody is wronged: RE2 does not know the pattern (it has no look-ahead), or it or the
// text is long. The agent checks again.
bool FitsPattern(std::string_view text, std::string_view pattern);
inline constexpr size_t kMaxCheckedPattern = 512;
inline constexpr size_t kMaxCheckedText = 1024;

}  // namespace acpd::acp

#endif  // ACPD_ACP_TEXT_FORMATS_H_
