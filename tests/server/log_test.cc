#include "server/log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/server/temp_folder.h"

namespace acpd::server {
namespace {

using std::chrono::seconds;
using testing::Lt;

std::vector<nlohmann::json> Lines(const std::string& text) {
  std::vector<nlohmann::json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

TEST(LogTest, ALineIsOneJsonObjectInThisOrder) {
  const std::chrono::system_clock::time_point time{
      std::chrono::microseconds(1'700'000'000'123'456)};
  EXPECT_EQ(
      FormatLogLine(time, LogLevel::kWarning, "it broke",
                    {{"session", "s1"}, {"turn", ""}, {"worker", "w\"1\""}}),
      R"({"ts":"2023-11-14T22:13:20.123456Z","level":"warning","msg":"it broke","session":"s1","worker":"w\"1\""})");
}

TEST(LogTest, WhateverTheTextItStaysOneLineOfJson) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  const std::string line = FormatLogLine({}, LogLevel::kError, bytes, {{bytes, bytes}});
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const nlohmann::json parsed = nlohmann::json::parse(line);
  EXPECT_EQ(parsed["msg"].get<std::string>().substr(0, 128), bytes.substr(0, 128));
}

TEST(LogTest, LongTextIsCutBetweenCharacters) {
  std::string text = "xx";
  while (text.size() < 20'000) text += "\xe2\x82\xac";  // the euro sign
  const nlohmann::json parsed = nlohmann::json::parse(FormatLogLine({}, LogLevel::kInfo, text, {}));
  const std::string shown = parsed["msg"];
  EXPECT_EQ(shown.size(), 16382u + 3);  // 2 + 5460 * 3 bytes, and "..."
  EXPECT_EQ(text.substr(0, 16382) + "...", shown);
}

TEST(LogTest, LinesBelowTheLevelAreLeftOut) {
  TempFolder folder;
  std::FILE* file = fopen(folder.File("log").c_str(), "w");
  Log log(LogLevel::kWarning, file);
  log.Write(LogLevel::kDebug, "a");
  log.Write(LogLevel::kInfo, "b");
  log.Write(LogLevel::kWarning, "c");
  log.Write(LogLevel::kError, "d", {{"project", "p"}});
  EXPECT_TRUE(log.Close(seconds(10)));
  log.Write(LogLevel::kError, "too late");
  fclose(file);
  const auto lines = Lines(TempFolder::Read(folder.File("log")));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["msg"], "c");
  EXPECT_EQ(lines[1]["msg"], "d");
  EXPECT_EQ(lines[1]["project"], "p");
  EXPECT_EQ(lines[1]["level"], "error");
}

// A pipe whose reader is away, as the reader of stderr may be.
TEST(LogTest, AFullPipeNeverBlocksTheWriterAndTheLossIsTold) {
  int pipe_fds[2];
  ASSERT_EQ(pipe2(pipe_fds, O_CLOEXEC), 0);
  std::FILE* file = fdopen(pipe_fds[1], "w");
  Log log(LogLevel::kInfo, file);
  constexpr size_t kWritten = 20'000;
  for (size_t i = 0; i < kWritten; ++i)
    log.Write(LogLevel::kInfo, "line", {{"n", std::to_string(i)}});
  EXPECT_FALSE(log.Close(std::chrono::milliseconds(1)));  // it is still stuck

  std::string text;
  char buffer[65536];
  while (text.find("\"n\":\"19999\"") == std::string::npos) {
    const ssize_t n = read(pipe_fds[0], buffer, sizeof(buffer));
    ASSERT_GT(n, 0);
    text.append(buffer, n);
  }
  close(pipe_fds[0]);
  const auto lines = Lines(text.substr(0, text.rfind('\n') + 1));
  EXPECT_THAT(lines.size(), Lt(kWritten));
  size_t told = 0;
  for (const auto& line : lines) told += line.contains("count") ? 1 : 0;
  EXPECT_GT(told, 0u);
}

}  // namespace
}  // namespace acpd::server
