// Deep and long lines, and the memory that reading takes.

#include <gtest/gtest.h>

#include "tests/acp/protocol_allocations.h"
#include "tests/acp/protocol_show.h"

namespace acpd::acp {
namespace {

using Kind = Message::Kind;

// A line of `levels` levels: with something in the innermost container, or nothing.
std::string Deep(size_t levels, const std::string& innermost) {
  return R"({"id":1,"method":"m","params":)" + std::string(levels - 1, '[') + innermost +
         std::string(levels - 1, ']') + "}";
}

TEST(Message, DepthIsLimited) {
  for (const std::string innermost : {"", "1", R"("\ud83d")", "123456789012345678901234567890"}) {
    for (const size_t levels : {2, 126, 127, 128}) {
      EXPECT_TRUE(Read(Deep(levels, innermost)).starts_with("request id=1 method=m params=["))
          << levels << " around " << innermost;
    }
    for (const size_t levels : {129, 130, 131, 1025, 200'000}) {
      EXPECT_EQ(Read(Deep(levels, innermost)), "invalid too_deep id=1 method=m")
          << levels << " around " << innermost;
    }
  }
}

TEST(Message, ObjectsCountAsLevelsToo) {
  const auto deep = [](size_t levels) {
    std::string line = R"({"id":1,"result":)";
    for (size_t i = 1; i < levels; ++i) line += R"({"a":)";
    return line + "1" + std::string(levels, '}');
  };
  EXPECT_TRUE(Read(deep(128)).starts_with("result id=1 result={"));
  EXPECT_EQ(Read(deep(129)), "invalid too_deep id=1");
}

TEST(Message, DeepNonsenseIsNoTrouble) {
  std::string objects;
  for (int i = 0; i < 200'000; ++i) objects += R"({"a":)";
  EXPECT_EQ(Read(std::string(200'000, '[')), "noise");
  EXPECT_EQ(Read(R"({"id":4,"params":)" + std::string(200'000, '[')), "noise");
  EXPECT_EQ(Read(objects), "noise");
  EXPECT_EQ(Read(std::string(200'000, '[') + std::string(200'000, ']')), "invalid too_deep");
  EXPECT_EQ(Read(std::string(200'000, '[') + std::string(200'000, '}')), "noise");
}

TEST(Message, TheDepthCanBeSet) {
  MessageParser parser(3);
  EXPECT_EQ(parser.Parse(Deep(3, "1")).kind, Kind::kRequest);
  EXPECT_TRUE(parser.Parse(Deep(4, "")).too_deep);
  EXPECT_EQ(parser.Parse(Deep(3, "")).kind, Kind::kRequest);
}

TEST(Message, LinesOfAllSizesInAnyOrder) {
  MessageParser parser;
  for (const size_t size :
       {10u, 5000u, 100u, 300'000u, 1u, (4u << 20) + 1, 64u, 65'535u, 65'536u}) {
    const std::string text(size, 'x');
    const Message message =
        parser.Parse(R"({"method":"session/update","params":{"sessionId":"s","update":)"
                     R"({"sessionUpdate":"k","content":{"type":"text","text":")" +
                     text + "\"}}}}");
    ASSERT_EQ(message.kind, Kind::kUpdate) << size;
    EXPECT_EQ(message.update.text, text);
  }
}

TEST(Message, ShrinkGivesMemoryBack) {
  MessageParser parser;
  const size_t before = test::AllocatedBytes();
  {
    const std::string line = R"({"id":1,"result":")" + std::string(8 << 20, 'x') + "\"}";
    ASSERT_EQ(parser.Parse(line).kind, Kind::kResult);
  }
  EXPECT_GT(test::AllocatedBytes(), before + (8u << 20));
  parser.Shrink();
  EXPECT_LT(test::AllocatedBytes(), before + (64u << 10));
  EXPECT_EQ(parser.Parse(R"({"id":1,"result":2})").kind, Kind::kResult);
}

TEST(Message, ACommonLineAllocatesNothing) {
  MessageParser parser;
  const std::string line =
      R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":)"
      R"({"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a \"quoted\" \n)" +
      std::string(200, 'x') + "\"}}}}" + std::string(64, '\0');
  const std::string_view text(line.data(), line.size() - 64);
  ASSERT_EQ(parser.Parse(text, true).kind, Kind::kUpdate);
  ASSERT_EQ(parser.Parse(text, false).kind, Kind::kUpdate);
  const uint64_t before = test::AllocationCount();
  for (int i = 0; i < 100; ++i) {
    parser.Parse(text, true);
    parser.Parse(text, false);
  }
  EXPECT_EQ(test::AllocationCount(), before);
}

TEST(Message, AParserCanBeMoved) {
  MessageParser parser(4);
  MessageParser other(std::move(parser));
  parser = std::move(other);
  EXPECT_EQ(parser.Parse(R"({"id":1,"result":2})").kind, Kind::kResult);
  EXPECT_TRUE(parser.Parse(Deep(5, "1")).too_deep);
}

}  // namespace
}  // namespace acpd::acp
