#include <gtest/gtest.h>

#include "acp/line_splitter.h"
#include "tests/acp/protocol_allocations.h"
#include "tests/acp/protocol_splitter.h"

namespace acpd::acp {
namespace {

using Lines = std::vector<std::string>;

constexpr size_t kMax = 1 << 20;

Lines Split(const Lines& pieces, size_t max_line = kMax) {
  SplitterRun run(max_line);
  for (const std::string& piece : pieces) run.Feed(piece);
  run.Finish();
  return run.seen;
}

const std::string kWire =
    "{\"a\":1}\r\n\n  \t\r\n\r\nnoise \xF0\x9F\x98\x80\xFF\n\n{\"b\":\"x\\ny\"}\ra\n\r\r\nlast\r";
const Lines kWireLines = {"{\"a\":1}", "noise \xF0\x9F\x98\x80\xFF", "{\"b\":\"x\\ny\"}\ra",
                          "last"};

TEST(LineSplitter, CutsAtNewlinesDropsCarriageReturnsAndBlankLines) {
  EXPECT_EQ(Split({kWire}), kWireLines);
}

TEST(LineSplitter, PiecesDoNotMatter) {
  for (size_t i = 0; i <= kWire.size(); ++i) {
    for (size_t j = i; j <= kWire.size(); ++j) {
      SplitterRun run(kMax, 1000);
      run.Feed(kWire.substr(0, i));
      run.Feed(kWire.substr(i, j - i));
      run.Feed(kWire.substr(j));
      run.Finish();
      EXPECT_EQ(run.seen, kWireLines) << i << " " << j;
      EXPECT_EQ(run.splitter.consumed(), 1000 + kWire.size());
    }
  }
}

TEST(LineSplitter, TakesSingleBytes) {
  Lines pieces;
  for (const char c : kWire) pieces.emplace_back(1, c);
  EXPECT_EQ(Split(pieces), kWireLines);
}

TEST(LineSplitter, NulBytesAreBytes) {
  const std::string line("a\0b", 3);
  EXPECT_EQ(Split({line + "\n" + line}), (Lines{line, line}));
}

TEST(LineSplitter, NothingComesOfNothing) {
  EXPECT_EQ(Split({}), Lines{});
  EXPECT_EQ(Split({"", "\n", "\r\n", "", "  "}), Lines{});
}

TEST(LineSplitter, ConsumedStandsAtLineBorders) {
  SplitterRun run(kMax, 50);
  EXPECT_EQ(run.splitter.consumed(), 50u);
  run.Feed("abc");
  EXPECT_EQ(run.splitter.consumed(), 50u);
  EXPECT_EQ(run.splitter.pending_bytes(), 3u);
  run.Feed("d\nef");
  EXPECT_EQ(run.splitter.consumed(), 55u);
  EXPECT_EQ(run.splitter.pending_bytes(), 2u);
  run.Feed("\n\n\r\n");
  EXPECT_EQ(run.splitter.consumed(), 61u);
  EXPECT_EQ(run.splitter.pending_bytes(), 0u);
  run.Feed("tail");
  EXPECT_EQ(run.splitter.consumed(), 61u);
  run.Finish();
  EXPECT_EQ(run.splitter.consumed(), 65u);
  EXPECT_EQ(run.seen, (Lines{"abcd", "ef", "tail"}));
}

TEST(LineSplitter, ConsumedFollowsTheLineThatWasGivenOut) {
  LineSplitter splitter(kMax);
  splitter.Feed("one\n\ntwo\nthree", 0);
  LineSplitter::Line line;
  ASSERT_TRUE(splitter.Next(&line));
  EXPECT_EQ(splitter.consumed(), 4u);
  ASSERT_TRUE(splitter.Next(&line));
  EXPECT_EQ(splitter.consumed(), 9u);
  EXPECT_FALSE(splitter.Next(&line));
  EXPECT_EQ(splitter.consumed(), 9u);
}

TEST(LineSplitter, AWholeLineIsNotCopied) {
  const std::string piece = "one\ntwo\n";
  LineSplitter splitter(kMax);
  splitter.Feed(piece, 0);
  LineSplitter::Line line;
  ASSERT_TRUE(splitter.Next(&line));
  EXPECT_EQ(line.text.data(), piece.data());
  ASSERT_TRUE(splitter.Next(&line));
  EXPECT_EQ(line.text.data(), piece.data() + 4);
}

TEST(LineSplitter, SaysWhetherALineIsPadded) {
  const std::string piece = "one\n" + std::string(62, 'x') + "\n";
  LineSplitter splitter(kMax);
  splitter.Feed(piece, 0);
  LineSplitter::Line line;
  ASSERT_TRUE(splitter.Next(&line));
  EXPECT_TRUE(line.padded) << "64 bytes follow in the piece";
  ASSERT_TRUE(splitter.Next(&line));
  EXPECT_FALSE(line.padded) << "only the newline follows";

  const std::string padded = "one\n" + std::string(63, '\0');
  splitter.Feed(std::string_view(padded).substr(0, 4), 63);
  ASSERT_TRUE(splitter.Next(&line));
  EXPECT_TRUE(line.padded);
  ASSERT_FALSE(splitter.Next(&line));

  splitter.Feed("in two", 0);
  ASSERT_FALSE(splitter.Next(&line));
  splitter.Feed(" pieces\n", 0);
  ASSERT_TRUE(splitter.Next(&line));
  EXPECT_TRUE(line.padded) << "the splitter's own buffer";
}

TEST(LineSplitter, LinesAroundThePipeSizeComeWhole) {
  for (const size_t size : {(64u << 10) - 1, 64u << 10, (64u << 10) + 1, (256u << 10) + 1}) {
    const std::string text(size, 'x');
    const std::string wire = text + "\n" + text + "\r\n";
    EXPECT_EQ(Split({wire}), (Lines{text, text}));
    Lines pieces;
    for (size_t at = 0; at < wire.size(); at += 64 << 10) {
      pieces.push_back(wire.substr(at, 64 << 10));
    }
    EXPECT_EQ(Split(pieces), (Lines{text, text})) << size;
  }
}

TEST(LineSplitter, MemoryOfALongLineIsGivenBack) {
  SplitterRun run(kMax * 32);
  run.Feed("short\n");
  const size_t before = test::AllocatedBytes();
  for (int i = 0; i < 16; ++i) run.Feed(std::string(1 << 20, 'x'));
  EXPECT_GT(test::AllocatedBytes(), before + (16u << 20) - 1);
  EXPECT_EQ(run.splitter.pending_bytes(), 16u << 20);
  run.Feed("\n");
  ASSERT_EQ(run.seen.size(), 2u);
  run.seen = {};
  run.Feed("");
  EXPECT_LT(test::AllocatedBytes(), before + (300u << 10));
}

TEST(LineSplitter, ShortUnfinishedLinesDoNotAllocateEachTime) {
  LineSplitter splitter(kMax);
  LineSplitter::Line line;
  uint64_t first = 0;
  for (int i = 0; i < 100; ++i) {
    splitter.Feed("an unfinished line of some ", 0);
    ASSERT_FALSE(splitter.Next(&line));
    splitter.Feed("bytes, and its end\n", 0);
    ASSERT_TRUE(splitter.Next(&line));
    ASSERT_FALSE(splitter.Next(&line));
    if (i == 0) first = test::AllocationCount();
  }
  EXPECT_EQ(test::AllocationCount(), first);
}

}  // namespace
}  // namespace acpd::acp
