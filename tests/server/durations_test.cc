#include "server/durations.h"

#include <gtest/gtest.h>

namespace acpd::server {
namespace {

using std::chrono::milliseconds;

TEST(DurationsTest, UnitsAreRead) {
  EXPECT_EQ(ParseDuration("0ms"), milliseconds(0));
  EXPECT_EQ(ParseDuration("500ms"), milliseconds(500));
  EXPECT_EQ(ParseDuration("10s"), milliseconds(10'000));
  EXPECT_EQ(ParseDuration("5m"), milliseconds(300'000));
  EXPECT_EQ(ParseDuration("1h"), milliseconds(3'600'000));
}

TEST(DurationsTest, AnythingElseIsRefused) {
  for (const char* text : {"", "5", "s", "5 s", " 5s", "5s ", "-5s", "+5s", "1.5s", "5S", "5d",
                           "1m30s", "5us", "0x5s"}) {
    EXPECT_EQ(ParseDuration(text), std::nullopt) << text;
  }
}

TEST(DurationsTest, WhatCannotBeCountedIsRefused) {
  EXPECT_EQ(ParseDuration("9223372036854775807ms"), milliseconds(9223372036854775807));
  EXPECT_EQ(ParseDuration("9223372036854775808ms"), std::nullopt);
  EXPECT_EQ(ParseDuration("9223372036854775807h"), std::nullopt);
}

TEST(DurationsTest, SizesAreRead) {
  EXPECT_EQ(ParseSize("10B"), 10);
  EXPECT_EQ(ParseSize("64KiB"), 64 << 10);
  EXPECT_EQ(ParseSize("3MiB"), 3 << 20);
  EXPECT_EQ(ParseSize("2GiB"), int64_t{2} << 30);
  for (const char* text : {"", "10", "64KB", "64kib", "64K", "1.5MiB", "-1B", "9999999999999GiB"}) {
    EXPECT_EQ(ParseSize(text), std::nullopt) << text;
  }
}

TEST(DurationsTest, TheyAreWrittenInTheLargestUnit) {
  EXPECT_EQ(FormatDuration(milliseconds(0)), "0ms");
  EXPECT_EQ(FormatDuration(milliseconds(1500)), "1500ms");
  EXPECT_EQ(FormatDuration(milliseconds(90'000)), "90s");
  EXPECT_EQ(FormatDuration(milliseconds(120'000)), "2m");
  EXPECT_EQ(FormatSize(1000), "1000B");
  EXPECT_EQ(FormatSize(1 << 20), "1MiB");
}

}  // namespace
}  // namespace acpd::server
