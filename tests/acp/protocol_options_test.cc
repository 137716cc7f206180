// options.h: config options, modes, models, commands.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "acp/options.h"

namespace acpd::acp {

void PrintTo(const ConfigOption& option, std::ostream* out) {
  *out << "{" << option.id << " " << option.name << " " << option.description << " "
       << option.category << (option.is_boolean ? option.boolean ? " true" : " false" : "") << " "
       << option.select << (option.legacy_model ? " legacy" : "");
  for (const ConfigOption::Choice& choice : option.choices) {
    *out << " [" << choice.value << " " << choice.name << " " << choice.description << " "
         << choice.group << "]";
  }
  *out << "}";
}

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ConfigOption SelectOf(std::string id, std::string value,
                      std::vector<ConfigOption::Choice> choices) {
  ConfigOption option;
  option.name = option.id = std::move(id);
  option.select = std::move(value);
  option.choices = std::move(choices);
  return option;
}

TEST(ConfigOptions, FlatChoices) {
  ConfigOption wanted =
      SelectOf("m", "a", {{"a", "A", "first", ""}, {"b", "b", "", ""}, {"a", "again", "", ""}});
  wanted.name = "Model";
  wanted.description = "which";
  wanted.category = "model";
  EXPECT_THAT(
      ReadConfigOptions(
          R"([ {"id":"m","name":"Model","description":"which","category":"model","type":"select",)"
          R"("currentValue":"a","options":[{"value":"a","name":"A","description":"first"},)"
          R"({"value":"b"},{"name":"no value"},{"value":5},"junk",{"value":"a","name":"again"}]} ])"),
      ElementsAre(wanted));
}

TEST(ConfigOptions, GroupsAreFlattenedInTheirOrder) {
  EXPECT_THAT(
      ReadConfigOptions(
          R"([{"id":"m","name":"m","type":"select","currentValue":"b","options":[)"
          R"({"group":"g1","name":"Fast","options":[{"value":"a","name":"A"},{"value":"b","name":"B"}]},)"
          R"({"group":"g2","options":[{"value":"c","name":"C"},7]},{"group":"g3","options":[]},)"
          R"({"group":"g4","name":"none"},{"value":"d","name":"D"}]}])"),
      ElementsAre(SelectOf("m", "b",
                           {{"a", "A", "", "Fast"},
                            {"b", "B", "", "Fast"},
                            {"c", "C", "", "g2"},
                            {"d", "D", "", ""}})));
}

TEST(ConfigOptions, Booleans) {
  ConfigOption on = SelectOf("x", "", {});
  on.is_boolean = on.boolean = true;
  ConfigOption off = SelectOf("y", "", {});
  off.is_boolean = true;
  EXPECT_THAT(ReadConfigOptions(R"([{"id":"x","name":"x","type":"boolean","currentValue":true},)"
                                R"({"id":"y","type":"boolean","currentValue":false}])"),
              ElementsAre(on, off));
}

TEST(ConfigOptions, WhatCannotBeReadIsLeftOutAndTheOrderKept) {
  const std::string left_out[] = {
      R"({"name":"no id","type":"select","currentValue":"a"})",
      R"({"id":5,"type":"select","currentValue":"a"})",
      R"({"id":"x","type":"slider","currentValue":"a"})",
      R"({"id":"x","type":"select"})",
      R"({"id":"x","type":"select","currentValue":true})",
      R"({"id":"x","type":"select","currentValue":null})",
      R"({"id":"x","type":"boolean"})",
      R"({"id":"x","type":"boolean","currentValue":"true"})",
      R"({"id":"x","currentValue":true})",
      "7",
      "null",
      "[]",
  };
  for (const std::string& item : left_out) {
    EXPECT_THAT(ReadConfigOptions(R"([{"id":"b","type":"select","currentValue":"1"},)" + item +
                                  R"(,{"id":"a","type":"select","currentValue":"2"}])"),
                ElementsAre(SelectOf("b", "1", {}), SelectOf("a", "2", {})))
        << item;
  }
}

TEST(ConfigOptions, WrongTypesOfOptionalFieldsCountAsAbsent) {
  EXPECT_THAT(ReadConfigOptions(R"([{"id":"a","name":5,"description":null,"category":{},)"
                                R"("currentValue":"1","options":"x"}])"),
              ElementsAre(SelectOf("a", "1", {})));
  EXPECT_THAT(ReadConfigOptions(R"([{"id":"a","type":7,"currentValue":"1","options":{}}])"),
              ElementsAre(SelectOf("a", "1", {})));
}

TEST(ConfigOptions, OddTexts) {
  EXPECT_THAT(
      ReadConfigOptions(R"([{"id":"\u00e9\u0000","type":"select","currentValue":"\ud83d\ude00"}])"),
      ElementsAre(SelectOf(std::string("\xC3\xA9\0", 3), "\xF0\x9F\x98\x80", {})));
  for (const std::string json : {"", "null", "{}", "[", "7", "[]", R"(["x")"}) {
    EXPECT_THAT(ReadConfigOptions(json), IsEmpty()) << json;
  }
}

TEST(ConfigOptions, ManyChoices) {
  std::string json = R"([{"id":"m","type":"select","currentValue":"0","options":[)";
  for (int i = 0; i < 20'000; ++i) json += R"({"value":")" + std::to_string(i) + R"("},)";
  json.back() = ']';
  const std::vector<ConfigOption> options = ReadConfigOptions(json + "}]");
  ASSERT_EQ(options.size(), 1u);
  EXPECT_EQ(options[0].choices.size(), 20'000u);
  EXPECT_EQ(options[0].choices.back().value, "19999");
}

TEST(ConfigOptions, InAnObject) {
  EXPECT_EQ(ConfigOptionsIn(R"({"a":1,"configOptions": [ {"id":"x"} ] })"), R"([ {"id":"x"} ])");
  for (const std::string json : {"{}", R"({"configOptions":null})", R"({"configOptions":{}})", "",
                                 "[]", "null", R"({"x":{"configOptions":[]}})"}) {
    EXPECT_EQ(ConfigOptionsIn(json), "") << json;
  }
}

TEST(LegacyModels, AreOneOption) {
  ConfigOption wanted =
      SelectOf("model", "opus", {{"opus", "Opus", "large", ""}, {"haiku", "haiku", "", ""}});
  wanted.name = "Model";
  wanted.category = "model";
  wanted.legacy_model = true;
  EXPECT_EQ(ReadLegacyModels(
                R"({"models":{"currentModelId":"opus","availableModels":[{"modelId":"opus",)"
                R"("name":"Opus","description":"large"},{"modelId":"haiku"},{"name":"x"},3]}})"),
            wanted);
  wanted.choices.clear();
  EXPECT_EQ(ReadLegacyModels(R"({"models":{"currentModelId":"opus","availableModels":7}})"),
            wanted);
  for (const std::string json :
       {"", "null", "{}", R"({"models":null})", R"({"models":{}})", R"({"models":"m"})",
        R"({"models":{"currentModelId":5,"availableModels":[{"modelId":"a"}]}})"}) {
    EXPECT_EQ(ReadLegacyModels(json), ConfigOption()) << json;
  }
}

TEST(AvailableCommands, AreVerbatim) {
  EXPECT_EQ(ReadAvailableCommands(
                R"({"sessionUpdate":"x","availableCommands":[ {"b":1, "a":"\u00e9"} ],"z":1})"),
            R"([ {"b":1, "a":"\u00e9"} ])");
  EXPECT_EQ(ReadAvailableCommands(R"({"availableCommands":[]})"), "[]");
  for (const std::string json :
       {"", "{}", R"({"availableCommands":null})", R"({"availableCommands":{}})", "[]"}) {
    EXPECT_EQ(ReadAvailableCommands(json), "") << json;
  }
}

TEST(SetOptions, Lines) {
  const TraceContext trace = {"p", "s", "b"};
  const std::string meta = R"(,"_meta":{"traceparent":"p","tracestate":"s","baggage":"b"})";
  const auto line = [](const std::string& method, const std::string& params) {
    return R"({"jsonrpc":"2.0","id":4,"method":"session/)" + method +
           R"(","params":{"sessionId":"s",)" + params + "}}";
  };
  const std::string mode = R"("modeId":"plan \"x\"")";
  EXPECT_EQ(SetModeLine(4, "s", "plan \"x\""), line("set_mode", mode));
  EXPECT_EQ(SetModeLine(4, "s", "plan \"x\"", trace), line("set_mode", mode + meta));
  const std::string model = R"("modelId":"opus")";
  EXPECT_EQ(SetModelLine(4, "s", "opus"), line("set_model", model));
  EXPECT_EQ(SetModelLine(4, "s", "opus", trace), line("set_model", model + meta));

  const std::pair<OptionValue, std::string> values[] = {
      {{"m", false, true, "a"}, R"("configId":"m","value":"a")"},
      {{"m", false, false, ""}, R"("configId":"m","value":"")"},
      {{"x", true, true, "a"}, R"("configId":"x","type":"boolean","value":true)"},
      {{"x", true, false, ""}, R"("configId":"x","type":"boolean","value":false)"},
  };
  for (const auto& [value, params] : values) {
    EXPECT_EQ(SetConfigOptionLine(4, "s", value), line("set_config_option", params));
    EXPECT_EQ(SetConfigOptionLine(4, "s", value, trace), line("set_config_option", params + meta));
  }
}

}  // namespace
}  // namespace acpd::acp
