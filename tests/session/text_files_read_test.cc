// What of a text file is read: lines and limits, and bytes that are no text.
#include <gmock/gmock.h>

#include <filesystem>
#include <limits>

#include "acp/text.h"
#include "session/text_files.h"
#include "tests/session/text_files_fixture.h"

namespace acpd::session {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

using TextReadsTest = TextFilesFixture;
INSTANTIATE_TEST_SUITE_P(Ways, TextReadsTest, testing::Bool(), WayName);

struct LinesRow {
  std::optional<uint64_t> line;
  std::optional<uint64_t> limit;
  std::string text;
};

constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();

TEST_P(TextReadsTest, LineAndLimit) {
  Put("root/lines", "a\nbb\n\nd");  // no line end at the end
  const std::vector<LinesRow> rows = {
      {{}, {}, "a\nbb\n\nd"},
      {1, {}, "a\nbb\n\nd"},
      {0, {}, "a\nbb\n\nd"},
      {2, {}, "bb\n\nd"},
      {3, {}, "\nd"},
      {4, {}, "d"},
      {5, {}, ""},
      {kHuge, {}, ""},
      {{}, 0, ""},
      {{}, 1, "a\n"},
      {{}, 2, "a\nbb\n"},
      {{}, 4, "a\nbb\n\nd"},
      {{}, 5, "a\nbb\n\nd"},
      {{}, kHuge, "a\nbb\n\nd"},
      {0, 1, "a\n"},
      {1, 1, "a\n"},
      {2, 1, "bb\n"},
      {3, 1, "\n"},
      {4, 1, "d"},
      {2, 2, "bb\n\n"},
      {2, kHuge, "bb\n\nd"},
      {5, 1, ""},
      {2, 0, ""},
      {kHuge, kHuge, ""},
  };
  for (const LinesRow& row : rows) {
    EXPECT_EQ(Lines("root/lines", row.line, row.limit), row.text)
        << row.line.value_or(-1) << " " << row.limit.value_or(-1);
  }
  Put("root/ended", "a\nb\n");
  EXPECT_EQ(Lines("root/ended", 2, {}), "b\n");
  EXPECT_EQ(Lines("root/ended", 3, {}), "");
  EXPECT_EQ(Lines("root/ended", {}, 2), "a\nb\n");
}

TEST_P(TextReadsTest, LinesAcrossBlocks) {
  std::string text;
  std::vector<std::string> lines;
  for (int i = 1; i <= 40000; ++i) {
    lines.push_back(std::to_string(i) + std::string(i % 40, '.') + "\n");
    text += lines.back();
  }
  Put("root/lines", text);
  EXPECT_EQ(Lines("root/lines", {}, {}, text.size()), text);
  for (const size_t line : {1, 7, 5000, 5001, 12345, 39999, 40000}) {
    EXPECT_EQ(Lines("root/lines", line, 1), lines[line - 1]);
    const size_t at = text.find("\n" + lines[line - 1]) + 1;
    EXPECT_EQ(Lines("root/lines", line, {}, text.size()), line == 1 ? text : text.substr(at));
  }
}

TEST_P(TextReadsTest, WhatIsReturnedIsLimited) {
  Put("root/lines", "12345\n12345\n12345\n");
  EXPECT_EQ(Lines("root/lines", {}, {}, 18), "12345\n12345\n12345\n");
  EXPECT_EQ(Lines("root/lines", {}, {}, 19), "12345\n12345\n12345\n");
  EXPECT_EQ(Lines("root/lines", {}, {}, 17), "<TooLarge>");
  EXPECT_THAT(message_, HasSubstr("17 bytes"));
  EXPECT_THAT(message_, HasSubstr("with line and limit"));
  EXPECT_EQ(Lines("root/lines", 2, {}, 12), "12345\n12345\n");
  EXPECT_EQ(Lines("root/lines", 2, {}, 11), "<TooLarge>");
  EXPECT_EQ(Lines("root/lines", 2, 1, 6), "12345\n");
  EXPECT_EQ(Lines("root/lines", 2, 1, 5), "<TooLarge>");
  EXPECT_THAT(message_, HasSubstr("fewer lines"));
  EXPECT_EQ(Lines("root/lines", 2, 0, 0), "");
  EXPECT_EQ(Lines("root/lines", 4, {}, 0), "");
  EXPECT_EQ(Lines("root/lines", 1, 1, 0), "<TooLarge>");
}

TEST_P(TextReadsTest, AHugeLine) {
  Put("root/huge", std::string(3 << 20, 'x') + "\nnext\n");
  EXPECT_EQ(Lines("root/huge", {}, {}), "<TooLarge>");
  EXPECT_EQ(Lines("root/huge", 1, 1), "<TooLarge>");
  EXPECT_EQ(Lines("root/huge", 2, {}), "next\n");
  EXPECT_EQ(Lines("root/huge", {}, 1, 4 << 20).size(), (3 << 20) + 1);
}

TEST_P(TextReadsTest, WhatIsLookedThroughIsLimited) {
  Put("root/sparse", "");
  fs::resize_file(At("root/sparse"), kMaxScannedBytes);
  EXPECT_EQ(Lines("root/sparse", 2, 1), "");
  fs::resize_file(At("root/sparse"), kMaxScannedBytes + 1);
  EXPECT_EQ(Lines("root/sparse", 2, 1), "<TooLarge>");
  EXPECT_THAT(message_, HasSubstr("1073741824"));
  EXPECT_EQ(Lines("root/sparse", {}, {}), "<TooLarge>");
}

TEST_P(TextReadsTest, BytesStayAsTheyAre) {
  for (const std::string& text :
       {std::string(), std::string("\n"), std::string("a\r\nb\r\n"), std::string("a\rb"),
        std::string("\xEF\xBB\xBFtext\n"), std::string("a\0b\0", 4), std::string("\t\x1b[0m\x7f"),
        std::string("h\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"), std::string("\xEF\xBF\xBD")}) {
    EXPECT_EQ(Write("root/text", text), "");
    EXPECT_EQ(Get("root/text"), text);
    const ReadText read = ReadAll("root/text");
    EXPECT_EQ(read.content, text);
    EXPECT_EQ(read.bytes, text.size());
    EXPECT_FALSE(read.repaired);
  }
  Put("root/crlf", "a\r\nb\r\n");
  EXPECT_EQ(Lines("root/crlf", 1, 1), "a\r\n");
  EXPECT_EQ(Lines("root/crlf", 2, 1), "b\r\n");
}

TEST_P(TextReadsTest, InvalidUtf8IsReplacedAndSaid) {
  Put("root/latin", "caf\xE9\nok\n");
  const ReadText read = ReadAll("root/latin");
  EXPECT_EQ(read.content, "caf\xEF\xBF\xBD\nok\n");
  EXPECT_EQ(read.bytes, 8u);
  EXPECT_TRUE(read.repaired);
  // Only the part that was asked for counts.
  const auto part = ReadTextFile(roots_, At("root/latin"), 2, {}, kPlenty);
  EXPECT_EQ(std::get<ReadText>(part).content, "ok\n");
  EXPECT_FALSE(std::get<ReadText>(part).repaired);
  // The limit is that of what is returned: 10 bytes instead of 8.
  EXPECT_EQ(Lines("root/latin", {}, {}, 10), read.content);
  EXPECT_EQ(Lines("root/latin", {}, {}, 9), "<TooLarge>");
  EXPECT_THAT(message_, HasSubstr("invalid UTF-8"));
  Put("root/binary", std::string("\x7f"
                                 "ELF\0\xff\xfe\x80",
                                 8));
  EXPECT_TRUE(IsCleanText(ReadAll("root/binary").content));
  EXPECT_TRUE(ReadAll("root/binary").repaired);
}

}  // namespace
}  // namespace acpd::session
