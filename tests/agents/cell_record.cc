#include "tests/agents/cell_record.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace acpd::e2e {
namespace {

constexpr size_t kLongestReason = 400;

// "Agents/LiveSessionTest" and "RemembersWhatWasSaid/gemini_cli" are
// "LiveSessionTest.RemembersWhatWasSaid".
std::string NameOf(const ::testing::TestInfo& test) {
  const std::string suite = test.test_suite_name(), name = test.name();
  return suite.substr(suite.find('/') + 1) + "." + name.substr(0, name.find('/'));
}

std::string FirstFailure(const ::testing::TestResult& result) {
  for (int i = 0; i < result.total_part_count(); ++i) {
    const auto& part = result.GetTestPartResult(i);
    if (part.failed()) return std::string(part.message()).substr(0, kLongestReason);
  }
  return "";
}

std::string OneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return text;
}

}  // namespace

void RecordCell(const std::string& agent, const std::string& cannot) {
  const char* file = std::getenv("ACPD_MATRIX_FILE");
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  if (file == nullptr || *file == '\0' || test->result()->Skipped()) return;
  std::string said = cannot.empty() ? "pass" : "cannot: " + cannot;
  if (test->result()->Failed()) said = "FAIL: " + FirstFailure(*test->result());
  const std::string line = agent + "\t" + NameOf(*test) + "\t" + OneLine(said) + "\n";
  const int fd = ::open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  // One write, since other programs add lines too.
  EXPECT_EQ(::write(fd, line.data(), line.size()), static_cast<ssize_t>(line.size())) << file;
  ::close(fd);
}

}  // namespace acpd::e2e
