#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "session/errors.h"
#include "session/launch.h"

// The `${...}` of an agent's command, args and env: ExpandTemplate and CheckTemplate of launch.h.
namespace acpd::session {
namespace {

// A piece of a template: text as it stands, or a name whose value is put in.
struct Piece {
  bool is_name = false;
  std::string text;
};

// nullopt: a `${` without its `}`.
std::optional<std::vector<Piece>> Split(std::string_view text) {
  std::vector<Piece> pieces;
  std::string literal;
  while (!text.empty()) {
    if (text.starts_with("$$")) {
      literal.push_back('$');
      text.remove_prefix(2);
    } else if (text.starts_with("${")) {
      const size_t end = text.find('}');
      if (end == std::string_view::npos) return std::nullopt;
      pieces.push_back({false, std::move(literal)});
      literal.clear();
      pieces.push_back({true, std::string(text.substr(2, end - 2))});
      text.remove_prefix(end + 1);
    } else {
      literal.push_back(text[0]);
      text.remove_prefix(1);
    }
  }
  pieces.push_back({false, std::move(literal)});
  return pieces;
}

struct FieldRow {
  std::string_view name;
  const std::string& (*value)(const LaunchContext& context);
};

constexpr FieldRow kFields[] = {
    {"project_id", [](const LaunchContext& c) -> const std::string& { return c.project_id; }},
    {"cwd", [](const LaunchContext& c) -> const std::string& { return c.cwd; }},
    {"model.api_key", [](const LaunchContext& c) -> const std::string& { return c.model.api_key; }},
    {"model.base_url",
     [](const LaunchContext& c) -> const std::string& { return c.model.base_url; }},
    {"model.model", [](const LaunchContext& c) -> const std::string& { return c.model.model; }},
    {"model.provider",
     [](const LaunchContext& c) -> const std::string& { return c.model.provider; }},
};

constexpr std::string_view kOptionPrefix = "model.options.";
constexpr std::string_view kSecretPrefix = "secret:";
// Replaced when the config is read: known here, but without a value.
constexpr std::string_view kEnvPrefix = "env:";
constexpr std::string_view kFilePrefix = "file:";

const std::string* Lookup(const std::map<std::string, std::string>& map, std::string_view key) {
  const auto found = map.find(std::string(key));
  return found == map.end() ? nullptr : &found->second;
}

// nullptr: there is no such value.
const std::string* ValueOf(std::string_view name, const LaunchContext& context) {
  for (const FieldRow& row : kFields) {
    if (row.name == name) return &row.value(context);
  }
  if (name.starts_with(kOptionPrefix)) {
    return Lookup(context.model.options, name.substr(kOptionPrefix.size()));
  }
  if (name.starts_with(kSecretPrefix) && context.secrets != nullptr) {
    return Lookup(*context.secrets, name.substr(kSecretPrefix.size()));
  }
  return nullptr;
}

bool IsKnownName(std::string_view name) {
  for (const FieldRow& row : kFields) {
    if (row.name == name) return true;
  }
  for (const std::string_view prefix : {kOptionPrefix, kSecretPrefix, kEnvPrefix, kFilePrefix}) {
    if (name.starts_with(prefix)) return name.size() > prefix.size();
  }
  return false;
}

}  // namespace

std::optional<std::string> ExpandTemplate(const std::string& text, const LaunchContext& context) {
  const auto pieces = Split(text);
  if (!pieces) return std::nullopt;
  std::string out;
  for (const Piece& piece : *pieces) {
    if (!piece.is_name) {
      out += piece.text;
      continue;
    }
    const std::string* value = ValueOf(piece.text, context);
    if (value == nullptr || value->empty()) return std::nullopt;
    out += *value;
  }
  return out;
}

absl::Status CheckTemplate(const std::string& text) {
  const auto pieces = Split(text);
  if (!pieces) {
    return MakeError("INVALID_REQUEST",
                     "\"" + text + "\" has a ${ without its }; write $$ where a dollar is meant.");
  }
  for (const Piece& piece : *pieces) {
    if (!piece.is_name || IsKnownName(piece.text)) continue;
    return MakeError("INVALID_REQUEST",
                     "${" + piece.text +
                         "} is not known; known are ${env:NAME}, ${file:PATH}, "
                         "${secret:NAME}, ${model.api_key}, ${model.base_url}, ${model.model}, "
                         "${model.provider}, ${model.options.NAME}, ${project_id} and ${cwd}.");
  }
  return absl::OkStatus();
}

}  // namespace acpd::session
