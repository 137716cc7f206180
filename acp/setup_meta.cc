#include "acp/setup_meta.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <optional>

#include "acp/json_grammar.h"

namespace acpd::acp {
namespace {

struct Refusal {
  std::string_view member;
  std::string_view instead;
};

constexpr Refusal kRefusedRoots[] = {
    {"systemPrompt", "use `system_prompt`"},
    {"additionalRoots", "use `additional_directories`"},
    {"traceparent", "send it as metadata of the call"},
    {"tracestate", "send it as metadata of the call"},
    {"baggage", "send it as metadata of the call"},
};

// Of the options of Claude's SDK those that neither choose a session, nor start a program, nor name
// a file or a folder, nor answer a permission in general.
constexpr std::string_view kAllowedOptions[] = {
    "agent",
    "agentProgressSummaries",
    "agents",
    "allowedTools",
    "betas",
    "disallowedTools",
    "effort",
    "fallbackModel",
    "forwardSubagentText",
    "includePartialMessages",
    "maxBudgetUsd",
    "maxThinkingTokens",
    "maxTurns",
    "model",
    "outputFormat",
    "planModeInstructions",
    "promptSuggestions",
    "settingSources",
    "skills",
    "taskBudget",
    "thinking",
    "title",
    "toolConfig",
    "tools",
};

// The more usual ones of the others.
constexpr Refusal kRefusedOptions[] = {
    {"additionalDirectories", "use `additional_directories`"},
    {"allowDangerouslySkipPermissions", "use `permission_mode`"},
    {"continue", "name the session in the call"},
    {"cwd", "use `cwd`"},
    {"env", "use `model_provider`, or `env` in the agent's configuration"},
    {"executable", "use `command` in the agent's configuration"},
    {"extraArgs", "use `args` in the agent's configuration"},
    {"forkSession", "use ForkSession"},
    {"mcpServers", "use `mcp_servers`"},
    {"pathToClaudeCodeExecutable", "use `command` in the agent's configuration"},
    {"permissionMode", "use `permission_mode`"},
    {"permissionPromptToolName", "use `permission_mode`"},
    {"resume", "name the session in the call"},
    {"resumeSessionAt", "use ForkSession"},
    {"sessionId", "name the session in the call"},
    {"systemPrompt", "use `system_prompt`"},
};

// Agents that the caller defines: their other members start programs (mcpServers, hooks) or change
// how permissions are asked for.
constexpr std::string_view kAllowedOfAgent[] = {
    "background", "description", "disallowedTools", "effort", "maxTurns",
    "model",      "prompt",      "skills",          "tools",
};

template <typename Table>
bool Has(const Table& table, std::string_view name) {
  return std::find(std::begin(table), std::end(table), name) != std::end(table);
}

template <typename Table>
std::string_view InsteadOf(const Table& table, std::string_view name) {
  for (const Refusal& refusal : table) {
    if (refusal.member == name) return refusal.instead;
  }
  return {};
}

std::string Joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

absl::Status Refused(std::initializer_list<std::string_view> parts) {
  return absl::InvalidArgumentError(Joined(parts));
}

template <typename Table>
std::string ListOf(const Table& names) {
  std::string list;
  for (const std::string_view name : names) {
    if (!list.empty()) list += ", ";
    list += name;
  }
  return list;
}

// A name that a caller chose, as it may stand in a sentence.
std::string Shown(const std::string& name) { return LineOf(name.substr(0, 64)); }

absl::Status CheckAgents(const LineJson& agents) {
  if (!agents.is_object()) {
    return Refused({"`claudeCode.options.agents` of `meta_json` has to be an object."});
  }
  for (const auto& agent : agents.items()) {
    if (!agent.value().is_object()) {
      return Refused(
          {"Each member of `claudeCode.options.agents` of `meta_json` has to be an "
           "object."});
    }
    for (const auto& member : agent.value().items()) {
      if (Has(kAllowedOfAgent, member.key())) continue;
      return Refused({"`meta_json` may not have ", Shown(member.key()),
                      " in an agent of `claudeCode.options.agents`. These pass: ",
                      ListOf(kAllowedOfAgent), "."});
    }
  }
  return absl::OkStatus();
}

absl::Status CheckOptions(const LineJson& options) {
  if (!options.is_object()) {
    return Refused({"`claudeCode.options` of `meta_json` has to be an object."});
  }
  for (const auto& option : options.items()) {
    if (Has(kAllowedOptions, option.key())) continue;
    if (const std::string_view instead = InsteadOf(kRefusedOptions, option.key());
        !instead.empty()) {
      return Refused(
          {"`meta_json` may not have `claudeCode.options.", option.key(), "`: ", instead, "."});
    }
    return Refused({"`meta_json` may not have ", Shown(option.key()),
                    " in `claudeCode.options`. These pass: ", ListOf(kAllowedOptions), "."});
  }
  const auto agents = options.find("agents");
  return agents == options.end() ? absl::OkStatus() : CheckAgents(*agents);
}

// What goes deeper, some agents do not read (Rust's serde_json takes 128 levels in all).
constexpr size_t kMaxMetaDepth = 64;
constexpr size_t kGrammarPadding = 64;  // of JsonGrammar

std::optional<LineJson> ParseMeta(std::string_view json) {
  std::string padded(json);
  padded.append(kGrammarPadding, ' ');
  const std::string_view text = std::string_view(padded).substr(0, json.size());
  if (JsonGrammar(kMaxMetaDepth).Check(text) != JsonGrammar::Verdict::kObject) return std::nullopt;
  // A LineJson would search its members for each one that it is given: thousands of them are slow.
  const auto meta = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  return meta.is_object() ? std::optional<LineJson>(meta) : std::nullopt;
}

absl::Status CheckMembers(const LineJson& meta) {
  for (const auto& member : meta.items()) {
    const std::string_view instead = InsteadOf(kRefusedRoots, member.key());
    if (instead.empty()) continue;
    return Refused({"`meta_json` may not have `", member.key(), "`: ", instead, "."});
  }
  const auto claude = meta.find("claudeCode");
  if (claude == meta.end()) return absl::OkStatus();
  if (!claude->is_object()) {
    return Refused({"`claudeCode` of `meta_json` has to be an object."});
  }
  const auto options = claude->find("options");
  return options == claude->end() ? absl::OkStatus() : CheckOptions(*options);
}

}  // namespace

absl::Status CheckSetupMeta(std::string_view meta_json) {
  const std::optional<LineJson> meta = ParseMeta(meta_json);
  if (meta) return CheckMembers(*meta);
  return Refused({"`meta_json` has to be a JSON object of at most 64 levels, in UTF-8."});
}

LineJson SetupMeta(const SessionSetup& setup) {
  LineJson meta = ParseMeta(setup.meta_json).value_or(LineJson::object());
  // An older acpd may have stored it, whose rules were others.
  if (!CheckMembers(meta).ok()) meta = LineJson::object();
  if (!setup.system_prompt.empty()) meta["systemPrompt"] = {{"append", setup.system_prompt}};
  AddTrace(setup.trace, meta);
  return meta;
}

LineJson NewSessionMeta(const SessionSetup& setup) {
  LineJson meta = SetupMeta(setup);
  if (!setup.meta_resume_id.empty()) meta["claudeCode"]["options"]["resume"] = setup.meta_resume_id;
  return meta;
}

}  // namespace acpd::acp
