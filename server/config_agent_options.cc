#include "server/config_agent_options.h"

#include <algorithm>

#include "server/config_values.h"
#include "server/strings.h"

namespace acpd::server {
namespace {

using session::AgentDefinition;
using session::PermissionRule;

constexpr size_t kMaxConfigOptions = 64;

// One entry of auth_by_variable.
struct KeyLogin {
  std::string variable, method;
};

const std::vector<Key<KeyLogin>>& KeyLoginKeys() {
  static const auto& keys = *new std::vector<Key<KeyLogin>>{
      {"variable", KeyType::kText, &KeyLogin::variable},
      {"method", KeyType::kText, &KeyLogin::method},
  };
  return keys;
}

absl::Status ReadKeyLogin(const JsonNode& node, const std::string& path, KeyLogin* out) {
  if (absl::Status read = ReadObject(KeyLoginKeys(), node, path, out); !read.ok()) return read;
  if (out->variable.empty()) {
    return ErrorAt(node.line, path,
                   "expected a \"variable\": the environment variable that has the agent's key");
  }
  if (!IsVariableName(out->variable)) {
    return Expected(*node.Find("variable"), Join(path, "variable"),
                    "the name of an environment variable");
  }
  if (!out->method.empty()) return absl::OkStatus();
  return ErrorAt(node.line, path,
                 "expected a \"method\": the agent's own id of the login (ACP authMethods) that "
                 "takes its key from that variable");
}

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

// An agent may have several methods for one variable: a list, and not an object of them.
absl::Status ReadAuthByVariable(const JsonNode& node, const std::string& path,
                                AgentDefinition* out) {
  if (node.kind != JsonNode::Kind::kArray) {
    return Expected(node, path,
                    "a list of logins, [ { \"variable\": \"NAME\", \"method\": \"ID\" } ]");
  }
  out->auth_by_variable.clear();
  for (size_t i = 0; i < node.items.size(); ++i) {
    const std::string item_path = Cat(path, "[", i, "]");
    KeyLogin login;
    if (absl::Status read = ReadKeyLogin(node.items[i], item_path, &login); !read.ok()) return read;
    const std::pair<std::string, std::string> pair(login.variable, login.method);
    const auto& known = out->auth_by_variable;
    if (std::find(known.begin(), known.end(), pair) != known.end()) {
      return ErrorAt(node.items[i].line, item_path,
                     Cat("expected each login once; \"", login.method, "\" by ", login.variable,
                         " stands before it already"));
    }
    out->auth_by_variable.push_back(pair);
  }
  return absl::OkStatus();
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
