#ifndef ACPD_SERVER_CONFIG_VALUES_H_
#define ACPD_SERVER_CONFIG_VALUES_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/config_keys.h"
#include "server/config_text.h"
#include "server/json_position.h"

// Reads values of the config file into fields, as the tables of server/config_keys.h say. Every
// error is INVALID_ARGUMENT with "LINE: KEY: what was expected, and what stands there".
namespace acpd::server {

absl::Status ErrorAt(int line, std::string_view path, std::string_view what);
absl::Status ErrorAt(int line, std::string_view path, const absl::Status& what);
absl::Status Expected(const JsonNode& node, std::string_view path, std::string_view expectation);
// Names the key, its line and the nearest of `known`.
absl::Status UnknownKey(const JsonNode& node, std::string_view path,
                        const std::vector<std::string_view>& known);
std::string Join(std::string_view path, std::string_view key);
// A name that execve can carry: not empty, no `=`.
bool IsVariableName(std::string_view name);

absl::Status ReadBool(const JsonNode& node, const std::string& path, bool* out);
absl::Status ReadText(const JsonNode& node, const std::string& path, TextKind kind,
                      std::string* out);
absl::Status ReadPath(const JsonNode& node, const std::string& path, std::string* out);
absl::Status ReadDuration(const JsonNode& node, const std::string& path, int64_t min, int64_t max,
                          std::chrono::milliseconds* out);
absl::Status ReadCount(const JsonNode& node, const std::string& path, int64_t min, int64_t max,
                       size_t* out);
absl::Status ReadSize(const JsonNode& node, const std::string& path, int64_t min, int64_t max,
                      size_t* out);
// `type` is one of the list types.
absl::Status ReadList(const JsonNode& node, const std::string& path, KeyType type,
                      std::vector<std::string>* out);
// One of the named values.
template <class T>
absl::Status ReadChoice(const JsonNode& node, const std::string& path,
                        const std::vector<std::pair<std::string_view, T>>& choices, T* out);

// Reads every member of an object by its row in `keys`.
template <class T>
absl::Status ReadObject(const std::vector<Key<T>>& keys, const JsonNode& node,
                        const std::string& path, T* out);

// ---- templates

absl::Status ExpectedChoice(const JsonNode& node, std::string_view path,
                            const std::vector<std::string_view>& names);

template <class T>
absl::Status ReadChoice(const JsonNode& node, const std::string& path,
                        const std::vector<std::pair<std::string_view, T>>& choices, T* out) {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : choices) {
    names.push_back(name);
    if (node.kind != JsonNode::Kind::kString || node.text != name) continue;
    *out = value;
    return absl::OkStatus();
  }
  return ExpectedChoice(node, path, names);
}

template <class T>
absl::Status ReadValue(const Key<T>& key, const JsonNode& node, const std::string& path, T* out) {
  using TextMember = std::string T::*;
  using ListMember = std::vector<std::string> T::*;
  using SizeMember = size_t T::*;
  switch (key.type) {
    case KeyType::kBool:
      return ReadBool(node, path, &(out->*std::get<bool T::*>(key.target)));
    case KeyType::kText:
      return ReadText(node, path, TextKind::kPlain, &(out->*std::get<TextMember>(key.target)));
    case KeyType::kTemplate:
      return ReadText(node, path, TextKind::kTemplate, &(out->*std::get<TextMember>(key.target)));
    case KeyType::kPath:
      return ReadPath(node, path, &(out->*std::get<TextMember>(key.target)));
    case KeyType::kTextList:
    case KeyType::kPathList:
    case KeyType::kTemplateList:
      return ReadList(node, path, key.type, &(out->*std::get<ListMember>(key.target)));
    case KeyType::kCount:
      return ReadCount(node, path, key.min, key.max, &(out->*std::get<SizeMember>(key.target)));
    case KeyType::kSize:
      return ReadSize(node, path, key.min, key.max, &(out->*std::get<SizeMember>(key.target)));
    case KeyType::kDuration:
      return ReadDuration(node, path, key.min, key.max,
                          &(out->*std::get<std::chrono::milliseconds T::*>(key.target)));
    case KeyType::kCustom:
      return std::get<ReadCustom<T>>(key.target)(node, path, out);
  }
  return absl::InternalError("a key without a type");
}

template <class T>
absl::Status ReadObject(const std::vector<Key<T>>& keys, const JsonNode& node,
                        const std::string& path, T* out) {
  if (node.kind != JsonNode::Kind::kObject) return Expected(node, path, "an object { ... }");
  for (const JsonNode& item : node.items) {
    const Key<T>* found = nullptr;
    std::vector<std::string_view> known;
    for (const Key<T>& key : keys) {
      known.push_back(key.name);
      if (key.name == item.key) found = &key;
    }
    if (found == nullptr) return UnknownKey(item, path, known);
    if (absl::Status read = ReadValue(*found, item, Join(path, item.key), out); !read.ok())
      return read;
  }
  return absl::OkStatus();
}

}  // namespace acpd::server

#endif  // ACPD_SERVER_CONFIG_VALUES_H_
