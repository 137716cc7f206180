#ifndef ACPD_SERVER_JSON_POSITION_H_
#define ACPD_SERVER_JSON_POSITION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace acpd::server {

// A JSON value that knows the line it begins on, so that an error in a file that a person wrote can
// name it. Object members keep their order. A plain value.
struct JsonNode {
  enum class Kind { kNull, kBool, kInteger, kNumber, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  int line = 0;  // 1 is the first
  bool boolean = false;
  int64_t integer = 0;
  std::string text;  // of a string; of a number as it was written
  std::string key;   // of an object's member
  int key_line = 0;
  std::vector<JsonNode> items;  // of an array or object

  const JsonNode* Find(std::string_view name) const;
};

// What a value is, for messages: "a list", "the number 12", "the string \"x\"" (shortened).
std::string Describe(const JsonNode& node);

// Parses one JSON text with comments (`//` and `/* */`). INVALID_ARGUMENT with "LINE: what is
// wrong": bad grammar, bad UTF-8, a key that stands twice in its object, more than 32 levels.
absl::StatusOr<JsonNode> ParseJsonWithLines(std::string_view text);

}  // namespace acpd::server

#endif  // ACPD_SERVER_JSON_POSITION_H_
