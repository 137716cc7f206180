#include "server/store_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace acpd::server {
namespace {

using testing::ElementsAre;

TEST(StoreWatch, TellsWhenTroubleComesAndWhenItIsOver) {
  asio::io_context loop;
  absl::Status health;
  std::vector<std::string> lines;
  StoreWatch watch(
      loop.get_executor(), [&] { return health; },
      [&](LogLevel level, const std::string& message, const LogFields&) {
        lines.push_back((level == LogLevel::kError ? "error: " : "info: ") + message);
      });
  watch.Start(milliseconds(1));
  loop.run_one();
  EXPECT_THAT(lines, ElementsAre());
  health = absl::UnavailableError("the disk is full");
  loop.run_one();
  health = absl::UnavailableError("the disk is still full");
  loop.run_one();
  EXPECT_THAT(lines, ElementsAre("error: the disk is full"));
  health = absl::OkStatus();
  loop.run_one();
  loop.run_one();
  EXPECT_THAT(lines, ElementsAre("error: the disk is full", "info: the store writes again"));
}

TEST(StoreWatch, TellsOfTroubleThatIsThereFromTheStart) {
  asio::io_context loop;
  std::vector<std::string> lines;
  StoreWatch watch(
      loop.get_executor(), [] { return absl::UnavailableError("the disk is full"); },
      [&](LogLevel, const std::string& message, const LogFields&) { lines.push_back(message); });
  watch.Start(milliseconds(1));
  EXPECT_THAT(lines, ElementsAre("the disk is full"));
}

}  // namespace
}  // namespace acpd::server
