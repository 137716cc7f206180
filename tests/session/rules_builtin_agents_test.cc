#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "session/builtin_agents.h"
#include "session/launch.h"

namespace acpd::session {
namespace {

using enum ResumeMethod;
using Args = std::vector<std::string>;

struct AgentRow {
  const char* name;
  const char* command;
  Args args;
  std::vector<ResumeMethod> resume;
  std::vector<std::pair<std::string, std::string>> env;
};

const std::vector<std::pair<std::string, std::string>> kClaudeEnv = {
    {"ANTHROPIC_API_KEY", "${model.api_key}"},
    {"ANTHROPIC_BASE_URL", "${model.base_url}"},
    {"ANTHROPIC_MODEL", "${model.model}"}};

const AgentRow kAgents[] = {
    {"claude-code-acp", "claude-code-acp", {}, {kMeta, kSessionResume, kSessionLoad}, kClaudeEnv},
    {"claude-agent-acp", "claude-agent-acp", {}, {kMeta, kSessionResume, kSessionLoad}, kClaudeEnv},
    {"codex-acp",
     "codex-acp",
     {},
     {kSessionResume, kSessionLoad},
     {{"OPENAI_API_KEY", "${model.api_key}"},
      {"CODEX_API_KEY", "${model.api_key}"},
      {"OPENAI_BASE_URL", "${model.base_url}"}}},
    {"gemini",
     "gemini",
     {"--acp"},
     {kSessionLoad},
     {{"GEMINI_API_KEY", "${model.api_key}"},
      {"GOOGLE_GEMINI_BASE_URL", "${model.base_url}"},
      {"GEMINI_MODEL", "${model.model}"}}},
    {"opencode", "opencode", {"acp"}, {kSessionResume, kSessionLoad}, {}},
    {"demo", "acpd-demo-agent", {}, {kSessionResume, kSessionLoad}, {}},
};

class Builtins : public testing::TestWithParam<AgentRow> {};

TEST_P(Builtins, HaveTheirSettings) {
  const AgentRow& row = GetParam();
  const BuiltinAgent* builtin = FindBuiltin(row.name);
  ASSERT_NE(builtin, nullptr);
  const AgentDefinition agent = MakeDefinition(*builtin);
  EXPECT_EQ(agent.name, row.name);
  EXPECT_EQ(agent.builtin, row.name);
  EXPECT_EQ(agent.command, row.command);
  EXPECT_EQ(agent.args, row.args);
  EXPECT_EQ(agent.resume, row.resume);
  EXPECT_EQ(agent.env, row.env);
  for (const auto& [name, text] : agent.env) EXPECT_TRUE(CheckTemplate(text).ok()) << text;
  EXPECT_EQ(BuiltinForCommand(row.command, row.args), builtin);
}

INSTANTIATE_TEST_SUITE_P(Rows, Builtins, testing::ValuesIn(kAgents), [](const auto& info) {
  std::string name = info.param.name;
  std::erase(name, '-');
  return name;
});

TEST(BuiltinTable, IsWhole) {
  ASSERT_EQ(BuiltinAgents().size(), std::size(kAgents));
  for (size_t i = 0; i < std::size(kAgents); ++i) {
    EXPECT_EQ(BuiltinAgents()[i].name, kAgents[i].name);
  }
}

TEST(BuiltinTable, FindsByProgramToo) {
  EXPECT_EQ(FindBuiltin("gemini-cli"), FindBuiltin("gemini"));
  EXPECT_EQ(FindBuiltin("opencode-ai"), FindBuiltin("opencode"));
  EXPECT_EQ(FindBuiltin("acpd-demo-agent"), FindBuiltin("demo"));
  EXPECT_EQ(FindBuiltin("claude"), nullptr);
  EXPECT_EQ(FindBuiltin("Gemini"), nullptr);
  EXPECT_EQ(FindBuiltin(""), nullptr);
}

struct CommandRow {
  const char* command;
  Args args;
  const char* builtin;  // "": none
};

const CommandRow kCommands[] = {
    {"claude-agent-acp", {}, "claude-agent-acp"},
    {"/usr/local/bin/claude-code-acp", {}, "claude-code-acp"},
    {"node_modules/.bin/codex-acp", {"-c", "x=y"}, "codex-acp"},
    {"/a/node_modules/@zed-industries/codex-acp-linux-x64/bin/codex-acp", {}, "codex-acp"},
    {"/a/node_modules/opencode-linux-x64/bin/opencode", {"acp"}, "opencode"},
    {"npx", {"@zed-industries/claude-code-acp"}, "claude-code-acp"},
    {"npx", {"-y", "@scope/claude-agent-acp@1"}, "claude-agent-acp"},
    {"/usr/bin/npx", {"--yes", "@google/gemini-cli@0.61.0", "--acp"}, "gemini"},
    {"npx", {"opencode-ai@latest", "acp"}, "opencode"},
    {"npx", {"--package=@google/gemini-cli", "gemini", "--acp"}, "gemini"},
    {"npx", {"-y", "--package", "@zed-industries/codex-acp", "sh"}, "codex-acp"},
    {"npx", {"-p", "@zed-industries/codex-acp@1", "sh"}, "codex-acp"},
    {"bunx", {"@zed-industries/codex-acp"}, "codex-acp"},
    {"npx", {"@gemini/other"}, ""},
    {"npx", {"@gemini"}, ""},
    {"npx", {"-y"}, ""},
    {"npx", {}, ""},
    {"node",
     {"/a/node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js"},
     "claude-agent-acp"},
    {"node", {"/src/claude-agent-acp/dist/index.js"}, "claude-agent-acp"},
    {"/opt/node22/bin/node",
     {"--max-old-space-size=4096", "claude-code-acp/index.js"},
     "claude-code-acp"},
    {"node22", {"-r", "gemini", "/a/claude-code-acp/dist/bin/index.mjs"}, "claude-code-acp"},
    {"node", {"/a/node_modules/@google/gemini-cli/bundle/gemini.js", "--acp"}, "gemini"},
    {"node", {"/a/node_modules/.bin/claude-agent-acp"}, "claude-agent-acp"},
    {"bun", {"run", "/a/codex-acp/src/main.ts"}, "codex-acp"},
    {"node", {"/home/gemini/agent/dist/index.js"}, ""},
    {"node", {"/work/my-agent.js", "gemini.js"}, ""},
    {"node", {"dist/index.js"}, ""},
    {"node", {"--version"}, ""},
    {"node", {}, ""},
    {"python3", {"gemini.py"}, ""},
    {"gemini-wrapper", {"--acp"}, ""},
    {"/opt/gemini/start", {}, ""},
    {"", {}, ""},
    {"/", {}, ""},
    {"22", {"gemini.js"}, ""},
};

class CommandNames : public testing::TestWithParam<CommandRow> {};

TEST_P(CommandNames, AreRecognised) {
  const BuiltinAgent* found = BuiltinForCommand(GetParam().command, GetParam().args);
  EXPECT_EQ(found ? found->name : std::string_view(), GetParam().builtin) << GetParam().command;
}

INSTANTIATE_TEST_SUITE_P(Rows, CommandNames, testing::ValuesIn(kCommands));

TEST(BuiltinTable, DefaultOrderIsResumeThenLoad) {
  EXPECT_EQ(DefaultResumeOrder(), (std::vector<ResumeMethod>{kSessionResume, kSessionLoad}));
}

TEST(ConfigFind, IsByExactName) {
  Config config;
  EXPECT_EQ(config.Find("demo"), nullptr);
  config.agents = {MakeDefinition(*FindBuiltin("demo")), MakeDefinition(*FindBuiltin("gemini"))};
  EXPECT_EQ(config.Find("gemini"), &config.agents[1]);
  EXPECT_EQ(config.Find("demo"), &config.agents[0]);
  EXPECT_EQ(config.Find("Demo"), nullptr);
  EXPECT_EQ(config.Find(""), nullptr);
}

}  // namespace
}  // namespace acpd::session
