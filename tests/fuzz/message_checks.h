#ifndef ACPD_TESTS_FUZZ_MESSAGE_CHECKS_H_
#define ACPD_TESTS_FUZZ_MESSAGE_CHECKS_H_

#include <cstdint>
#include <string_view>

#include "acp/message.h"

namespace acpd::fuzz {

// Holds what the parser and the readers make of a line against what acp/message.h and acp/types.h
// promise, and against a second JSON library. One for the lines of a connection, as the parser is.
class MessageChecks {
 public:
  explicit MessageChecks(size_t max_depth) : max_depth_(max_depth), parser_(max_depth) {}

  void Line(std::string_view line, uint8_t seed);

 private:
  size_t max_depth_;
  acp::MessageParser parser_;
};

}  // namespace acpd::fuzz

#endif  // ACPD_TESTS_FUZZ_MESSAGE_CHECKS_H_
