#include "server/config_values.h"

#include "server/durations.h"
#include "server/edit_distance.h"
#include "server/strings.h"

namespace acpd::server {

absl::Status ErrorAt(int line, std::string_view path, std::string_view what) {
  return absl::InvalidArgumentError(Cat(line, ": ", path, path.empty() ? "" : ": ", what));
}

absl::Status ErrorAt(int line, std::string_view path, const absl::Status& what) {
  return ErrorAt(line, path, Cat(what.message()));
}

absl::Status Expected(const JsonNode& node, std::string_view path, std::string_view expectation) {
  return ErrorAt(node.line, path, Cat("expected ", expectation, ", got ", Describe(node)));
}

absl::Status UnknownKey(const JsonNode& node, std::string_view path,
                        const std::vector<std::string_view>& known) {
  return ErrorAt(node.key_line, path,
                 Cat("unknown key \"", node.key, "\"; the nearest known key is \"",
                     Nearest(node.key, known), "\""));
}

absl::Status ExpectedChoice(const JsonNode& node, std::string_view path,
                            const std::vector<std::string_view>& names) {
  return Expected(node, path, Cat("one of \"", JoinStrings(names, "\", \""), "\""));
}

std::string Join(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : Cat(path, ".", key);
}

bool IsVariableName(std::string_view name) {
  return !name.empty() && name.find('=') == name.npos && name.find('\0') == name.npos;
}

absl::Status ReadBool(const JsonNode& node, const std::string& path, bool* out) {
  if (node.kind != JsonNode::Kind::kBool) return Expected(node, path, "true or false");
  *out = node.boolean;
  return absl::OkStatus();
}

absl::Status ReadText(const JsonNode& node, const std::string& path, TextKind kind,
                      std::string* out) {
  if (node.kind != JsonNode::Kind::kString) return Expected(node, path, "a string");
  if (node.text.empty()) return Expected(node, path, "a string that is not empty");
  if (node.text.find('\0') != node.text.npos)
    return ErrorAt(node.line, path, "expected a string without NUL bytes");
  absl::StatusOr<std::string> text = ExpandConfigText(node.text, kind);
  if (!text.ok()) return ErrorAt(node.line, path, text.status());
  *out = *std::move(text);
  return absl::OkStatus();
}

absl::Status ReadPath(const JsonNode& node, const std::string& path, std::string* out) {
  if (absl::Status read = ReadText(node, path, TextKind::kPlain, out); !read.ok()) return read;
  if (!out->starts_with('/')) return Expected(node, path, "an absolute path");
  while (out->size() > 1 && out->ends_with('/')) out->pop_back();
  return absl::OkStatus();
}

absl::Status ReadDuration(const JsonNode& node, const std::string& path, int64_t min, int64_t max,
                          std::chrono::milliseconds* out) {
  using std::chrono::milliseconds;
  std::optional<milliseconds> value;
  if (node.kind == JsonNode::Kind::kString) value = ParseDuration(node.text);
  if (!value) {
    return Expected(
        node, path,
        "a duration such as \"500ms\", \"10s\", \"5m\" or \"1h\" (in quotes, a whole number)");
  }
  if (value->count() < min || value->count() > max) {
    return Expected(node, path,
                    Cat("a duration from ", FormatDuration(milliseconds(min)), " to ",
                        FormatDuration(milliseconds(max))));
  }
  *out = *value;
  return absl::OkStatus();
}

absl::Status ReadCount(const JsonNode& node, const std::string& path, int64_t min, int64_t max,
                       size_t* out) {
  if (node.kind != JsonNode::Kind::kInteger || node.integer < min || node.integer > max) {
    return Expected(node, path, Cat("a whole number from ", min, " to ", max));
  }
  *out = node.integer;
  return absl::OkStatus();
}

absl::Status ReadSize(const JsonNode& node, const std::string& path, int64_t min, int64_t max,
                      size_t* out) {
  std::optional<int64_t> value;
  if (node.kind == JsonNode::Kind::kString) value = ParseSize(node.text);
  if (node.kind == JsonNode::Kind::kInteger) value = node.integer;
  if (!value)
    return Expected(node, path, "a size such as \"64KiB\", \"3MiB\" or a number of bytes");
  if (*value < min || *value > max) {
    return Expected(node, path, Cat("a size from ", FormatSize(min), " to ", FormatSize(max)));
  }
  *out = *value;
  return absl::OkStatus();
}

absl::Status ReadList(const JsonNode& node, const std::string& path, KeyType type,
                      std::vector<std::string>* out) {
  if (node.kind != JsonNode::Kind::kArray) return Expected(node, path, "a list of strings [ ... ]");
  out->clear();
  for (size_t i = 0; i < node.items.size(); ++i) {
    const JsonNode& item = node.items[i];
    const std::string item_path = Cat(path, "[", i, "]");
    std::string text;
    absl::Status read;
    if (type == KeyType::kPathList) {
      read = ReadPath(item, item_path, &text);
    } else if (type == KeyType::kTextList || item.kind != JsonNode::Kind::kString ||
               !item.text.empty()) {
      read =
          ReadText(item, item_path,
                   type == KeyType::kTemplateList ? TextKind::kTemplate : TextKind::kPlain, &text);
    }  // else: an empty argument is one too
    if (!read.ok()) return read;
    out->push_back(std::move(text));
  }
  return absl::OkStatus();
}

}  // namespace acpd::server
