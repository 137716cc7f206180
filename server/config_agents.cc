#include "server/config_agents.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "server/config_values.h"
#include "server/strings.h"
#include "session/builtin_agents.h"

namespace acpd::server {
namespace {

using session::AgentDefinition;
using session::BuiltinAgent;

bool IsAgentName(std::string_view name) {
  const auto allowed = [](char c) {
    return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-';
  };
  return !name.empty() && absl::ascii_isalnum(name[0]) &&
         std::all_of(name.begin(), name.end(), allowed);
}

std::string BuiltinNames() {
  std::vector<std::string_view> names;
  for (const BuiltinAgent& agent : session::BuiltinAgents()) names.push_back(agent.name);
  return JoinStrings(names, ", ");
}

// The settings of the built-in that the command itself names; not its args: those stand beside the
// command or are not wanted.
AgentDefinition DefinitionForCommand(const JsonNode& command, const JsonNode* args) {
  std::vector<std::string> words;
  if (args != nullptr) {
    for (const JsonNode& item : args->items) words.push_back(item.text);
  }
  AgentDefinition agent;
  agent.resume = session::DefaultResumeOrder();
  const BuiltinAgent* builtin = session::BuiltinForCommand(command.text, words);
  if (builtin != nullptr) agent = session::MakeDefinition(*builtin);
  agent.args.clear();
  return agent;
}

// What the agent's own keys are read over. They were found good.
absl::StatusOr<AgentDefinition> BaseDefinition(const JsonNode& node, const std::string& path) {
  const JsonNode* extends = node.Find("extends");
  const JsonNode* command = node.Find("command");
  if (extends != nullptr) return session::MakeDefinition(*session::FindBuiltin(extends->text));
  if (command != nullptr) return DefinitionForCommand(*command, node.Find("args"));
  return ErrorAt(
      node.key_line, path,
      Cat("expected \"command\", or \"extends\" with a built-in agent (", BuiltinNames(), ")"));
}

absl::Status ReadAgent(const JsonNode& node, const std::string& path, AgentDefinition* out) {
  if (node.kind != JsonNode::Kind::kObject) return Expected(node, path, "an object { ... }");
  // An unknown key first: it may be the misspelt `command`.
  AgentDefinition scratch;
  if (absl::Status read = ReadObject(AgentKeys(), node, path, &scratch); !read.ok()) return read;
  absl::StatusOr<AgentDefinition> base = BaseDefinition(node, path);
  if (!base.ok()) return base.status();
  *out = *std::move(base);
  out->name = node.key;
  return ReadObject(AgentKeys(), node, path, out);
}

}  // namespace

absl::Status ReadAgents(const JsonNode& node, const std::string& path, DaemonConfig* out) {
  if (node.kind != JsonNode::Kind::kObject || node.items.empty()) {
    return Expected(node, path,
                    "an object of at least one agent, { \"NAME\": { \"command\": ... } }");
  }
  out->agents.clear();
  for (const JsonNode& item : node.items) {
    if (!IsAgentName(item.key)) {
      return ErrorAt(
          item.key_line, path,
          Cat("expected an agent name of letters, digits, \".\", \"_\" and \"-\", got \"", item.key,
              "\""));
    }
    absl::Status read = ReadAgent(item, Join(path, item.key), &out->agents.emplace_back());
    if (!read.ok()) return read;
  }
  return absl::OkStatus();
}

absl::Status ReadAgentEnv(const JsonNode& node, const std::string& path, AgentDefinition* out) {
  if (node.kind != JsonNode::Kind::kObject)
    return Expected(node, path, "an object of variables and their values");
  for (const JsonNode& item : node.items) {
    const std::string item_path = Join(path, item.key);
    if (!IsVariableName(item.key))
      return ErrorAt(item.key_line, path, "expected the name of a variable");
    // What stands here may be a key and is never repeated in a message.
    if (item.kind != JsonNode::Kind::kString)
      return ErrorAt(item.line, item_path, "expected a string");
    if (item.text.find('\0') != item.text.npos)
      return ErrorAt(item.line, item_path, "expected a string without NUL bytes");
    absl::StatusOr<std::string> value = ExpandConfigText(item.text, TextKind::kTemplate);
    if (absl::IsNotFound(value.status()))
      continue;  // an empty key breaks logins that would work without one
    if (!value.ok()) return ErrorAt(item.line, item_path, value.status());
    const auto same = [&item](const auto& pair) { return pair.first == item.key; };
    const auto found = std::find_if(out->env.begin(), out->env.end(), same);
    if (found == out->env.end()) {
      out->env.emplace_back(item.key, *std::move(value));
    } else {
      found->second = *std::move(value);
    }
  }
  return absl::OkStatus();
}

absl::Status ReadInheritEnv(const JsonNode& node, const std::string& path, AgentDefinition* out) {
  if (absl::Status read = ReadList(node, path, KeyType::kTextList, &out->inherit_env); !read.ok())
    return read;
  if (std::all_of(out->inherit_env.begin(), out->inherit_env.end(), IsVariableName))
    return absl::OkStatus();
  return Expected(node, path,
                  "names of environment variables (\"NAME\", or \"NAME*\" for all that begin so)");
}

absl::Status ReadExtends(const JsonNode& node, const std::string& path, AgentDefinition* out) {
  const BuiltinAgent* builtin = nullptr;
  if (node.kind == JsonNode::Kind::kString) builtin = session::FindBuiltin(node.text);
  if (builtin == nullptr)
    return Expected(node, path, Cat("a built-in agent (", BuiltinNames(), ")"));
  out->builtin = builtin->name;
  return absl::OkStatus();
}

absl::Status ReadResume(const JsonNode& node, const std::string& path, AgentDefinition* out) {
  using enum session::ResumeMethod;
  if (node.kind != JsonNode::Kind::kArray || node.items.empty()) {
    return Expected(
        node, path,
        "a list of \"meta\", \"session/resume\" and \"session/load\", in the order to try them");
  }
  out->resume.clear();
  for (size_t i = 0; i < node.items.size(); ++i) {
    const std::string item_path = Cat(path, "[", i, "]");
    session::ResumeMethod method = kUnspecified;
    absl::Status read = ReadChoice<session::ResumeMethod>(
        node.items[i], item_path,
        {{"meta", kMeta}, {"session/resume", kSessionResume}, {"session/load", kSessionLoad}},
        &method);
    if (!read.ok()) return read;
    if (std::find(out->resume.begin(), out->resume.end(), method) != out->resume.end()) {
      return Expected(node.items[i], item_path, "each method once");
    }
    out->resume.push_back(method);
  }
  return absl::OkStatus();
}

absl::Status ReadPermissionMode(const JsonNode& node, const std::string& path,
                                AgentDefinition* out) {
  using enum session::PermissionMode;
  return ReadChoice<session::PermissionMode>(
      node, path, {{"ask", kAsk}, {"allow", kAllow}, {"deny", kDeny}}, &out->permission_mode);
}

}  // namespace acpd::server
