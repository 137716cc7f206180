#include "session/text_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/fs.h>
#include <sched.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <atomic>

#include "tests/session/text_files_fixture.h"

namespace acpd::session {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
namespace fs = std::filesystem;

using TextFilesTest = TextFilesFixture;
INSTANTIATE_TEST_SUITE_P(Ways, TextFilesTest, testing::Bool(), WayName);

TEST_P(TextFilesTest, WriteMakesFilesAndFolders) {
  const mode_t before = umask(0);
  for (const mode_t mask : {0022, 0002, 0077}) {
    umask(mask);
    const std::string folder = "root/new" + std::to_string(mask);
    EXPECT_EQ(Write(folder + "/a/file", "x"), "");
    EXPECT_EQ(Get(folder + "/a/file"), "x");
    EXPECT_EQ(Mode(folder + "/a/file"), 0666 & ~mask);
    EXPECT_EQ(Mode(folder), 0777 & ~mask);
    EXPECT_EQ(Mode(folder + "/a"), 0777 & ~mask);
  }
  umask(before);
  EXPECT_EQ(Write("root/empty", ""), "");
  EXPECT_EQ(Get("root/empty"), "");
  EXPECT_EQ(Write("root/file/x", "x"), "<NotAFile>");
  EXPECT_EQ(Write("root/new_folder/", "x"), "<NotFound>");
  EXPECT_FALSE(fs::exists(At("root/new_folder")));
}

TEST_P(TextFilesTest, WriteKeepsTheMode) {
  for (const mode_t mode : {0644, 0600, 0755, 0664, 0777, 0200}) {
    fs::permissions(At("root/file"), fs::perms(mode));
    EXPECT_EQ(Write("root/file", "x"), "");
    EXPECT_EQ(Mode("root/file"), mode);
  }
  fs::permissions(At("root/file"), fs::perms(06755));
  EXPECT_EQ(Write("root/file", "x"), "");
  EXPECT_EQ(Mode("root/file"), 0755u);
}

TEST_P(TextFilesTest, WriteKeepsTheOwner) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  ASSERT_EQ(chown(At("root/file").c_str(), 1234, 2345), 0);
  EXPECT_EQ(Write("root/file", "x"), "");
  struct stat info = {};
  ASSERT_EQ(stat(At("root/file").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 1234u);
  EXPECT_EQ(info.st_gid, 2345u);
}

TEST_P(TextFilesTest, SomebodyElsesFileBecomesOursWithItsMode) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  ASSERT_EQ(chown(At("root/file").c_str(), 1234, 2345), 0);
  fs::permissions(At("root/file"), fs::perms(0666));
  fs::permissions(At("root"), fs::perms(0777));
  WithoutPower([this] { EXPECT_EQ(Write("root/file", "x"), ""); });
  struct stat info = {};
  ASSERT_EQ(stat(At("root/file").c_str(), &info), 0);
  EXPECT_NE(info.st_uid, 1234u);
  EXPECT_EQ(Mode("root/file"), 0666u);
  EXPECT_EQ(Get("root/file"), "x");
}

TEST_P(TextFilesTest, WriteKeepsTheAccessList) {
  // Version 2; owner rw-, user 1234 r--, group ---, mask r--, others ---.
  const unsigned char acl[] = {2,  0, 0, 0,                          //
                               1,  0, 6, 0, 0xff, 0xff, 0xff, 0xff,  //
                               2,  0, 4, 0, 0xd2, 0x04, 0,    0,     //
                               4,  0, 0, 0, 0xff, 0xff, 0xff, 0xff,  //
                               16, 0, 4, 0, 0xff, 0xff, 0xff, 0xff,  //
                               32, 0, 0, 0, 0xff, 0xff, 0xff, 0xff};
  constexpr const char* kName = "system.posix_acl_access";
  if (setxattr(At("root/file").c_str(), kName, acl, sizeof(acl), 0) != 0) {
    GTEST_SKIP() << "the file system has no access lists";
  }
  EXPECT_EQ(Write("root/file", "x"), "");
  unsigned char after[256] = {};
  const ssize_t size = getxattr(At("root/file").c_str(), kName, after, sizeof(after));
  ASSERT_EQ(size, static_cast<ssize_t>(sizeof(acl)));
  EXPECT_TRUE(std::equal(std::begin(acl), std::end(acl), after));
}

