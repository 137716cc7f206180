#include "server/edit_distance.h"

#include <gtest/gtest.h>

namespace acpd::server {
namespace {

TEST(EditDistanceTest, CountsChanges) {
  EXPECT_EQ(EditDistance("", ""), 0u);
  EXPECT_EQ(EditDistance("abc", "abc"), 0u);
  EXPECT_EQ(EditDistance("", "abc"), 3u);
  EXPECT_EQ(EditDistance("abc", ""), 3u);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(EditDistance("listn", "listen"), 1u);
}

TEST(EditDistanceTest, TheNearestIsFound) {
  EXPECT_EQ(Nearest("turn_silence", {"args", "turn_timeout", "env"}), "turn_timeout");
  EXPECT_EQ(Nearest("ab", {"aa", "bb"}), "aa");
  EXPECT_EQ(Nearest("x", {}), "");
}

}  // namespace
}  // namespace acpd::server
