// Whether the content of an answered form fits its schema.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "acp/elicitation.h"

namespace acpd::acp {
namespace {

using testing::HasSubstr;

std::string Check(const std::string& content, const std::string& schema) {
  const absl::Status status = CheckContent(content, schema);
  EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

// A form with the one member `a`.
std::string FormOf(const std::string& property) {
  return R"({"type":"object","properties":{"a":)" + property + "}}";
}

struct ValueCase {
  std::string property;
  std::vector<std::string> good;
  std::vector<std::string> bad;
  std::string wanted;  // of the bad ones
};

void ExpectCases(const std::vector<ValueCase>& cases) {
  for (const auto& [property, good, bad, wanted] : cases) {
    for (const std::string& value : good) {
      EXPECT_EQ(Check("{\"a\":" + value + "}", FormOf(property)), "") << property << value;
    }
    for (const std::string& value : bad) {
      EXPECT_EQ(Check("{\"a\":" + value + "}", FormOf(property)), "`a` has to be " + wanted + ".")
          << property << value;
    }
  }
}

TEST(CheckContent, Strings) {
  ExpectCases({
      {R"({"type":"string"})",
       {R"("")", R"("x\u0000\ud83d\ude00")"},
       {"5", "null", "true", "{}", R"(["x"])"},
       "a string"},
      {R"({"type":"string","minLength":2})",
       {R"("ab")", R"("\u00e9\ud83d\ude00")"},
       {R"("")", R"("\ud83d\ude00")"},
       "at least 2 characters"},
      {R"({"type":"string","maxLength":2})",
       {R"("")", R"("\ud83d\ude00\ud83d\ude00")"},
       {R"("abc")"},
       "at most 2 characters"},
      {R"({"type":"string","minLength":null,"maxLength":"1"})", {R"("abc")"}, {}, ""},
      {R"({"type":"string","enum":["a","b"]})",
       {R"("a")", R"("\u0062")"},
       {R"("c")", R"("")"},
       "one of: a, b"},
      {R"({"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"},{"title":"x"}]})",
       {R"("a")", R"("b")"},
       {R"("A")", R"("x")"},
       "one of: a, b"},
      {R"({"type":"string","enum":[]})", {}, {R"("a")"}, "left out: the form offers no choice"},
      {R"({"type":"string","enum":null,"oneOf":null})", {R"("a")"}, {}, ""},
      {R"({"type":"string","pattern":"^[a-c]+$"})",
       {R"("abc")"},
       {R"("abcd")", R"("")"},
       "a string that matches ^[a-c]+$"},
      {R"({"type":"string","pattern":"b"})", {R"("abc")"}, {R"("ac")"}, "a string that matches b"},
  });
}

TEST(CheckContent, Formats) {
  ExpectCases({
      {R"({"type":"string","format":"email"})",
       {R"("a@b.c")", R"("\u00e9+x@localhost")"},
       {R"("")", R"("a@")", R"("@b")", R"("a b@c")", R"("a@b@c")", R"("a@b\n")"},
       "an e-mail address"},
      {R"({"type":"string","format":"uri"})",
       {R"("https://x/?a#b")", R"("mailto:a@b")", R"("urn:x:y")"},
       {R"("")", R"("x")", R"("/a/b")", R"("1a:b")", R"("https:")", R"("https://a b")"},
       "a URI with its scheme"},
      {R"({"type":"string","format":"date"})",
       {R"("2024-02-29")", R"("0001-12-31")"},
       {R"("2026-02-29")", R"("2026-13-01")", R"("2026-00-10")", R"("2026-1-1")",
        R"("2026-01-01T00:00:00Z")", R"("")"},
       "a date like 2026-12-31"},
      {R"({"type":"string","format":"date-time"})",
       {R"("2026-01-02T03:04:05Z")", R"("2026-01-02t03:04:60.123+23:59")"},
       {R"("2026-01-02")", R"("2026-01-02T24:00:00Z")", R"("2026-01-02T03:04:05")",
        R"("2026-02-30T03:04:05Z")", R"("2026-01-02 03:04:05Z")", R"("2026-01-02T03:04Z")",
        R"("T03:04:05Z")"},
       "a time like 2026-12-31T23:59:59Z"},
      {R"({"type":"string","format":"ipv6"})", {R"("anything")"}, {}, ""},
      {R"({"type":"string","format":5})", {R"("anything")"}, {}, ""},
  });
}

TEST(CheckContent, Numbers) {
  ExpectCases({
      {R"({"type":"number"})",
       {"0", "-1.5", "1e300"},
       {R"("1")", "null", "true", "[1]"},
       "a number"},
      {R"({"type":"number","minimum":1.5})", {"1.5", "2"}, {"1.4999", "-2"}, "at least 1.5"},
      {R"({"type":"number","maximum":-1})", {"-1", "-1e9"}, {"-0.5", "0"}, "at most -1"},
      {R"({"type":"integer"})",
       {"0", "-7", "3.0", "1e3"},
       {"1.5", R"("1")", "null", "9223372036854775808", "1e300"},
       "a whole number"},
      {R"({"type":"integer","minimum":9007199254740993})",
       {"9007199254740993"},
       {"9007199254740992", "0"},
       "at least 9007199254740993"},
      {R"({"type":"integer","maximum":10})", {"10", "-3"}, {"11"}, "at most 10"},
      {R"({"type":"integer","minimum":1.5})", {"2"}, {"1"}, "at least 1.5"},
      {R"({"type":"integer","minimum":null,"maximum":"1"})", {"2"}, {}, ""},
      {R"({"type":"boolean"})", {"true", "false"}, {"0", R"("true")", "null"}, "true or false"},
  });
}

TEST(CheckContent, MultipleChoices) {
  ExpectCases({
      {R"({"type":"array","items":{"type":"string","enum":["a","b"]}})",
       {"[]", R"(["a"])", R"(["b","a"])"},
       {R"(["c"])", R"(["a","x"])"},
       "an array of which each is one of: a, b"},
      {R"({"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}})",
       {R"(["a"])"},
       {R"(["A"])"},
       "an array of which each is one of: a"},
      {R"({"type":"array","items":{"type":"string","enum":["a"]}})",
       {},
       {R"("a")", "5", "null", "{}", "[5]", R"([["a"]])"},
       "an array of strings"},
      {R"({"type":"array","minItems":1,"items":{"type":"string","enum":["a"]}})",
       {R"(["a"])"},
       {"[]"},
       "at least 1 items"},
      {R"({"type":"array","maxItems":1,"items":{"type":"string","enum":["a"]}})",
       {"[]"},
       {R"(["a","a"])"},
       "at most 1 items"},
      {R"({"type":"array"})", {R"(["x"])"}, {"[1]"}, "an array of strings"},
  });
}

TEST(CheckContent, UnknownTypesTakeWhatACPCanCarry) {
  for (const std::string property : {R"({"type":"colour"})", "{}", "5", R"({"type":null})"}) {
    ExpectCases({{property,
                  {R"("x")", "1.5", "true", R"(["x"])", "[]"},
                  {"null", "{}"},
                  "a string, a number, true, false or an array of strings"}});
    ExpectCases({{property, {}, {"[1]", "[[]]"}, "an array of strings"}});
  }
}

TEST(CheckContent, Members) {
  const std::string schema =
      R"({"type":"object","title":"T","properties":{"a":{"type":"string","default":"x"},)"
      R"("b":{"type":"number","foo":1}},"required":["a",5],"additionalProperties":true})";
  const std::pair<std::string, std::string> cases[] = {
      {R"({"a":"1"})", ""},
      {R"({"b":1,"a":"1"})", ""},
      {R"({"\u0061":"1"})", ""},
      {"{}", "`a` is required: give it a value."},
      {R"({"b":1})", "`a` is required: give it a value."},
      {R"({"a":"1","c":1})", "`c` is not asked for: leave it out."},
      {R"({"a":"1","a":"2"})", "`a` is given twice: give it once."},
      {R"({"a":"1","b":"2"})", "`b` has to be a number."},
      {R"({"a":"1","x\n`":"2"})", "`x\\u000a`` is not asked for: leave it out."},
  };
  for (const auto& [content, sentence] : cases) EXPECT_EQ(Check(content, schema), sentence);
  for (const std::string content : {"", "null", "[]", "{", "\"x\"", "{\"a\":\"\xFF\"}"}) {
    EXPECT_EQ(Check(content, schema), "The content has to be a JSON object, in UTF-8.") << content;
  }
}

TEST(CheckContent, OddSchemas) {
  for (const std::string schema :
       {"", "{", "[]", "{}", R"({"properties":[]})", R"({"properties":null,"required":"a"})"}) {
    EXPECT_EQ(Check("{}", schema), "") << schema;
    EXPECT_EQ(Check(R"({"a":1})", schema), "`a` is not asked for: leave it out.") << schema;
  }
  EXPECT_EQ(Check("{}", R"({"required":["z"]})"), "`z` is required: give it a value.");
}

TEST(CheckContent, LongChoicesAndNamesAreCutInSentences) {
  std::string schema = R"({"type":"string","enum":[)";
  for (int i = 0; i < 1000; ++i) schema += "\"value" + std::to_string(i) + "\",";
  schema.back() = ']';
  const std::string sentence = Check(R"({"a":"x"})", FormOf(schema + "}"));
  EXPECT_THAT(sentence, HasSubstr("value0, value1"));
  EXPECT_LT(sentence.size(), 400u);
  EXPECT_LT(Check("{\"" + std::string(100'000, 'n') + "\":1}", "{}").size(), 200u);
}

// What RE2 does not know, and what is long, is left to the agent.
TEST(CheckContent, PatternsThatAreNotChecked) {
  const auto pattern = [](const std::string& text) {
    return FormOf(R"({"type":"string","pattern":")" + text + "\"}");
  };
  for (const std::string unknown :
       {R"((?=b)x)", R"((a)\\1)", "(", "[z-a]", R"(\\u0041)", R"((a{1000}){1000})"}) {
    EXPECT_EQ(Check(R"({"a":"zzz"})", pattern(unknown)), "") << unknown;
  }
  EXPECT_EQ(Check(R"({"a":"zzz"})", pattern(std::string(513, 'a'))), "");
  EXPECT_NE(Check(R"({"a":"zzz"})", pattern(std::string(512, 'a'))), "");
  EXPECT_EQ(Check("{\"a\":\"" + std::string(1025, 'z') + "\"}", pattern("a")), "");
  EXPECT_NE(Check("{\"a\":\"" + std::string(1024, 'z') + "\"}", pattern("a")), "");
}

// The sentence, within a bound that is generous: sanitizers and busy machines are slow.
std::string CheckInTime(const std::string& content, const std::string& schema) {
  const auto start = std::chrono::steady_clock::now();
  std::string sentence = Check(content, schema);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  return sentence;
}

// What is quadratic, exponential or too deep takes far longer.
TEST(CheckContent, LargeInputIsCheckedInTime) {
  constexpr size_t kSize = 256 << 10;
  std::string content = "{";
  std::string properties;
  for (int i = 0; content.size() < kSize; ++i) {
    const std::string name = "\"" + std::to_string(i) + "\":";
    content += name + "\"v\",";
    properties += name + R"({"type":"string"},)";
  }
  content.back() = '}';
  properties.back() = '}';
  EXPECT_EQ(CheckInTime(content, "{\"properties\":{" + properties + "}"), "");

  std::string list = "[";
  for (int i = 0; list.size() < kSize; ++i) list += "\"" + std::to_string(i) + "\",";
  list.back() = ']';
  const std::string choices =
      FormOf(R"({"type":"array","items":{"type":"string","enum":)" + list + "}}");
  EXPECT_EQ(CheckInTime("{\"a\":" + list + "}", choices), "");

  const std::string deep = "{\"a\":" + std::string(kSize, '[') + std::string(kSize, ']') + "}";
  EXPECT_NE(CheckInTime(deep, FormOf("{}")), "");
  EXPECT_EQ(CheckInTime("{}", deep), "");

  const std::string backtracking = R"({"type":"string","pattern":"^(x+x+)+y$"})";
  EXPECT_NE(CheckInTime("{\"a\":\"" + std::string(1024, 'x') + "\"}", FormOf(backtracking)), "");
}

TEST(CheckContent, AForms16thPatternIsCheckedAndTheNextIsNot) {
  const auto check = [](int forms) {
    std::string content = "{";
    std::string properties;
    for (int i = 1; i <= forms; ++i) {
      const std::string name = "\"" + std::to_string(i) + "\":";
      content += name + "\"x\",";
      properties += name + R"({"type":"string","pattern":")" + (i == forms ? "y" : "x") + "\"},";
    }
    content.back() = '}';
    properties.back() = '}';
    return Check(content, "{\"properties\":{" + properties + "}");
  };
  EXPECT_EQ(check(16), "`16` has to be a string that matches y.");
  EXPECT_EQ(check(17), "");
}

}  // namespace
}  // namespace acpd::acp
