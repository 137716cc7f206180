// The readers of types.h.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "acp/json_value.h"
#include "acp/types.h"

namespace acpd::acp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(InitializeResult, AllFields) {
  const auto result = ReadInitializeResult(
      R"({"protocolVersion":1,"agentInfo":{"name":"n","title":"t","version":"v"},)"
      R"("agentCapabilities":{"z":1, "loadSession":true,"sessionCapabilities":{"resume":{},"close":{},)"
      R"("list":{"x":1},"delete":{},"fork":{}},"a":0},)"
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
              result->remove && result->fork);
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

TEST(SetupResult, AllFields) {
  const auto result = ReadSetupResult(
      R"({"sessionId":"s-1","modes":{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask",)"
      R"("description":"d"},{"id":"x"},{"name":"no id"},7]},"models":{"currentModelId":"m"},)"
      R"("configOptions":[ {"id":"model","category":"model","currentValue":"other"}]})");
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->session_id, "s-1");
  EXPECT_EQ(result->current_mode_id, "ask");
  ASSERT_EQ(result->modes.size(), 2u);
  EXPECT_EQ(result->modes[0].name, "Ask");
  EXPECT_EQ(result->modes[0].description, "d");
  EXPECT_EQ(result->modes[1].id, "x");
  EXPECT_EQ(result->modes[1].name, "x");
  EXPECT_EQ(result->current_model_id, "m");
  EXPECT_EQ(result->config_options_json,
            R"([ {"id":"model","category":"model","currentValue":"other"}])");
}

TEST(SetupResult, TheModelMayBeAConfigOption) {
  const auto result = ReadSetupResult(
      R"({"configOptions":[{"id":"a","category":"mode","currentValue":"no"},{"currentValue":"no"},)"
      R"({"id":"m","category":"model","currentValue":"opus"}],"models":null})");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->current_model_id, "opus");
}

TEST(SetupResult, EverythingMayBeAbsent) {
  for (const std::string json :
       {"null", "{}", " {} ", R"({"sessionId":null,"modes":null,"configOptions":null})",
        R"({"sessionId":5,"modes":[],"configOptions":{},"models":"m"})",
        R"({"modes":{"currentModeId":1,"availableModes":{}}})"}) {
    const auto result = ReadSetupResult(json);
    ASSERT_TRUE(result.ok()) << json << result.status();
    EXPECT_EQ(result->session_id, "");
    EXPECT_EQ(result->current_mode_id, "");
    EXPECT_TRUE(result->modes.empty());
    EXPECT_EQ(result->config_options_json, "");
  }
  for (const std::string json : {"", "[]", "true", R"("ok")", "{]"}) {
    EXPECT_EQ(ReadSetupResult(json).status().code(), absl::StatusCode::kInvalidArgument) << json;
  }
}

TEST(PromptResult, ReasonAndUsage) {
  const auto result = ReadPromptResult(
      R"({"stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":2.0,"cachedReadTokens":-3,)"
      R"("cachedWriteTokens":"4","thoughtTokens":null,"totalTokens":18446744073709551615}})");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->stop_reason, "end_turn");
  EXPECT_EQ(result->usage.input_tokens, 1u);
  EXPECT_EQ(result->usage.output_tokens, 2u);
  EXPECT_EQ(result->usage.cached_read_tokens, std::nullopt);
  EXPECT_EQ(result->usage.cached_write_tokens, std::nullopt);
  EXPECT_EQ(result->usage.thought_tokens, std::nullopt);
  EXPECT_EQ(result->usage.total_tokens, 18446744073709551615u);
  EXPECT_EQ(ReadPromptResult(R"({"stopReason":"odd","usage":7})")->stop_reason, "odd");
}

TEST(PromptResult, TheReasonIsRequired) {
  for (const std::string json :
       {"{}", R"({"stopReason":null})", R"({"stopReason":["end_turn"]})"}) {
    const auto result = ReadPromptResult(json);
    EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument) << json;
    EXPECT_THAT(std::string(result.status().message()), HasSubstr("stopReason"));
  }
  EXPECT_FALSE(ReadPromptResult("null").ok());
}

