// Lines over the cap: thrown away as they stream, with what their top level said.

#include <gtest/gtest.h>

#include "acp/top_level_scan.h"
#include "tests/acp/protocol_allocations.h"
#include "tests/acp/protocol_oversize_lines.h"
#include "tests/acp/protocol_splitter.h"

namespace acpd::acp {
namespace {

using Lines = std::vector<std::string>;

TEST(Oversize, TheCapItselfIsAllowed) {
  constexpr size_t kCap = 100;
  for (const std::string ending : {"\n", "\r\n", ""}) {
    for (size_t size = kCap - 1; size <= kCap + 3; ++size) {
      const std::string wire = std::string(size, 'x') + ending;
      const size_t reported = wire.size() - (ending.empty() ? 0 : 1);
      const std::string expected =
          size <= kCap ? std::string(size, 'x') : "oversize " + std::to_string(reported) + "  ";
      for (size_t cut = 0; cut <= wire.size(); ++cut) {
        SplitterRun run(kCap);
        run.Feed("before\n" + wire.substr(0, cut));
        run.Feed(wire.substr(cut));
        if (ending.empty())
          run.Finish();
        else
          run.Feed("after\n");
        Lines all = {"before", expected};
        if (!ending.empty()) all.push_back("after");
        EXPECT_EQ(run.seen, all) << size << " cut at " << cut;
      }
    }
  }
}

TEST(Oversize, IdAndMethodAreFoundWhereverTheyStand) {
  for (const OversizeCase& c : OversizeCases()) {
    const std::string line = Fill(c.line, 5000);
    if (line.size() < 5000) continue;
    const std::string expected =
        "oversize " + std::to_string(line.size()) + " " + c.id + " " + c.method;
    for (const size_t piece : {size_t{1}, size_t{7}, size_t{1000}, line.size() + 1}) {
      SplitterRun run(4000);
      for (size_t at = 0; at <= line.size(); at += piece) run.Feed((line + "\n").substr(at, piece));
      run.Feed("next\n");
      EXPECT_EQ(run.seen, (Lines{expected, "next"})) << c.line << " in pieces of " << piece;
    }
  }
}

TEST(Oversize, TheScanSeesTheSameInAnyTwoPieces) {
  for (const OversizeCase& c : OversizeCases()) {
    const std::string line = Fill(c.line, 1100);
    for (size_t cut = 0; cut <= line.size(); ++cut) {
      TopLevelScan scan;
      scan.Feed(line.substr(0, cut));
      scan.Feed(line.substr(cut));
      EXPECT_EQ(scan.Id(), c.id) << c.line << " cut at " << cut;
      EXPECT_EQ(scan.Method(), c.method) << c.line << " cut at " << cut;
    }
  }
}

TEST(Oversize, WhatCameOfTheLineMayBeAcknowledged) {
  SplitterRun run(10, 100);
  run.Feed("ab\n" + std::string(11, 'x'));
  EXPECT_FALSE(run.splitter.discarding()) << "the next byte may be the newline behind a CR";
  EXPECT_EQ(run.splitter.consumed(), 103u);
  run.Feed("x");
  EXPECT_TRUE(run.splitter.discarding());
  EXPECT_EQ(run.splitter.consumed(), 115u);
  run.Feed("xxx");
  EXPECT_EQ(run.splitter.consumed(), 118u);
  EXPECT_EQ(run.seen, Lines{"ab"});
  run.Feed("\n");
  EXPECT_FALSE(run.splitter.discarding());
  EXPECT_EQ(run.splitter.consumed(), 119u);
  EXPECT_EQ(run.seen.back(), "oversize 15  ");
}

TEST(Oversize, NothingOfTheLineIsKept) {
  SplitterRun run(1 << 20);
  const size_t before = test::AllocatedBytes();
  run.Feed(R"({"id":1,"method":"m","params":")");
  for (int i = 0; i < 1024; ++i) {
    run.Feed(std::string(64 << 10, 'x'));
    EXPECT_LT(test::AllocatedBytes(), before + (4u << 20)) << i;
  }
  EXPECT_EQ(run.splitter.pending_bytes(), 0u);
  EXPECT_LT(test::AllocatedBytes(), before + (64u << 10));
  run.Feed("\"}\n");
  EXPECT_EQ(run.seen, Lines{"oversize " + std::to_string((64u << 20) + 33) + " 1 m"});
}

TEST(Oversize, DeepNestingNeedsNoMemory) {
  TopLevelScan scan;
  scan.Feed(R"({"id":3,"params":)");
  const size_t before = test::AllocatedBytes();
  const std::string open(1 << 20, '[');
  const std::string close(1 << 20, ']');
  for (int i = 0; i < 8; ++i) scan.Feed(open);
  for (int i = 0; i < 8; ++i) scan.Feed(close);
  EXPECT_LT(test::AllocatedBytes(), before + (3u << 20));
  scan.Feed(R"(,"method":"m"})");
  EXPECT_EQ(scan.Id(), "3");
  EXPECT_EQ(scan.Method(), "m");
}

}  // namespace
}  // namespace acpd::acp