TEST_P(TextFilesTest, WriteGoesThroughLinks) {
  Link("file", "root/link");
  Link(At("root/link"), "root/abs");
  Link("../root2/file", "root/other");
  Link("sub/new", "root/dangling");
  Link("a/b/new", "root/far");
  for (const char* link : {"root/link", "root/abs", "root/other", "root/dangling", "root/far"}) {
    EXPECT_EQ(Write(link, link), "");
    EXPECT_TRUE(fs::is_symlink(At(link)));
    EXPECT_EQ(Get(link), link);
  }
  EXPECT_EQ(Get("root/file"), "root/abs");
  EXPECT_EQ(Get("root2/file"), "root/other");
  EXPECT_EQ(Get("root/sub/new"), "root/dangling");
  EXPECT_EQ(Get("root/a/b/new"), "root/far");
}

TEST_P(TextFilesTest, WriteDoesNotGoOutThroughLinks) {
  Link("../outside/file", "root/link");
  Link(At("outside/new"), "root/dangling");
  Link("loop", "root/loop");
  EXPECT_EQ(Write("root/link", "x"), "<Outside>");
  EXPECT_EQ(Write("root/dangling", "x"), "<Outside>");
  EXPECT_EQ(Write("root/loop", "x"), "<Other>");
  EXPECT_TRUE(fs::is_symlink(At("root/link")));
}

TEST_P(TextFilesTest, AWriteThatIsTooLargeTouchesNothing) {
  EXPECT_EQ(Write("root/file", "12345", 5), "");
  EXPECT_EQ(Write("root/file", "123456", 5), "<TooLarge>");
  EXPECT_EQ(Write("root/new/file", "123456", 5), "<TooLarge>");
  EXPECT_EQ(Get("root/file"), "12345");
  EXPECT_FALSE(fs::exists(At("root/new")));
  const auto written = WriteTextFile(roots_, At("root/file"), "123456", 5);
  EXPECT_THAT(std::get<FileError>(written).message, HasSubstr("6 bytes, more than the 5"));
}

TEST_P(TextFilesTest, WritesThatAreDenied) {
  fs::permissions(At("root/file"), fs::perms(0444));
  fs::permissions(At("root"), fs::perms(0777));
  fs::permissions(At("root/sub"), fs::perms(0555));
  fs::permissions(At("root/sub/file"), fs::perms(0666));
  WithoutPower([this] {
    EXPECT_EQ(Write("root/file", "x"), "<Denied>");      // the folder would allow it
    EXPECT_EQ(Write("root/sub/file", "x"), "<Denied>");  // the file would allow it
    EXPECT_EQ(Write("root/sub/new", "x"), "<Denied>");
    EXPECT_EQ(Write("root/sub/a/new", "x"), "<Denied>");
    EXPECT_EQ(Write("root/new", "x"), "");
  });
  EXPECT_EQ(Get("root/file"), "in");
  EXPECT_EQ(Get("root/sub/file"), "sub");
}

// Sets or clears the immutable flag. False: not here, or not by this user.
bool SetImmutable(const std::string& path, bool on) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  int flags = 0;
  bool done = ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0;
  flags = on ? flags | FS_IMMUTABLE_FL : flags & ~FS_IMMUTABLE_FL;
  done = done && ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
  close(fd);
  return done;
}

