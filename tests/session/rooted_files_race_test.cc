// Names that somebody exchanges while they are being followed: nothing leads out.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <stdio.h>

#include <atomic>

#include "session/rooted_files.h"
#include "tests/session/files_fixture.h"

namespace acpd::session {
namespace {

using RootedFilesRaceTest = FilesTest;
INSTANTIATE_TEST_SUITE_P(Ways, RootedFilesRaceTest, testing::Bool(), WayName);

// Exchanges two names all the time, at least kSwaps times, as long as `work` runs.
constexpr int kSwaps = 20000;

void WhileSwapping(const std::string& a, const std::string& b, const std::function<void()>& work) {
  std::atomic<int> swaps = 0;
  std::atomic<bool> stop = false;
  std::thread swapper([&] {
    for (; !stop || swaps < kSwaps; ++swaps) {
      ASSERT_EQ(renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE), 0);
    }
    if (swaps % 2 == 1) renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE);
  });
  for (int i = 0; i < 300 || swaps < kSwaps; ++i) work();
  stop = true;
  swapper.join();
}

class OutcomeCounts {
 public:
  void Add(const std::string& outcome) { ++counts_[outcome]; }
  // Each of `expected` came, and nothing else.
  void Check(const std::vector<std::string>& expected) const {
    std::vector<std::string> seen;
    for (const auto& [outcome, count] : counts_) seen.push_back(outcome);
    EXPECT_THAT(seen, testing::UnorderedElementsAreArray(expected));
  }

 private:
  std::map<std::string, int> counts_;
};

TEST_P(RootedFilesRaceTest, AFolderSwappedWithALinkOutside) {
  Link("../outside", "root/link");
  OutcomeCounts reads, writes, makes;
  WhileSwapping(At("root/sub"), At("root/link"), [&] {
    reads.Add(Read("root/sub/file"));
    writes.Add(Write("root/sub/written", "x"));
    makes.Add(Write("root/sub/made/a/file", "x"));
  });
  reads.Check({"sub", "<Outside>"});
  writes.Check({"", "<Outside>"});
  makes.Check({"", "<Outside>"});
}

TEST_P(RootedFilesRaceTest, AFolderSwappedWithAnAbsoluteLinkOutside) {
  Link(At("outside"), "root/link");
  OutcomeCounts reads;
  WhileSwapping(At("root/sub"), At("root/link"), [&] { reads.Add(Read("root/sub/file")); });
  reads.Check({"sub", "<Outside>"});
}

TEST_P(RootedFilesRaceTest, ALinkThatTurnsOutside) {
  Link(At("root/sub"), "root/link");
  Link(At("outside"), "root/other");
  OutcomeCounts reads, writes;
  WhileSwapping(At("root/link"), At("root/other"), [&] {
    reads.Add(Read("root/link/file"));
    writes.Add(Write("root/link/written", "x"));
  });
  reads.Check({"sub", "<Outside>"});
  writes.Check({"", "<Outside>"});
}

TEST_P(RootedFilesRaceTest, AFileSwappedWithALinkOutside) {
  Link("../outside/file", "root/link");
  OutcomeCounts reads;
  WhileSwapping(At("root/file"), At("root/link"), [&] { reads.Add(Read("root/file")); });
  reads.Check({"in", "<Outside>"});
}

TEST_P(RootedFilesRaceTest, WritesToAFileThatKeepsBecomingALinkOutside) {
  std::atomic<bool> stop = false;
  std::thread swapper([&] {
    for (int i = 0; i < kSwaps / 2; ++i) {
      Link("../outside/file", "root/next");
      std::filesystem::rename(At("root/next"), At("root/file"));
      std::filesystem::create_hard_link(At("root2/file"), At("root/next"));
      std::filesystem::rename(At("root/next"), At("root/file"));
    }
    stop = true;
  });
  OutcomeCounts writes;
  while (!stop) writes.Add(Write("root/file", "written"));
  swapper.join();
  writes.Check({"", "<Outside>"});
  EXPECT_EQ(Get("root2/file"), "two");
}

TEST_P(RootedFilesRaceTest, AFolderThatMovesOutWhilePathsComeBackThroughIt) {
  std::filesystem::create_directory(At("away"));
  std::filesystem::create_directory(At("away/moved"));
  Put("away/file", "secret");
  std::filesystem::create_directory(At("root/sub/moved"));
  OutcomeCounts reads;
  WhileSwapping(At("root/sub/moved"), At("away/moved"),
                [&] { reads.Add(Read("root/sub/moved/../file")); });
  reads.Check({"sub"});
}

}  // namespace
}  // namespace acpd::session
