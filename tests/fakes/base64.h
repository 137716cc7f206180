#ifndef ACPD_TESTS_FAKES_BASE64_H_
#define ACPD_TESTS_FAKES_BASE64_H_

#include <string>

namespace acpd::fakes {

// The bytes behind standard base64; other characters than its alphabet (padding, newlines) are
// skipped.
std::string DecodeBase64(const std::string& text);

}  // namespace acpd::fakes

#endif  // ACPD_TESTS_FAKES_BASE64_H_
