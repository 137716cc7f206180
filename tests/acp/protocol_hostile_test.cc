// What agents should not write: each must cost as much as its bytes and harm nothing behind it.

#include <gtest/gtest.h>

#include "tests/acp/protocol_allocations.h"
#include "tests/acp/protocol_connection_fixture.h"

namespace acpd::acp {
namespace {

constexpr size_t kPiece = 4 << 10;

// The bytes that were allocated to take a line of `size` in small pieces.
uint64_t CostOfLine(size_t size, size_t cap) {
  std::string piece(kPiece + 64, 'x');
  const uint64_t before = test::BytesInAll();
  LineSplitter splitter(cap);
  LineSplitter::Line line;
  for (size_t at = 0; at < size; at += kPiece) {
    splitter.Feed(std::string_view(piece).substr(0, kPiece), 64);
    EXPECT_FALSE(splitter.Next(&line));
  }
  splitter.Feed("\n", 0);
  EXPECT_TRUE(splitter.Next(&line));
  EXPECT_EQ(line.oversize, size > cap);
  EXPECT_EQ(line.text.size(), size > cap ? 0 : size);
  return test::BytesInAll() - before;
}

TEST(Hostile, ALineInSmallPiecesCostsWhatItsBytesDo) {
  constexpr size_t kCap = 32 << 20;
  // A buffer that doubles is moved about once; one that grew with each piece would cost thousands
  // of times its size.
  for (const size_t size : {size_t{1} << 20, size_t{8} << 20, kCap}) {
    EXPECT_LE(CostOfLine(size, kCap), 4 * size + (1 << 20)) << size;
  }
  EXPECT_LE(CostOfLine(4 * kCap, kCap), 4 * kCap + (1 << 20)) << "over the cap nothing is kept";
}

class HostileTest : public ConnectionTest {};

TEST_F(HostileTest, ALineAsLongAsTheCapComesWhole) {
  constexpr size_t kCap = 4 << 20;
  Start({.max_line = kCap});
  const std::string frame = Update("");
  const std::string line = Update(std::string(kCap - (frame.size() - 1), 'x'));
  ASSERT_EQ(line.size(), kCap + 1);
  for (size_t at = 0; at < line.size(); at += kPiece) worker->SayStdout(line.substr(at, kPiece));
  worker->SayStdout(Update("behind"));
  RunUntil([&] { return recorder.seen.size() == 4; });
  EXPECT_EQ(recorder.seen, (Record{"update (" + std::to_string(kCap - frame.size() + 1) + ")",
                                   "consumed " + std::to_string(line.size()), "update behind",
                                   "consumed " + std::to_string(worker->offset)}));
}

TEST_F(HostileTest, NulBytesAreNoise) {
  Start();
  const std::string nuls(3, '\0');
  const std::string inside = std::string(R"({"id":1,"result":")") + '\0' + "\"}";
  worker->SayStdout(nuls + "\n" + inside + "\n" + Update("x"));
  RunAll();
  EXPECT_EQ(recorder.seen, (Record{"noise " + nuls, "noise " + inside, "update x",
                                   "consumed " + std::to_string(worker->offset)}));
}

TEST_F(HostileTest, InvalidTextIsRepairedWhereItIsRead) {
  Start();
  worker->SayStdout(Update("a\xff\xc3z") + Update(R"(\ud83d!)") + "\xff\xfe\n");
  RunAll();
  EXPECT_EQ(recorder.seen,
            (Record{"update a\xEF\xBF\xBD\xEF\xBF\xBDz", "update \xEF\xBF\xBD!", "noise \xff\xfe",
                    "consumed " + std::to_string(worker->offset)}));
}

TEST_F(HostileTest, DeepNestingIsAnsweredForAndForgotten) {
  Start();
  const std::string deep = R"({"id":9,"method":"m","params":)" + std::string(100'000, '[') +
                           std::string(100'000, ']') + "}";
  worker->SayStdout(deep + "\n" + std::string(100'000, '{') + "\n" + Update("x"));
  RunAll();
  EXPECT_EQ(recorder.seen,
            (Record{"oversize " + std::to_string(deep.size()) + " 9 m", "noise (100000)",
                    "update x", "consumed " + std::to_string(worker->offset)}));
}

TEST_F(HostileTest, AFloodOfBlankLinesIsReadAndNothingElse) {
  Start();
  RunAll();
  for (int i = 0; i < 16; ++i) {
    worker->SayStdout(i % 2 == 0 ? std::string(256 << 10, '\n') : [] {
      std::string lines;
      for (int j = 0; j < 64 << 10; ++j) lines += " \r\n\n";
      return lines;
    }());
  }
  RunUntil([this] {
    return !recorder.seen.empty() &&
           recorder.seen.back() == "consumed " + std::to_string(worker->offset);
  });
  EXPECT_EQ(recorder.seen.size(), 16u) << "one report for each chunk";
  worker->SayStdout(Update("x"));
  RunAll();
  EXPECT_EQ(recorder.seen[16], "update x");
}

}  // namespace
}  // namespace acpd::acp
