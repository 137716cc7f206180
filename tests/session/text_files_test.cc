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
#include <limits>

#include "acp/text.h"
#include "tests/session/files_fixture.h"

namespace acpd::session {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
namespace fs = std::filesystem;

class TextFilesTest : public FilesTest {
 protected:
  // The text, or the kind of the error in <>.
  std::string Lines(const std::string& path, std::optional<uint64_t> line,
                    std::optional<uint64_t> limit, size_t max_bytes = kPlenty) {
    const auto read = ReadTextFile(roots_, At(path), line, limit, max_bytes);
    if (const auto* error = std::get_if<FileError>(&read)) {
      message_ = error->message;
      return "<" + KindName(error->kind) + ">";
    }
    const auto& text = std::get<ReadText>(read);
    EXPECT_TRUE(text.repaired || text.bytes == text.content.size());
    return text.content;
  }
  ReadText ReadAll(const std::string& path) const {
    return std::get<ReadText>(ReadTextFile(roots_, At(path), {}, {}, kPlenty));
  }
  mode_t Mode(const std::string& path) const {
    struct stat info = {};
    EXPECT_EQ(lstat(At(path).c_str(), &info), 0);
    return info.st_mode & 07777;
  }

  std::string message_;  // of the last error
};
INSTANTIATE_TEST_SUITE_P(Ways, TextFilesTest, testing::Bool(), WayName);

struct LinesRow {
  std::optional<uint64_t> line;
  std::optional<uint64_t> limit;
  std::string text;
};

constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();

TEST_P(TextFilesTest, LineAndLimit) {
  Put("root/lines", "a\nbb\n\nd");  // no line end at the end
  const std::vector<LinesRow> rows = {
      {{}, {}, "a\nbb\n\nd"},
      {1, {}, "a\nbb\n\nd"},
      {0, {}, "a\nbb\n\nd"},
      {2, {}, "bb\n\nd"},
      {3, {}, "\nd"},
      {4, {}, "d"},
      {5, {}, ""},
      {kHuge, {}, ""},
      {{}, 0, ""},
      {{}, 1, "a\n"},
      {{}, 2, "a\nbb\n"},
      {{}, 4, "a\nbb\n\nd"},
      {{}, 5, "a\nbb\n\nd"},
      {{}, kHuge, "a\nbb\n\nd"},
      {0, 1, "a\n"},
      {1, 1, "a\n"},
      {2, 1, "bb\n"},
      {3, 1, "\n"},
      {4, 1, "d"},
      {2, 2, "bb\n\n"},
      {2, kHuge, "bb\n\nd"},
      {5, 1, ""},
      {2, 0, ""},
      {kHuge, kHuge, ""},
  };
  for (const LinesRow& row : rows) {
    EXPECT_EQ(Lines("root/lines", row.line, row.limit), row.text)
        << row.line.value_or(-1) << " " << row.limit.value_or(-1);
  }
  Put("root/ended", "a\nb\n");
  EXPECT_EQ(Lines("root/ended", 2, {}), "b\n");
  EXPECT_EQ(Lines("root/ended", 3, {}), "");
  EXPECT_EQ(Lines("root/ended", {}, 2), "a\nb\n");
}

TEST_P(TextFilesTest, LinesAcrossBlocks) {
  std::string text;
  std::vector<std::string> lines;
  for (int i = 1; i <= 40000; ++i) {
    lines.push_back(std::to_string(i) + std::string(i % 40, '.') + "\n");
    text += lines.back();
  }
  Put("root/lines", text);
  EXPECT_EQ(Lines("root/lines", {}, {}, text.size()), text);
  for (const size_t line : {1, 7, 5000, 5001, 12345, 39999, 40000}) {
    EXPECT_EQ(Lines("root/lines", line, 1), lines[line - 1]);
    const size_t at = text.find("\n" + lines[line - 1]) + 1;
    EXPECT_EQ(Lines("root/lines", line, {}, text.size()), line == 1 ? text : text.substr(at));
  }
}

TEST_P(TextFilesTest, WhatIsReturnedIsLimited) {
  Put("root/lines", "12345\n12345\n12345\n");
  EXPECT_EQ(Lines("root/lines", {}, {}, 18), "12345\n12345\n12345\n");
  EXPECT_EQ(Lines("root/lines", {}, {}, 19), "12345\n12345\n12345\n");
  EXPECT_EQ(Lines("root/lines", {}, {}, 17), "<TooLarge>");
  EXPECT_THAT(message_, HasSubstr("17 bytes"));
  EXPECT_THAT(message_, HasSubstr("with line and limit"));
  EXPECT_EQ(Lines("root/lines", 2, {}, 12), "12345\n12345\n");
  EXPECT_EQ(Lines("root/lines", 2, {}, 11), "<TooLarge>");
  EXPECT_EQ(Lines("root/lines", 2, 1, 6), "12345\n");
  EXPECT_EQ(Lines("root/lines", 2, 1, 5), "<TooLarge>");
  EXPECT_THAT(message_, HasSubstr("fewer lines"));
  EXPECT_EQ(Lines("root/lines", 2, 0, 0), "");
  EXPECT_EQ(Lines("root/lines", 4, {}, 0), "");
  EXPECT_EQ(Lines("root/lines", 1, 1, 0), "<TooLarge>");
}

TEST_P(TextFilesTest, AHugeLine) {
  Put("root/huge", std::string(3 << 20, 'x') + "\nnext\n");
  EXPECT_EQ(Lines("root/huge", {}, {}), "<TooLarge>");
  EXPECT_EQ(Lines("root/huge", 1, 1), "<TooLarge>");
  EXPECT_EQ(Lines("root/huge", 2, {}), "next\n");
  EXPECT_EQ(Lines("root/huge", {}, 1, 4 << 20).size(), (3 << 20) + 1);
}

TEST_P(TextFilesTest, WhatIsLookedThroughIsLimited) {
  Put("root/sparse", "");
  fs::resize_file(At("root/sparse"), kMaxScannedBytes);
  EXPECT_EQ(Lines("root/sparse", 2, 1), "");
  fs::resize_file(At("root/sparse"), kMaxScannedBytes + 1);
  EXPECT_EQ(Lines("root/sparse", 2, 1), "<TooLarge>");
  EXPECT_THAT(message_, HasSubstr("1073741824"));
  EXPECT_EQ(Lines("root/sparse", {}, {}), "<TooLarge>");
}

TEST_P(TextFilesTest, BytesStayAsTheyAre) {
  for (const std::string& text :
       {std::string(), std::string("\n"), std::string("a\r\nb\r\n"), std::string("a\rb"),
        std::string("\xEF\xBB\xBFtext\n"), std::string("a\0b\0", 4), std::string("\t\x1b[0m\x7f"),
        std::string("h\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"), std::string("\xEF\xBF\xBD")}) {
    EXPECT_EQ(Write("root/text", text), "");
    EXPECT_EQ(Get("root/text"), text);
    const ReadText read = ReadAll("root/text");
    EXPECT_EQ(read.content, text);
    EXPECT_EQ(read.bytes, text.size());
    EXPECT_FALSE(read.repaired);
  }
  Put("root/crlf", "a\r\nb\r\n");
  EXPECT_EQ(Lines("root/crlf", 1, 1), "a\r\n");
  EXPECT_EQ(Lines("root/crlf", 2, 1), "b\r\n");
}

TEST_P(TextFilesTest, InvalidUtf8IsReplacedAndSaid) {
  Put("root/latin", "caf\xE9\nok\n");
  const ReadText read = ReadAll("root/latin");
  EXPECT_EQ(read.content, "caf\xEF\xBF\xBD\nok\n");
  EXPECT_EQ(read.bytes, 8u);
  EXPECT_TRUE(read.repaired);
  // Only the part that was asked for counts.
  const auto part = ReadTextFile(roots_, At("root/latin"), 2, {}, kPlenty);
  EXPECT_EQ(std::get<ReadText>(part).content, "ok\n");
  EXPECT_FALSE(std::get<ReadText>(part).repaired);
  // The limit is that of what is returned: 10 bytes instead of 8.
  EXPECT_EQ(Lines("root/latin", {}, {}, 10), read.content);
  EXPECT_EQ(Lines("root/latin", {}, {}, 9), "<TooLarge>");
  EXPECT_THAT(message_, HasSubstr("invalid UTF-8"));
  Put("root/binary", std::string("\x7f"
                                 "ELF\0\xff\xfe\x80",
                                 8));
  EXPECT_TRUE(IsCleanText(ReadAll("root/binary").content));
  EXPECT_TRUE(ReadAll("root/binary").repaired);
}

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
