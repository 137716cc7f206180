// What a caller's `_meta` may have.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "acp/setup.h"

namespace acpd::acp {
namespace {

using testing::HasSubstr;

TEST(CheckSetupMeta, WhatPasses) {
  for (const std::string meta :
       {R"({})", R"( {"a":{"resume":"x"},"b":[1]} )", R"({"claudeCode":{}})",
        R"({"claudeCode":{"options":{}}})", R"({"claudeCode":{"emitRawSDKMessages":true}})",
        R"({"disableBuiltInTools":true})",
        R"({"claudeCode":{"options":{"model":"m","maxThinkingTokens":1,"effort":"high",)"
        R"("disallowedTools":["Bash"],"allowedTools":[],"tools":[],"settingSources":["user"],)"
        R"("includePartialMessages":true,"forwardSubagentText":true,"promptSuggestions":false,)"
        R"("betas":[],"agent":"a","maxTurns":3,"thinking":{"type":"disabled"}}}})",
        R"({"claudeCode":{"options":{"agents":{"mcpServers":{"description":"d","prompt":"p",)"
        R"("tools":["Read"],"model":"m"},"b":{}}}}})"}) {
    EXPECT_TRUE(CheckSetupMeta(meta).ok()) << meta << CheckSetupMeta(meta);
  }
}

TEST(CheckSetupMeta, WhatIsRefusedIsNamedWithWhatToUseInstead) {
  const struct {
    std::string meta, member, instead;
  } cases[] = {
      {R"({"systemPrompt":"x"})", "`systemPrompt`", "`system_prompt`"},
      {R"({"system\u0050rompt":"x"})", "`systemPrompt`", "`system_prompt`"},
      {R"({"traceparent":""})", "`traceparent`", "metadata"},
      {R"({"tracestate":null})", "`tracestate`", "metadata"},
      {R"({"baggage":1})", "`baggage`", "metadata"},
      {R"({"additionalRoots":[]})", "`additionalRoots`", "`additional_directories`"},
      {R"({"claudeCode":[]})", "`claudeCode`", "an object"},
      {R"({"claudeCode":null})", "`claudeCode`", "an object"},
      {R"({"claudeCode":{"options":"x"}})", "`claudeCode.options`", "an object"},
      {R"({"claudeCode":{"options":{"agents":[]}}})", "`claudeCode.options.agents`", "an object"},
      {R"({"claudeCode":{"options":{"agents":{"a":1}}}})", "`claudeCode.options.agents`",
       "an object"},
      {R"({"claudeCode":{"options":{"agents":{"a":{"mcpServers":[]}}}}})", "\"mcpServers\"",
       "description"},
      {R"({"claudeCode":{"options":{"__proto__":{}}}})", "\"__proto__\"", "model"},
      {R"({"claudeCode":{"options":{"a`\n":{}}}})", R"("a`\n")", "model"},
      // Of two members with one name the last one counts, as it is sent.
      {R"({"claudeCode":{},"claudeCode":{"options":{"resume":"x"}}})",
       "`claudeCode.options.resume`", "session"},
  };
  for (const auto& [meta, member, instead] : cases) {
    const absl::Status status = CheckSetupMeta(meta);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << meta;
    EXPECT_THAT(std::string(status.message()), HasSubstr(member)) << meta;
    EXPECT_THAT(std::string(status.message()), HasSubstr(instead)) << meta;
  }
}

TEST(CheckSetupMeta, OptionsThatChooseSessionsProgramsOrPermissionsAreRefused) {
  const std::pair<std::string, std::string> cases[] = {
      {"resume", "name the session"},
      {"continue", "name the session"},
      {"sessionId", "name the session"},
      {"forkSession", "ForkSession"},
      {"resumeSessionAt", "ForkSession"},
      {"persistSession", "These pass"},
      {"sessionStore", "These pass"},
      {"resumeDropsTurn", "These pass"},
      {"executable", "configuration"},
      {"executableArgs", "These pass"},
      {"pathToClaudeCodeExecutable", "configuration"},
      {"spawnClaudeCodeProcess", "These pass"},
      {"mcpServers", "`mcp_servers`"},
      {"hooks", "These pass"},
      {"env", "`model_provider`"},
      {"extraArgs", "configuration"},
      {"plugins", "These pass"},
      {"sandbox", "These pass"},
      {"settings", "These pass"},
      {"managedSettings", "These pass"},
      {"projectConfigRoot", "These pass"},
      {"debugFile", "These pass"},
      {"permissionPromptToolName", "`permission_mode`"},
      {"allowDangerouslySkipPermissions", "`permission_mode`"},
      {"permissionMode", "`permission_mode`"},
      {"permissionPrompts", "These pass"},
      {"canUseTool", "These pass"},
      {"cwd", "`cwd`"},
      {"additionalDirectories", "`additional_directories`"},
      {"systemPrompt", "`system_prompt`"},
  };
  for (const auto& [option, instead] : cases) {
    const absl::Status status =
        CheckSetupMeta(R"({"claudeCode":{"options":{"model":"m",")" + option + R"(":null}}})");
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << option;
    EXPECT_THAT(std::string(status.message()), HasSubstr(option));
    EXPECT_THAT(std::string(status.message()), HasSubstr(instead)) << option;
  }
}

TEST(CheckSetupMeta, OnlyObjectsOfModestDepth) {
  const auto deep = [](size_t levels) {
    return R"({"a":)" + std::string(levels - 1, '[') + std::string(levels - 1, ']') + "}";
  };
  EXPECT_TRUE(CheckSetupMeta(deep(64)).ok());
  for (const std::string& meta : {std::string(), std::string("null"), std::string("[]"),
                                  std::string("1"), std::string("{\"a\":1"), std::string("{}{}"),
                                  std::string("{\"a\":\"\xFF\"}"), std::string(R"({"a":"\ud800"})"),
                                  std::string("{\"a\":1e999999}"), deep(65), deep(1'000'000)}) {
    EXPECT_EQ(CheckSetupMeta(meta).code(), absl::StatusCode::kInvalidArgument)
        << meta.substr(0, 80);
    SessionSetup setup;
    setup.meta_json = meta;
    EXPECT_THAT(NewSessionLine(1, setup), testing::Not(HasSubstr("_meta"))) << meta.substr(0, 80);
  }
}

}  // namespace
}  // namespace acpd::acp
