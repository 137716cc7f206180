// JSON values as they stand in a text.

#include <gtest/gtest.h>

#include "acp/json_value.h"
#include "acp/types.h"

namespace acpd::acp {
namespace {

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