TEST_P(TextFilesTest, ImmutableFilesAndFoldersAreDenied) {
  if (!SetImmutable(At("root/file"), true)) GTEST_SKIP() << "no right to make files immutable";
  EXPECT_EQ(Write("root/file", "x"), "<Denied>");
  ASSERT_TRUE(SetImmutable(At("root/file"), false));
  ASSERT_TRUE(SetImmutable(At("root/sub"), true));
  EXPECT_EQ(Write("root/sub/file", "x"), "<Denied>");
  EXPECT_EQ(Write("root/sub/new", "x"), "<Denied>");
  EXPECT_EQ(Write("root/sub/a/new", "x"), "<Denied>");
  ASSERT_TRUE(SetImmutable(At("root/sub"), false));
  EXPECT_EQ(Get("root/file"), "in");
  EXPECT_EQ(Get("root/sub/file"), "sub");
}

// Runs `work` in a thread that has a small file system of its own at `folder`. False: not allowed.
bool WithSmallDisk(const std::string& folder, const char* options, unsigned long flags,
                   const std::function<void()>& work) {
  bool mounted = false;
  std::thread([&] {
    if (unshare(CLONE_NEWNS) != 0) return;
    if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return;
    mounted = mount("small", folder.c_str(), "tmpfs", flags, options) == 0;
    if (mounted) work();
  }).join();
  return mounted;
}

TEST_P(TextFilesTest, AFullDiskLeavesTheOldFile) {
  const bool ran = WithSmallDisk(At("root/sub"), "size=64k", 0, [this] {
    Put("root/sub/file", "old");
    EXPECT_EQ(Write("root/sub/file", std::string(200 << 10, 'x')), "<NoSpace>");
    EXPECT_EQ(Write("root/sub/new", std::string(200 << 10, 'x')), "<NoSpace>");
    EXPECT_EQ(Get("root/sub/file"), "old");
    EXPECT_EQ(Names("root/sub"), std::vector<std::string>{"file"});
    EXPECT_EQ(Write("root/sub/file", std::string(20 << 10, 'x')), "");
    EXPECT_EQ(TempFiles(), std::vector<std::string>());
  });
  if (!ran) GTEST_SKIP() << "no right to mount a small disk";
}

TEST_P(TextFilesTest, NoInodeIsLeft) {
  const bool ran = WithSmallDisk(At("root/sub"), "nr_inodes=2", 0, [this] {
    Put("root/sub/file", "old");
    EXPECT_EQ(Write("root/sub/file", "x"), "<NoSpace>");
    EXPECT_EQ(Write("root/sub/a/new", "x"), "<NoSpace>");
    EXPECT_EQ(Get("root/sub/file"), "old");
  });
  if (!ran) GTEST_SKIP() << "no right to mount a small disk";
}

TEST_P(TextFilesTest, AReadOnlyDiskIsDenied) {
  const bool ran = WithSmallDisk(At("root/sub"), nullptr, MS_RDONLY, [this] {
    EXPECT_EQ(Write("root/sub/new", "x"), "<Denied>");
    EXPECT_EQ(Write("root/sub/a/new", "x"), "<Denied>");
  });
  if (!ran) GTEST_SKIP() << "no right to mount a small disk";
}

// The names of what happened in a folder, in order.
class FolderWatch {
 public:
  explicit FolderWatch(const std::string& folder) : fd_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    inotify_add_watch(fd_, folder.c_str(), IN_CREATE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE);
  }
  ~FolderWatch() { close(fd_); }
  std::vector<std::string> TakeNames() {
    alignas(inotify_event) char buffer[16 << 10];
    const ssize_t size = read(fd_, buffer, sizeof(buffer));
    std::vector<std::string> names;
    for (ssize_t at = 0; at < size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
      const char* what = event->mask & IN_CREATE       ? "create "
                         : event->mask & IN_MOVED_FROM ? "from "
                         : event->mask & IN_MOVED_TO   ? "to "
                                                       : "delete ";
      names.push_back(what + std::string(event->name));
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
    return names;
  }

 private:
  int fd_;
};

