// The readers of types.h, but for the answer to initialize.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "acp/types.h"

namespace acpd::acp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(SetupResult, AllFields) {
  const auto result = ReadSetupResult(
      R"({"sessionId":"s-1","modes":{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask",)"
      R"("description":"d"},{"id":"x"},{"name":"no id"},7]},"models":{"currentModelId":"m"},)"
      R"("configOptions":[ {"id":"model","category":"model","type":"select","currentValue":"other",)"
      R"("options":[{"value":"other"}]},{"id":"b","type":"boolean","currentValue":true}]})");
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->session_id, "s-1");
  EXPECT_EQ(result->current_mode_id, "ask");
  ASSERT_EQ(result->modes.size(), 2u);
  EXPECT_EQ(result->modes[0].name, "Ask");
  EXPECT_EQ(result->modes[0].description, "d");
  EXPECT_EQ(result->modes[1].id, "x");
  EXPECT_EQ(result->modes[1].name, "x");
  EXPECT_EQ(result->current_model_id, "other");
  ASSERT_EQ(result->options.size(), 2u) << "no further option for the models";
  EXPECT_EQ(result->options[0].select, "other");
  EXPECT_EQ(result->options[0].choices.size(), 1u);
  EXPECT_TRUE(result->options[1].boolean);
}

// {current model; current mode; ids of the options, `!` behind that of the models}
std::string ModelAndMode(const std::string& json) {
  const auto result = ReadSetupResult(json);
  if (!result.ok()) return "bad";
  std::string text = result->current_model_id + ";" + result->current_mode_id + ";";
  for (const ConfigOption& option : result->options) {
    text += option.id + (option.legacy_model ? "! " : " ");
  }
  return text;
}

TEST(SetupResult, ModelAndModeFromWhateverTheAgentSends) {
  const std::string models = R"("models":{"currentModelId":"m","availableModels":[]})";
  const std::string modes = R"("modes":{"currentModeId":"ask","availableModes":[]})";
  const auto option = [](const std::string& id, const std::string& category) {
    return R"({"id":")" + id + R"(","category":")" + category +
           R"(","type":"select","currentValue":"of )" + id + R"(","options":[]})";
  };
  const auto options = [](const std::string& items) {
    return R"("configOptions":[)" + items + "]";
  };
  const std::pair<std::string, std::string> cases[] = {
      {models, "m;;model! "},
      {modes, ";ask;"},
      {options(option("a", "model")), "of a;;a "},
      {options(option("a", "model") + "," + option("b", "model")), "of a;;a b "},
      {options(option("a", "mode")), ";of a;a "},
      {options(option("a", "mode")) + "," + modes, ";of a;a "},
      {options(option("a", "mode") + "," + option("b", "mode")), ";of a;a b "},
      {options(option("a", "x")) + "," + modes, ";ask;a "},
      {R"("configOptions":[{"id":"a","category":"mode","type":"boolean","currentValue":true}],)" +
           modes,
       ";ask;a "},
      {options(option("a", "x")) + "," + models, "m;;a model! "},
      {options(option("a", "model")) + "," + models, "of a;;a "},
      // An agent's own option that has the id, but not the category: no two have one id.
      {options(option("model", "x")) + "," + models, "m;;model "},
      {R"("configOptions":[{"id":"a","category":"model","type":"boolean","currentValue":true}])",
       ";;a "},
      {R"("configOptions":[{"id":"a","category":"model","type":"odd","currentValue":"x"}],)" +
           models,
       "m;;model! "},
      {R"("models":null,"modes":null,"configOptions":null)", ";;"},
  };
  for (const auto& [json, text] : cases) EXPECT_EQ(ModelAndMode("{" + json + "}"), text) << json;
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
    EXPECT_TRUE(result->options.empty());
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

TEST(PermissionRequest, RawInputIsVerbatim) {
  const auto raw_input = [](const std::string& member) {
    const auto request = ReadPermissionRequest(
        R"({"sessionId":"s","options":[],"toolCall":{"toolCallId":"t")" + member + "}}");
    return request.ok() ? request->raw_input : "bad";
  };
  EXPECT_EQ(raw_input(R"(,"rawInput": {"b":1, "a":["x"]} )"), R"({"b":1, "a":["x"]})");
  EXPECT_EQ(raw_input(R"(,"rawInput":"\u0061")"), R"("\u0061")");
  EXPECT_EQ(raw_input(""), "");
}

TEST(PermissionRequest, Paths) {
  const auto paths = [](const std::string& locations) {
    const auto request = ReadPermissionRequest(
        R"({"sessionId":"s","options":[],"toolCall":{"toolCallId":"t",)" + locations + "}}");
    return request.ok() ? request->paths : std::vector<std::string>{"bad"};
  };
  EXPECT_THAT(paths(R"("locations":[{"path":"/a","line":3},{"path":"\u00e9"},{"line":1},)"
                    R"({"path":5},"/x",{"path":""}])"),
              ElementsAre("/a", "\xC3\xA9", ""));
  for (const std::string none : {R"("locations":null)", R"("locations":{"path":"/a"})",
                                 R"("locations":[])", R"("rawInput":{"path":"/a"})"}) {
    EXPECT_THAT(paths(none), ElementsAre()) << none;
  }
}

// None is left out silently: a rule that allows some paths must have seen all of them.
TEST(PermissionRequest, PathsAreAllReadOrTheRequestIsRefused) {
  const auto read = [](int count) {
    std::string json;
    for (int i = 1; i <= count; ++i) json += R"({"path":"/)" + std::to_string(i) + R"("},)";
    json.back() = ']';
    return ReadPermissionRequest(
        R"({"sessionId":"s","options":[],"toolCall":{"toolCallId":"t","locations":[)" + json +
        "}}");
  };
  const auto most = read(1024);
  ASSERT_TRUE(most.ok()) << most.status();
  EXPECT_EQ(most->paths.size(), 1024u);
  EXPECT_EQ(most->paths.back(), "/1024");
  EXPECT_EQ(read(1025).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(read(1025).status().message()), HasSubstr("toolCall.locations"));
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

}  // namespace
}  // namespace acpd::acp
