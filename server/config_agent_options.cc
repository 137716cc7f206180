#include "server/config_agent_options.h"

#include "server/config_values.h"
#include "server/strings.h"

namespace acpd::server {
namespace {

using session::AgentDefinition;
using session::PermissionRule;

constexpr size_t kMaxConfigOptions = 64;

absl::Status ReadOptionValue(const JsonNode& node, const std::string& path, acp::OptionValue* out) {
  if (node.key.empty())
    return ErrorAt(node.key_line, path, "expected the id of an option that is not empty");
  out->config_id = node.key;
  if (node.kind == JsonNode::Kind::kBool) {
    out->is_boolean = true;
    out->boolean = node.boolean;
    return absl::OkStatus();
  }
  if (node.kind != JsonNode::Kind::kString) return Expected(node, path, "a string, true or false");
  return ReadText(node, path, TextKind::kPlain, &out->select);
}

absl::Status ReadToolKind(const JsonNode& node, const std::string& path, PermissionRule* out) {
  return ReadChoice<std::string>(node, path,
                                 {{"read", "read"},
                                  {"edit", "edit"},
                                  {"delete", "delete"},
                                  {"move", "move"},
                                  {"search", "search"},
                                  {"execute", "execute"},
                                  {"think", "think"},
                                  {"fetch", "fetch"},
                                  {"switch_mode", "switch_mode"},
                                  {"other", "other"}},
                                 &out->tool_kind);
}

absl::Status ReadDecision(const JsonNode& node, const std::string& path, PermissionRule* out) {
  using enum session::PermissionMode;
  return ReadChoice<session::PermissionMode>(
      node, path, {{"allow", kAllow}, {"deny", kDeny}, {"ask", kAsk}}, &out->mode);
}

const std::vector<Key<PermissionRule>>& RuleKeys() {
  static const auto& keys = *new std::vector<Key<PermissionRule>>{
      {"tool_kind", KeyType::kCustom, ReadToolKind},
      {"title", KeyType::kText, &PermissionRule::title},
      {"path", KeyType::kText, &PermissionRule::path},
      {"decision", KeyType::kCustom, ReadDecision},
  };
  return keys;
}

absl::Status ReadRule(const JsonNode& node, const std::string& path, PermissionRule* out) {
  if (absl::Status read = ReadObject(RuleKeys(), node, path, out); !read.ok()) return read;
  if (node.Find("decision") == nullptr)
    return ErrorAt(node.line, path, "expected a \"decision\": \"allow\", \"deny\" or \"ask\"");
  if (!out->tool_kind.empty() || !out->title.empty() || !out->path.empty()) return absl::OkStatus();
  return ErrorAt(node.line, path,
                 "expected a condition, \"tool_kind\", \"title\" or \"path\"; without any it is "
                 "what \"permission_mode\" is for");
}

}  // namespace

absl::Status ReadCapabilities(const JsonNode& node, const std::string& path, AgentDefinition* out) {
  return ReadObject(CapabilityKeys(), node, path, &out->capabilities);
}

absl::Status ReadConfigOptions(const JsonNode& node, const std::string& path,
                               AgentDefinition* out) {
  if (node.kind != JsonNode::Kind::kObject || node.items.size() > kMaxConfigOptions) {
    return Expected(node, path,
                    Cat("an object of at most ", kMaxConfigOptions,
                        " options and their values, { \"model\": \"NAME\" }"));
  }
  out->config_options.clear();
  for (const JsonNode& item : node.items) {
    absl::Status read =
        ReadOptionValue(item, Join(path, item.key), &out->config_options.emplace_back());
    if (!read.ok()) return read;
  }
  return absl::OkStatus();
}

absl::Status ReadPermissionRules(const JsonNode& node, const std::string& path,
                                 AgentDefinition* out) {
  if (node.kind != JsonNode::Kind::kArray) {
    return Expected(node, path,
                    "a list of rules, [ { \"tool_kind\": \"read\", \"decision\": \"allow\" } ]");
  }
  out->permission_rules.clear();
  for (size_t i = 0; i < node.items.size(); ++i) {
    absl::Status read =
        ReadRule(node.items[i], Cat(path, "[", i, "]"), &out->permission_rules.emplace_back());
    if (!read.ok()) return read;
  }
  return absl::OkStatus();
}

}  // namespace acpd::server
