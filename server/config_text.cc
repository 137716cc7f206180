#include "server/config_text.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_replace.h"
#include "server/files.h"
#include "server/strings.h"
#include "session/launch.h"

namespace acpd::server {
namespace {

constexpr size_t kMaxFile = 64 << 10;

absl::StatusOr<std::string> ReadEnv(std::string_view name) {
  const char* value = getenv(std::string(name).c_str());
  if (value == nullptr || *value == '\0') {
    return absl::NotFoundError(Cat("the environment variable ", name, " is not set"));
  }
  return value;
}

absl::StatusOr<std::string> ReadSecretFile(std::string_view path) {
  if (!path.starts_with("/")) {
    return absl::InvalidArgumentError(Cat("${file:", path, "} needs an absolute path"));
  }
  absl::StatusOr<std::string> text = ReadFile(std::string(path), kMaxFile);
  if (!text.ok()) return text.status();
  while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
  if (text->empty()) return absl::NotFoundError(Cat("the file ", path, " is empty"));
  if (text->find('\0') != text->npos) {
    return absl::InvalidArgumentError(Cat("the file ", path, " holds a NUL byte"));
  }
  return text;
}

// The value of what stands between the braces, or the template itself when it is not ours to
// replace.
absl::StatusOr<std::string> ExpandOne(std::string_view name, TextKind kind) {
  absl::StatusOr<std::string> value;
  std::string_view rest = name;
  if (ConsumePrefix(&rest, "env:")) {
    value = ReadEnv(rest);
  } else if (ConsumePrefix(&rest, "file:")) {
    value = ReadSecretFile(rest);
  } else if (kind == TextKind::kTemplate) {
    return Cat("${", name, "}");
  } else {
    return absl::InvalidArgumentError(
        Cat("${", name, "} has no value here: only ${env:NAME} and ${file:PATH} have"));
  }
  if (value.ok() && kind == TextKind::kTemplate) absl::StrReplaceAll({{"$", "$$"}}, &*value);
  return value;
}

}  // namespace

absl::StatusOr<std::string> ExpandConfigText(std::string_view text, TextKind kind) {
  std::string out;
  while (!text.empty()) {
    const size_t dollar = text.find('$');
    out.append(text.substr(0, dollar));
    if (dollar == text.npos) break;
    text.remove_prefix(dollar);
    if (ConsumePrefix(&text, "$$")) {
      out.append(kind == TextKind::kTemplate ? "$$" : "$");
    } else if (ConsumePrefix(&text, "${")) {
      const size_t end = text.find('}');
      if (end == text.npos) {
        return absl::InvalidArgumentError(
            "a template that begins with ${ does not end; a dollar sign is written $$");
      }
      const absl::StatusOr<std::string> value = ExpandOne(text.substr(0, end), kind);
      if (!value.ok()) return value.status();
      out.append(*value);
      text.remove_prefix(end + 1);
    } else {
      out.push_back('$');
      text.remove_prefix(1);
    }
  }
  if (kind == TextKind::kTemplate) {
    if (const absl::Status good = session::CheckTemplate(out); !good.ok()) return good;
  }
  return out;
}

}  // namespace acpd::server
