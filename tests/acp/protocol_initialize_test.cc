// The reader of the answer to initialize.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "acp/types.h"

namespace acpd::acp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(InitializeResult, AllFields) {
  const auto result = ReadInitializeResult(
      R"({"protocolVersion":1,"agentInfo":{"name":"n","title":"t","version":"v"},)"
      R"("agentCapabilities":{"z":1, "loadSession":true,"sessionCapabilities":{"resume":{},"close":{},)"
      R"("list":{"x":1},"delete":{},"fork":{},"additionalDirectories":{}},"auth":{"logout":{}},)"
      R"("promptCapabilities":{"image":true,"audio":true,"embeddedContext":true},)"
      R"("mcpCapabilities":{"http":true,"sse":true},"a":0},)"
      R"("authMethods":[{"id":"one","name":"x"},{"id":"two","type":"terminal"},{"id":"three",)"
      R"("type":"env_var"},{"name":"no id"},{"id":5},"junk"]})");
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->protocol_version, 1);
  EXPECT_EQ(result->agent_name, "n");
  EXPECT_EQ(result->agent_title, "t");
  EXPECT_EQ(result->agent_version, "v");
  EXPECT_THAT(result->capabilities_json, testing::StartsWith(R"({"z":1, "loadSession":true,)"));
  EXPECT_THAT(result->capabilities_json, testing::EndsWith(R"(,"a":0})"));
  EXPECT_THAT(result->auth_methods_json, testing::StartsWith(R"([{"id":"one","name":"x"},)"));
  EXPECT_THAT(result->auth_method_ids, ElementsAre("one", "three")) << "terminal is for people";
  EXPECT_TRUE(result->load_session && result->resume && result->close && result->list &&
              result->remove && result->fork && result->additional_directories && result->logout);
  EXPECT_TRUE(result->prompt.image && result->prompt.audio && result->prompt.embedded_context);
  EXPECT_TRUE(result->mcp.http && result->mcp.sse);
}

// By the names of those that are on.
std::string On(const InitializeResult& result) {
  const std::pair<bool, const char*> all[] = {
      {result.load_session, "load "},
      {result.resume, "resume "},
      {result.close, "close "},
      {result.list, "list "},
      {result.remove, "delete "},
      {result.fork, "fork "},
      {result.additional_directories, "directories "},
      {result.logout, "logout "},
      {result.prompt.image, "image "},
      {result.prompt.audio, "audio "},
      {result.prompt.embedded_context, "embedded "},
      {result.mcp.http, "http "},
      {result.mcp.sse, "sse "},
  };
  std::string names;
  for (const auto& [on, name] : all) names += on ? name : "";
  return names;
}

TEST(InitializeResult, EachCapabilityAlone) {
  const std::pair<std::string, std::string> cases[] = {
      {R"("loadSession":true)", "load "},
      {R"("sessionCapabilities":{"resume":{}})", "resume "},
      {R"("sessionCapabilities":{"close":{}})", "close "},
      {R"("sessionCapabilities":{"list":{}})", "list "},
      {R"("sessionCapabilities":{"delete":{}})", "delete "},
      {R"("sessionCapabilities":{"fork":{}})", "fork "},
      {R"("sessionCapabilities":{"additionalDirectories":{}})", "directories "},
      {R"("auth":{"logout":{}})", "logout "},
      {R"("promptCapabilities":{"image":true})", "image "},
      {R"("promptCapabilities":{"audio":true})", "audio "},
      {R"("promptCapabilities":{"embeddedContext":true})", "embedded "},
      {R"("mcpCapabilities":{"http":true})", "http "},
      {R"("mcpCapabilities":{"sse":true})", "sse "},
      {R"("sessionCapabilities":{"additionalDirectories":null},"auth":{"logout":null})", ""},
      {R"("sessionCapabilities":{"additionalDirectories":true},"auth":{"logout":true})", ""},
      {R"("promptCapabilities":{"image":{},"audio":1,"embeddedContext":"true"})", ""},
      {R"("mcpCapabilities":{"http":null,"sse":{}},"auth":[],"sessionCapabilities":null)", ""},
  };
  for (const auto& [json, names] : cases) {
    const auto result =
        ReadInitializeResult(R"({"protocolVersion":1,"agentCapabilities":{)" + json + "}}");
    ASSERT_TRUE(result.ok()) << json;
    EXPECT_EQ(On(*result), names) << json;
  }
}

TEST(InitializeResult, OnlyTheVersionIsRequired) {
  const auto result = ReadInitializeResult(R"({"protocolVersion":2})");
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->protocol_version, 2);
  EXPECT_EQ(result->capabilities_json, "{}");
  EXPECT_EQ(result->auth_methods_json, "[]");
  EXPECT_FALSE(result->load_session || result->resume || result->close || result->list ||
               result->remove || result->fork);
}

TEST(InitializeResult, WrongTypesOfOptionalFieldsCountAsAbsent) {
  const auto result = ReadInitializeResult(
      R"({"protocolVersion":1.0,"agentInfo":"me","agentCapabilities":{"loadSession":"yes",)"
      R"("sessionCapabilities":{"resume":null,"close":true,"list":false,"delete":[],"fork":"x"}},)"
      R"("authMethods":{"id":"a"}})");
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->protocol_version, 1);
  EXPECT_EQ(result->agent_name, "");
  EXPECT_EQ(result->auth_methods_json, "[]");
  EXPECT_FALSE(result->load_session || result->resume || result->close || result->list ||
               result->remove || result->fork);
  const auto odd = ReadInitializeResult(
      R"({"protocolVersion":1,"agentCapabilities":[],"agentInfo":{"name":5,"version":null}})");
  ASSERT_TRUE(odd.ok());
  EXPECT_EQ(odd->capabilities_json, "{}");
  EXPECT_EQ(odd->agent_name, "");
}

TEST(InitializeResult, ErrorsNameTheField) {
  for (const std::string json :
       {R"({})", R"({"protocolVersion":"1"})", R"({"protocolVersion":1.5})",
        R"({"protocolVersion":null})", R"({"protocolVersion":[1]})"}) {
    const auto result = ReadInitializeResult(json);
    EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument) << json;
    EXPECT_THAT(std::string(result.status().message()), HasSubstr("protocolVersion"));
  }
  for (const std::string json : {"", "null", "[]", "{", "7", R"("x")"}) {
    const auto result = ReadInitializeResult(json);
    EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument) << json;
    EXPECT_THAT(std::string(result.status().message()), HasSubstr("initialize"));
  }
}

}  // namespace
}  // namespace acpd::acp