TEST_P(TextFilesTest, TheTemporaryFileStandsBesideUnderItsName) {
  FolderWatch watch(At("root/sub"));
  constexpr const char* kTemp = "\\.file\\.acpd-[0-9a-f]+";
  EXPECT_EQ(Write("root/sub/file", "x"), "");
  const std::vector<std::string> names = watch.TakeNames();
  EXPECT_THAT(names, ElementsAre(MatchesRegex(std::string("create ") + kTemp),
                                 MatchesRegex(std::string("from ") + kTemp), "to file"));
  EXPECT_EQ(names[0].size(), std::string("create .file.acpd-012345678901").size());
}

TEST_P(TextFilesTest, ATemporaryFileThatMayNotTakeItsPlaceIsRemoved) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  // Everybody may write the file and make others beside it, but not rename over it.
  fs::permissions(At("root"), fs::perms(01777));
  fs::permissions(At("root/file"), fs::perms(0666));
  FolderWatch watch(At("root"));
  WithoutPower([this] { EXPECT_EQ(Write("root/file", "x"), "<Denied>"); });
  EXPECT_THAT(watch.TakeNames(), ElementsAre(testing::StartsWith("create .file.acpd-"),
                                             testing::StartsWith("delete .file.acpd-")));
  EXPECT_EQ(Get("root/file"), "in");
}

TEST_P(TextFilesTest, ATemporaryFileThatFindsAFolderInItsPlaceIsRemoved) {
  FolderWatch watch(At("root/sub"));
  // A folder comes under the name as soon as the temporary file is there.
  std::atomic<bool> stop = false;
  std::thread other([&] {
    while (!stop) {
      mkdir(At("root/sub/new").c_str(), 0700);
      rmdir(At("root/sub/new").c_str());
    }
  });
  int refused = 0;
  for (int i = 0; i < 200000 && refused == 0; ++i) {
    const std::string outcome = Write("root/sub/new", "x");
    if (outcome.empty()) {
      unlink(At("root/sub/new").c_str());
    } else {
      EXPECT_EQ(outcome, "<NotAFile>");
      const std::vector<std::string> names = watch.TakeNames();
      refused += std::any_of(names.begin(), names.end(), [](const std::string& name) {
        return name.starts_with("delete .new.acpd-");
      });
    }
  }
  stop = true;
  other.join();
  EXPECT_GT(refused, 0);
}

TEST_P(TextFilesTest, LongNames) {
  std::string wide;
  while (wide.size() + 4 <= 255) wide += "\xF0\x9F\x98\x80";
  for (const std::string& name : {std::string(255, 'n'), std::string(238, 'n'), wide}) {
    EXPECT_EQ(Write("root/" + name, "x"), "");
    EXPECT_EQ(Write("root/" + name, "y"), "");
    EXPECT_EQ(Get("root/" + name), "y");
  }
  EXPECT_EQ(Write("root/" + std::string(256, 'n'), "x"), "<Invalid>");
}

TEST_P(TextFilesTest, ReadersSeeOneTextOrTheOther) {
  const std::string a(300'000, 'a');
  const std::string b(200'000, 'b');
  EXPECT_EQ(Write("root/text", a), "");
  std::atomic<int> reads = 0;
  std::atomic<bool> written = false;
  std::thread writer([&] {
    for (int i = 0; i < 500 || reads < 500; ++i) EXPECT_EQ(Write("root/text", i % 2 ? a : b), "");
    written = true;
  });
  int seen_a = 0;
  int seen_b = 0;
  for (; !written; ++reads) {
    const std::string text = reads % 2 ? Get("root/text") : Read("root/text");
    EXPECT_TRUE(text == a || text == b) << text.size();
    ++(text == a ? seen_a : seen_b);
  }
  writer.join();
  EXPECT_GT(seen_a, 0);
  EXPECT_GT(seen_b, 0);
}

TEST_P(TextFilesTest, ManyWritersAtOnce) {
  std::vector<std::thread> writers;
  for (int w = 0; w < 4; ++w) {
    writers.emplace_back([this, w] {
      for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(Write("root/made/here/text", std::string(1000, static_cast<char>('a' + w))), "");
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::string text = Get("root/made/here/text");
  EXPECT_EQ(text, std::string(1000, text[0]));
}

}  // namespace
}  // namespace acpd::session
