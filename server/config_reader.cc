#include "server/config_reader.h"

#include "acp/text.h"
#include "server/config_values.h"
#include "server/files.h"
#include "server/strings.h"

namespace acpd::server {
namespace {

constexpr size_t kMaxConfig = 4 << 20;
constexpr size_t kMaxErrorText = 1000;

// Agents may stand behind it in the file, so it is looked at when all is read.
absl::Status CheckDefaultAgent(const JsonNode& root, const DaemonConfig& config) {
  const JsonNode* node = root.Find("default_agent");
  if (node == nullptr || config.Find(config.default_agent) != nullptr) return absl::OkStatus();
  std::vector<std::string> names;
  for (const session::AgentDefinition& agent : config.agents) names.push_back(agent.name);
  return Expected(*node, node->key, Cat("one of the agents (", JoinStrings(names, ", "), ")"));
}

absl::Status ReadWholeText(std::string_view text, DaemonConfig* config) {
  const absl::StatusOr<JsonNode> root = ParseJsonWithLines(text);
  if (!root.ok()) return root.status();
  if (absl::Status read = ReadObject(TopKeys(), *root, "", config); !read.ok()) return read;
  return CheckDefaultAgent(*root, *config);
}

}  // namespace

absl::Status OneLine(const absl::Status& status) {
  return absl::Status(status.code(), ShownText(Cat(status.message()), kMaxErrorText));
}

absl::Status ReadConfig(std::string_view text, DaemonConfig* config) {
  return OneLine(ReadWholeText(text, config));
}

absl::Status ReadConfigFile(const std::string& path, DaemonConfig* config) {
  const absl::StatusOr<std::string> text = ReadFile(path, kMaxConfig);
  if (!text.ok()) return absl::InvalidArgumentError(text.status().message());
  const absl::Status read = ReadConfig(*text, config);
  if (read.ok()) return read;
  return absl::InvalidArgumentError(Cat(path, ":", read.message()));
}

}  // namespace acpd::server