TEST(PermissionRequest, AllFields) {
  const auto request = ReadPermissionRequest(
      R"({"options":[{"optionId":"a","name":"A","kind":"allow_once"},{"optionId":"b","kind":3}],)"
      R"("toolCall":{"z":0, "toolCallId":"t","title":"Run `x`","kind":"execute"},"sessionId":"s"})");
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->session_id, "s");
  EXPECT_EQ(request->tool_call_json,
            R"({"z":0, "toolCallId":"t","title":"Run `x`","kind":"execute"})");
  EXPECT_EQ(request->tool_call_id, "t");
  EXPECT_EQ(request->title, "Run `x`");
  EXPECT_EQ(request->tool_kind, "execute");
  ASSERT_EQ(request->options.size(), 2u);
  EXPECT_EQ(request->options[0].id, "a");
  EXPECT_EQ(request->options[0].name, "A");
  EXPECT_EQ(request->options[0].kind, "allow_once");
  EXPECT_EQ(request->options[1].kind, "");
}

TEST(PermissionRequest, ErrorsNameTheField) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"toolCall":{"toolCallId":"t"},"options":[]})", "sessionId"},
      {R"({"sessionId":1,"toolCall":{"toolCallId":"t"},"options":[]})", "sessionId"},
      {R"({"sessionId":"s","options":[]})", "toolCall"},
      {R"({"sessionId":"s","toolCall":"t","options":[]})", "toolCall"},
      {R"({"sessionId":"s","toolCall":{},"options":[]})", "toolCall.toolCallId"},
      {R"({"sessionId":"s","toolCall":{"toolCallId":"t"}})", "options"},
      {R"({"sessionId":"s","toolCall":{"toolCallId":"t"},"options":{}})", "options"},
      {R"({"sessionId":"s","toolCall":{"toolCallId":"t"},"options":[{"name":"x"}]})", "optionId"},
      {R"({"sessionId":"s","toolCall":{"toolCallId":"t"},"options":["x"]})", "optionId"},
      {"null", "request_permission"},
      {"", "request_permission"},
  };
  for (const auto& [json, field] : cases) {
    const auto request = ReadPermissionRequest(json);
    EXPECT_EQ(request.status().code(), absl::StatusCode::kInvalidArgument) << json;
    EXPECT_THAT(std::string(request.status().message()), HasSubstr(field)) << json;
  }
  EXPECT_TRUE(
      ReadPermissionRequest(R"({"sessionId":"s","toolCall":{"toolCallId":"t"},"options":[]})")
          .ok());
}

