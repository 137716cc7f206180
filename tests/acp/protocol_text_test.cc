#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "acp/text.h"

namespace acpd {
namespace {

#define FFFD "\xEF\xBF\xBD"

struct Repair {
  std::string in;
  std::string out;
};

TEST(Text, CleanTextStaysAsItIs) {
  const std::vector<std::string> texts = {
      "",
      "plain",
      std::string("a\0b", 3),
      "\x7F",
      "\xC2\x80",
      "\xDF\xBF",
      "\xE0\xA0\x80",
      "\xED\x9F\xBF",
      "\xEE\x80\x80",
      "\xEF\xBF\xBF",
      "\xF0\x90\x80\x80",
      "\xF4\x8F\xBF\xBF",
      std::string(100, 'x') + "\xF0\x9F\x98\x80" + std::string(100, 'y')};
  for (const std::string& text : texts) {
    EXPECT_TRUE(IsCleanText(text)) << text;
    EXPECT_EQ(RepairText(text), text);
    EXPECT_EQ(RepairJsonText(text), text);
  }
}

TEST(Text, EachBrokenCharacterBecomesOneReplacement) {
  const std::vector<Repair> cases = {
      {"\xFF", FFFD},
      {"a\xFF\xFE"
       "b",
       "a" FFFD FFFD "b"},
      {"\x80", FFFD},
      {"\xBF\x80", FFFD FFFD},
      {"\xC0\x80", FFFD FFFD},  // overlong
      {"\xC1\xBF", FFFD FFFD},
      {"\xE0\x80\x80", FFFD FFFD FFFD},
      {"\xF0\x80\x80\x80", FFFD FFFD FFFD FFFD},
      {"\xED\xA0\x80", FFFD FFFD FFFD},  // a surrogate
      {"\xED\xBF\xBF", FFFD FFFD FFFD},
      {"\xF4\x90\x80\x80", FFFD FFFD FFFD FFFD},  // beyond U+10FFFF
      {"\xF5\x80", FFFD FFFD},
      {"\xC3", FFFD},  // cut off
      {"\xC3(", FFFD "("},
      {"\xE2\x82", FFFD},
      {"\xE2\x82"
       "A",
       FFFD "A"},
      {"\xE2"
       "A",
       FFFD "A"},
      {"\xF0\x9F\x98", FFFD},
      {"\xF0\x9F\x98"
       "A",
       FFFD "A"},
      {"\xF0\x9F"
       "A",
       FFFD "A"},
      {"\xF0\x9F\x98\xF0\x9F\x98\x80", FFFD "\xF0\x9F\x98\x80"},
      {"\xE2\x82\xAC\xE2\x82", "\xE2\x82\xAC" FFFD},
  };
  for (const Repair& c : cases) {
    EXPECT_FALSE(IsCleanText(c.in)) << testing::PrintToString(c.in);
    EXPECT_EQ(RepairText(c.in), c.out) << testing::PrintToString(c.in);
    EXPECT_TRUE(IsCleanText(RepairText(c.in)));
  }
}

TEST(Text, EveryPairOfBytesIsRepaired) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string text = {static_cast<char>(first), static_cast<char>(second)};
      const std::string repaired = RepairText(text);
      EXPECT_TRUE(IsCleanText(repaired)) << first << " " << second;
      EXPECT_EQ(IsCleanText(text), repaired == text) << first << " " << second;
    }
  }
}

TEST(Text, LoneSurrogateEscapesAreReplaced) {
  const std::vector<Repair> cases = {
      {R"("\ud83d")", R"("\ufffd")"},
      {R"("\uD83Dx")", R"("\ufffdx")"},
      {R"("\udc00")", R"("\ufffd")"},
      {R"("\uDFFF\ud800")", R"("\ufffd\ufffd")"},
      {R"("\ud83d\ud83d\ude00")", R"("\ufffd\ud83d\ude00")"},
      {R"("\ud83d\u0041")", R"("\ufffd\u0041")"},
      {R"("\ud83d\n")", R"("\ufffd\n")"},
      {R"("\ud83d\\ude00")", R"("\ufffd\\ude00")"},
      {R"("\\\ud83d")", R"("\\\ufffd")"},
      {"\"\xFF\\ud83d\"", "\"" FFFD "\\ufffd\""},
  };
  for (const Repair& c : cases) {
    EXPECT_FALSE(IsCleanJsonText(c.in)) << c.in;
    EXPECT_EQ(RepairJsonText(c.in), c.out);
    EXPECT_TRUE(IsCleanJsonText(c.out)) << c.out;
  }
}

TEST(Text, OtherEscapesStay) {
  for (const std::string text :
       {R"("\ud83d\ude00")", R"("\\ud83d")", R"("\u00e9\ufffd\uABCD")", R"("\ud83")", R"("\ud83x")",
        R"("\u")", R"(\)", R"("\\\\udc00")", R"("\uFFFF\uD7FF\uE000")"}) {
    EXPECT_TRUE(IsCleanJsonText(text)) << text;
    EXPECT_EQ(RepairJsonText(text), text);
  }
}

TEST(Text, CutsBetweenCharacters) {
  const std::string text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z";  // sizes 1 2 3 4 1
  const std::vector<size_t> front = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
  const std::vector<size_t> back = {0, 1, 1, 1, 1, 5, 5, 5, 8, 8, 10, 11, 11};
  for (size_t max = 0; max < front.size(); ++max) {
    EXPECT_EQ(CutText(text, max), text.substr(0, front[max])) << max;
    EXPECT_EQ(CutTextFront(text, max), text.substr(text.size() - back[max])) << max;
  }
}

TEST(Text, WhatPeopleReadIsOneLineAndNotLong) {
  EXPECT_EQ(ShownText("a \xC3\xA9", 100), "a \xC3\xA9");
  EXPECT_EQ(ShownText(std::string_view("a\n\x1b[\x7f\0", 6), 100), R"(a\u000a\u001b[\u007f\u0000)");
  EXPECT_EQ(ShownText("\xff", 100), "\xEF\xBF\xBD");
  EXPECT_EQ(ShownText("abcdef", 6), "abcdef");
  EXPECT_EQ(ShownText("abcdefg", 6), "abcdef...");
  EXPECT_EQ(ShownText("abcde\xC3\xA9", 6), "abcde...");
  EXPECT_EQ(ShownText("\n\n", 11), R"(\u000a\u000...)") << "escapes count as well";
}

TEST(Text, CutsTextWithoutBordersAtTheLimit) {
  const std::string text(100, '\x80');
  EXPECT_EQ(CutText(text, 50).size(), 50u);
  EXPECT_EQ(CutTextFront(text, 50).size(), 50u);
  EXPECT_EQ(CutText("", 5), "");
  EXPECT_EQ(CutTextFront("", 0), "");
}

}  // namespace
}  // namespace acpd
