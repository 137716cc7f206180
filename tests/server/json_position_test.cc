#include "server/json_position.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/strings.h"

namespace acpd::server {
namespace {

using testing::StartsWith;
using Kind = JsonNode::Kind;

JsonNode Parse(std::string_view text) {
  const absl::StatusOr<JsonNode> node = ParseJsonWithLines(text);
  EXPECT_TRUE(node.ok()) << node.status();
  return node.ok() ? *node : JsonNode();
}

std::string PositionErrorOf(std::string_view text) {
  return Cat(ParseJsonWithLines(text).status().message());
}

TEST(JsonPositionTest, EveryKindIsRead) {
  const JsonNode list = Parse("[null, true, -5, 1.5, \"a\\u00e9\", [], {}]");
  ASSERT_EQ(list.kind, Kind::kArray);
  ASSERT_EQ(list.items.size(), 7u);
  EXPECT_EQ(list.items[0].kind, Kind::kNull);
  EXPECT_TRUE(list.items[1].boolean);
  EXPECT_EQ(list.items[2].integer, -5);
  EXPECT_EQ(list.items[3].kind, Kind::kNumber);
  EXPECT_EQ(list.items[3].text, "1.5");
  EXPECT_EQ(list.items[4].text, "a\xc3\xa9");
  EXPECT_EQ(list.items[5].kind, Kind::kArray);
  EXPECT_EQ(list.items[6].kind, Kind::kObject);
}

TEST(JsonPositionTest, NumbersThatDoNotFitAreNotIntegers) {
  EXPECT_EQ(Parse("9223372036854775807").integer, INT64_MAX);
  EXPECT_EQ(Parse("9223372036854775808").kind, Kind::kNumber);
  EXPECT_EQ(Parse("-9223372036854775808").integer, INT64_MIN);
  EXPECT_EQ(Parse("1e3").kind, Kind::kNumber);
  EXPECT_THAT(PositionErrorOf("\n1e999"), StartsWith("2: "));
}

TEST(JsonPositionTest, ValuesAndKeysKnowTheirLines) {
  const JsonNode root = Parse("{\n\"a\":\n1,\n\n\"b\": [2\n,3\n],\"c\":4\n}");
  const JsonNode* a = root.Find("a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->key_line, 2);
  EXPECT_EQ(a->line, 3);
  const JsonNode* b = root.Find("b");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->line, 5);
  EXPECT_EQ(b->items[0].line, 5);  // its end is seen only at the line end behind it
  EXPECT_EQ(b->items[1].line, 6);
  EXPECT_EQ(root.Find("c")->line, 7);
  EXPECT_EQ(root.Find("d"), nullptr);
}

TEST(JsonPositionTest, MembersKeepTheirOrder) {
  const JsonNode root = Parse(R"({"z": 1, "a": {"y": 2, "b": 3}})");
  EXPECT_EQ(root.items[0].key, "z");
  EXPECT_EQ(root.items[1].key, "a");
  EXPECT_EQ(root.items[1].items[0].key, "y");
}

TEST(JsonPositionTest, TheSameKeyInTwoObjectsIsFine) {
  EXPECT_EQ(PositionErrorOf(R"([{"a": 1}, {"a": {"a": 1}}])"), "");
  EXPECT_EQ(PositionErrorOf("{\"a\": 1,\n\"b\": 2,\n\"a\": 3}"),
            "3: the key \"a\" stands twice here (first on line 1)");
}

TEST(JsonPositionTest, DepthIsBounded) {
  EXPECT_EQ(PositionErrorOf(std::string(32, '[') + std::string(32, ']')), "");
  EXPECT_EQ(PositionErrorOf(std::string(33, '[') + std::string(33, ']')),
            "1: nested deeper than 32");
}

TEST(JsonPositionTest, TextThatIsNoJsonIsNamedWithItsLine) {
  for (const char* text :
       {"", "\n", "{", "[1,]", "{\"a\"}", "{a: 1}", "'a'", "nul", "1 2", "/* x"}) {
    EXPECT_THAT(PositionErrorOf(text), testing::ContainsRegex("^[1-2]: .+")) << text;
  }
  EXPECT_THAT(PositionErrorOf("{\n\n\"a\": tru\n}"), StartsWith("3: "));
}

TEST(JsonPositionTest, AValueIsDescribedShortly) {
  EXPECT_EQ(Describe(Parse("null")), "null");
  EXPECT_EQ(Describe(Parse("1.50")), "the number 1.50");
  EXPECT_EQ(Describe(Parse("\"x\"")), "the string \"x\"");
  EXPECT_EQ(Describe(Parse("\"" + std::string(100, 'x') + "\"")),
            "the string \"" + std::string(60, 'x') + "...\"");
  EXPECT_EQ(Describe(Parse("[]")), "a list");
}

}  // namespace
}  // namespace acpd::server