TEST(RpcError, IsAlwaysReadable) {
  const RpcError full = ReadError(R"({"code":-32603,"message":"m","data":{"b":1, "a":2}})");
  EXPECT_EQ(full.code, kInternalError);
  EXPECT_EQ(full.message, "m");
  EXPECT_EQ(full.data, R"({"b":1, "a":2})");
  EXPECT_EQ(ReadError(R"({"code":-32002,"message":"m","data":"Session not found"})").data,
            R"("Session not found")");
  EXPECT_EQ(ReadError(R"({"code":"EPIPE","message":"m"})").code, 0);
  EXPECT_EQ(ReadError(R"({"code":429.0,"message":"m"})").code, 429);
  EXPECT_EQ(ReadError(R"({"code":5})").message, R"({"code":5})");
  EXPECT_EQ(ReadError(R"({"message":{"x":1}})").message, R"({"message":{"x":1}})");
  EXPECT_EQ(ReadError(R"("it \"broke\"")").message, R"(it "broke")");
  EXPECT_EQ(ReadError("[1]").message, "[1]");
  EXPECT_EQ(ReadError("null").message, "null");
  EXPECT_EQ(ReadError("not json").message, "not json");
  EXPECT_EQ(ReadError("").message, "");
}

TEST(ContextUsage, WhatThereIs) {
  const ContextUsage usage = ReadContextUsage(
      R"({"sessionUpdate":"usage_update","used":100,"size":200000,"cost":{"amount":0.25,"currency":"USD"}})");
  EXPECT_EQ(usage.used, 100u);
  EXPECT_EQ(usage.size, 200000u);
  EXPECT_EQ(usage.cost, 0.25);
  EXPECT_EQ(usage.currency, "USD");
  for (const std::string json : {"{}", R"({"used":"1","size":-1,"cost":null})",
                                 R"({"cost":{"amount":"1","currency":5}})", "", "[]"}) {
    const ContextUsage none = ReadContextUsage(json);
    EXPECT_FALSE(none.used || none.size || none.cost) << json;
    EXPECT_EQ(none.currency, "");
  }
}

TEST(Updates, ModeAndTitle) {
  EXPECT_EQ(ReadCurrentMode(R"({"currentModeId":"a","modeId":"b"})"), "a");
  EXPECT_EQ(ReadCurrentMode(R"({"modeId":"b"})"), "b");
  EXPECT_EQ(ReadCurrentMode(R"({"modeId":5})"), "");
  EXPECT_EQ(ReadCurrentMode("{}"), "");
  EXPECT_EQ(ReadSessionTitle(R"({"title":"t"})"), "t");
  EXPECT_EQ(ReadSessionTitle(R"({"title":""})"), "");
  EXPECT_EQ(ReadSessionTitle(R"({"title":null})"), "");
  EXPECT_EQ(ReadSessionTitle(R"({"title":7})"), std::nullopt);
  EXPECT_EQ(ReadSessionTitle(R"({"updatedAt":"x"})"), std::nullopt);
  EXPECT_EQ(ReadSessionTitle("junk"), std::nullopt);
}

TEST(Params, RequestIdAndSessionId) {
  for (const std::string id : {"0", "null", R"("a\"b")", "9007199254740993", "-5"}) {
    EXPECT_EQ(ReadCancelledRequestId(R"({"requestId": )" + id + " }"), id);
  }
  for (const std::string json :
       {"{}", R"({"requestId":true})", R"({"requestId":{}})", "", "null"}) {
    EXPECT_EQ(ReadCancelledRequestId(json), "") << json;
  }
  EXPECT_EQ(ReadSessionId(R"({"x":{"sessionId":"no"},"sessionId":"a\u0062"})"), "ab");
  for (const std::string json : {"{}", R"({"sessionId":1})", "[]", "null", "", "{"}) {
    EXPECT_EQ(ReadSessionId(json), "") << json;
  }
}

TEST(JsonValue, DeepTextIsReadOrRefusedButNeverRecursedInto) {
  const auto deep = [](size_t levels) {
    return R"({"sessionId":"s","x":)" + std::string(levels - 1, '[') +
           std::string(levels - 1, ']') + "}";
  };
  EXPECT_EQ(ReadSessionId(deep(JsonValue::kMaxDepth)), "s");
  EXPECT_EQ(ReadSessionId(deep(JsonValue::kMaxDepth + 1)), "");
  EXPECT_EQ(ReadSessionId(deep(200'000)), "");
}

TEST(JsonValue, PartsAreViewsIntoTheText) {
  const std::string text =
      R"( {"a" : [ 1 , "x" , {"b":null} ] , "big":123456789012345678901234567890} )";
  const std::optional<JsonValue> value = JsonValue::Parse(text);
  ASSERT_TRUE(value);
  const JsonObject object = value->Members();
  const std::vector<JsonValue> items = object.Get("a").Items();
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[0].Int(), 1);
  EXPECT_EQ(items[1].String(), "x");
  EXPECT_TRUE(items[2].Members().Get("b").IsNull());
  EXPECT_EQ(items[2].raw().data(), text.data() + text.find("{\"b\""));
  EXPECT_EQ(object.Get("big").raw(), "123456789012345678901234567890");
  EXPECT_EQ(object.Get("big").Uint(), std::nullopt);
  EXPECT_FALSE(object.Has("c"));
  EXPECT_EQ(object.Get("c").String(), std::nullopt);
}

}  // namespace
}  // namespace acpd::acp
