#include "session/rooted_files.h"

#include <errno.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/session/files_fixture.h"

namespace acpd::session {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

using RootedFilesTest = FilesTest;
INSTANTIATE_TEST_SUITE_P(Ways, RootedFilesTest, testing::Bool(), WayName);

struct PathRow {
  std::string path;
  std::string text;  // or <Kind>
};

TEST_P(RootedFilesTest, PathsWithoutLinks) {
  std::filesystem::create_directory(At("rootx"));
  Put("rootx/file", "prefix");
  const std::vector<PathRow> rows = {
      {"root/file", "in"},
      {"root/sub/file", "sub"},
      {"root2/file", "two"},
      {"root//sub/./file", "sub"},
      {"root/sub/../file", "in"},
      {"root/sub/../sub/../sub/file", "sub"},
      {"root/../root/file", "in"},
      {"root/../root2/file", "two"},
      {"outside/../root/file", "in"},
      {"root/../outside/file", "<Outside>"},
      {"root/sub/../../outside/file", "<Outside>"},
      {"root/../../../../../../../../etc/passwd", "<Outside>"},
      {"root/..", "<Outside>"},
      {"root/sub/../..", "<Outside>"},
      {"outside/file", "<Outside>"},
      {"outside/none", "<Outside>"},
      {"rootx/file", "<Outside>"},
      {"roo", "<Outside>"},
      {"root", "<NotAFile>"},
      {"root/", "<NotAFile>"},
      {"root/.", "<NotAFile>"},
      {"root/sub", "<NotAFile>"},
      {"root/sub/", "<NotAFile>"},
      {"root/sub/..", "<NotAFile>"},
      {"root/file/", "<NotAFile>"},
      {"root/file/x", "<NotAFile>"},
      {"root/file/../file", "<NotAFile>"},
      {"root/none", "<NotFound>"},
      {"root/none/file", "<NotFound>"},
      {"root/none/../file", "<NotFound>"},
      {"root/" + std::string(255, 'n'), "<NotFound>"},
      {"root/" + std::string(256, 'n'), "<Invalid>"},
      {"root/" + std::string(256, 'n') + "/file", "<Invalid>"},
  };
  for (const PathRow& row : rows) EXPECT_EQ(Read(row.path), row.text) << row.path;
}

TEST_P(RootedFilesTest, Links) {
  const std::vector<std::pair<std::string, std::string>> links = {
      {"root/to_file", "file"},
      {"root/to_sub", "sub"},
      {"root/abs_file", At("root/file")},
      {"root/abs_sub", At("root/sub")},
      {"root/abs_dots", At("outside/../root/./sub//file")},
      {"root/sub/up", "../file"},
      {"root/chain1", "chain2"},
      {"root/chain2", At("root/sub/up")},
      {"root/back", "../root/file"},
      {"root/back_sub", "../root/sub"},
      {"root/sub/back_chain", "../../root/back_sub/../chain1"},
      {"root/other", "../root2/file"},
      {"root/other_dir", At("root2")},
      {"root/out", "../outside/file"},
      {"root/out_abs", At("outside/file")},
      {"root/out_none", "../outside/none"},
      {"root/out_dir", "../outside"},
      {"root/out_dir_abs", At("outside")},
      {"root/out_chain1", "out_chain2"},
      {"root/out_chain2", "sub/out_chain3"},
      {"root/sub/out_chain3", "../out"},
      {"root/out_far", "../../../../../../../../../../etc/passwd"},
      {"root/out_up", ".."},
      {"root/slash", "/"},
      {"root/dot", "."},
      {"root/to_none", "none"},
      {"root/loop1", "loop2"},
      {"root/loop2", "loop1"},
      {"root/loop_dir", "loop_dir/x"},
      {"root/root_again", At("root")},
  };
  for (const auto& [path, target] : links) Link(target, path);
  const std::vector<PathRow> rows = {
      {"root/to_file", "in"},
      {"root/to_sub/file", "sub"},
      {"root/to_sub/../file", "in"},
      {"root/abs_file", "in"},
      {"root/abs_sub/file", "sub"},
      {"root/abs_sub/../file", "in"},
      {"root/abs_dots", "sub"},
      {"root/sub/up", "in"},
      {"root/chain1", "in"},
      {"root/back", "in"},
      {"root/back_sub/file", "sub"},
      {"root/sub/back_chain", "in"},
      {"root/other", "two"},
      {"root/other_dir/file", "two"},
      {"root/other_dir/../root/file", "in"},
      {"root/other_dir/../outside/file", "<Outside>"},
      {"root/root_again/root_again/file", "in"},
      {"root/out", "<Outside>"},
      {"root/out_abs", "<Outside>"},
      {"root/out_none", "<Outside>"},
      {"root/out_dir", "<Outside>"},
      {"root/out_dir/file", "<Outside>"},
      {"root/out_dir/none", "<Outside>"},
      {"root/out_dir_abs/file", "<Outside>"},
      {"root/out_chain1", "<Outside>"},
      {"root/out_far", "<Outside>"},
      {"root/out_up", "<Outside>"},
      {"root/out_up/outside/file", "<Outside>"},
      {"root/out_up/root/file", "in"},
      {"root/slash", "<Outside>"},
      {"root/slash/etc/passwd", "<Outside>"},
      {"root/dot", "<NotAFile>"},
      {"root/dot/dot/file", "in"},
      {"root/to_sub", "<NotAFile>"},
      {"root/root_again", "<NotAFile>"},
      {"root/to_none", "<NotFound>"},
      {"root/to_file/x", "<NotAFile>"},
      {"root/loop1", "<Other>"},
      {"root/loop1/file", "<Other>"},
      {"root/loop_dir/file", "<Other>"},
  };
  for (const PathRow& row : rows) EXPECT_EQ(Read(row.path), row.text) << row.path;
}

TEST_P(RootedFilesTest, ALinkToAnotherFolderCountsOnlyWhenThatIsARootToo) {
  Link("../root2/file", "root/other");
  EXPECT_EQ(Read("root/other"), "two");
  roots_ = {{At("root")}};
  EXPECT_EQ(Read("root/other"), "<Outside>");
  EXPECT_EQ(Read("root2/file"), "<Outside>");
}

TEST_P(RootedFilesTest, ARootThatIsALinkIsKnownByBothPaths) {
  Link("root", "alias");
  Link(At("alias/file"), "root/by_alias");
  Link(At("root/sub/file"), "root/by_real");
  roots_ = {{At("alias")}};
  for (const char* root : {"alias/", "root/"}) {
    EXPECT_EQ(Read(std::string(root) + "file"), "in");
    EXPECT_EQ(Read(std::string(root) + "by_alias"), "in");
    EXPECT_EQ(Read(std::string(root) + "by_real"), "sub");
    EXPECT_EQ(Read(std::string(root) + "sub/../file"), "in");
    EXPECT_EQ(Read(std::string(root) + "../outside/file"), "<Outside>");
  }
  EXPECT_EQ(Read("alias"), "<NotAFile>");
  EXPECT_EQ(Read("root"), "<NotAFile>");
}

TEST_P(RootedFilesTest, HowRootsAreWritten) {
  for (const char* root : {"root/", "root//", "root/.", "root/sub/..", "outside/../root"}) {
    roots_ = {{At(root)}};
    EXPECT_EQ(Read("root/file"), "in") << root;
    EXPECT_EQ(Read("root2/file"), "<Outside>") << root;
  }
  roots_ = {{At("root"), At("root/sub")}};
  EXPECT_EQ(Read("root/sub/file"), "sub");
  EXPECT_EQ(Read("root/sub/../file"), "in");
  roots_ = {{At("root/sub"), At("root")}};
  EXPECT_EQ(Read("root/sub/../file"), "in");
  roots_ = {{At("root/sub")}};
  EXPECT_EQ(Read("root/sub/../file"), "<Outside>");
}

TEST_P(RootedFilesTest, RootsThatAreOfNoUse) {
  roots_ = {};
  EXPECT_EQ(Read("root/file"), "<Outside>");
  roots_ = {{"", "root", "."}};
  EXPECT_EQ(Read("root/file"), "<Outside>");
  roots_ = {{At("gone"), At("root")}};
  EXPECT_EQ(Read("gone/file"), "<NotFound>");
  EXPECT_EQ(Read("root/file"), "in");
  EXPECT_EQ(Write("gone/file", "x"), "<NotFound>");
  roots_ = {{At("root/file")}};
  EXPECT_EQ(Read("root/file/x"), "<NotAFile>");
}

TEST_P(RootedFilesTest, TheWholeSystemAsARoot) {
  Link(At("root/file"), "root/abs_file");
  roots_ = {{"/"}};
  EXPECT_EQ(Read("root/file"), "in");
  EXPECT_EQ(Read("root/abs_file"), "in");
  EXPECT_EQ(Read("root/../../../../../../.." + At("root/file")), "in");
  EXPECT_EQ(ReadWhole("/"), "<NotAFile>");
}

TEST_P(RootedFilesTest, MagicLinksAreRefused) {
  roots_ = {{"/"}};
  ASSERT_EQ(Read("root/file"), "in");
  for (const char* link : {"/proc/self/root", "/proc/thread-self/root", "/proc/1/root"}) {
    EXPECT_THAT(ReadWhole(link + At("root/file")), testing::AnyOf("<Other>", "<Denied>")) << link;
  }
  EXPECT_EQ(ReadWhole("/proc/self/exe"), "<Other>");
  const int fd = open(At("outside/file").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  Link("/proc/self/fd/" + std::to_string(fd), "root/magic");
  EXPECT_EQ(Read("root/magic"), "<Other>");
  roots_ = {{At("root")}};
  EXPECT_EQ(Read("root/magic"), "<Outside>");
  close(fd);
}

TEST_P(RootedFilesTest, PathsThatAreNone) {
  EXPECT_EQ(ReadWhole(""), "<Invalid>");
  EXPECT_EQ(ReadWhole("file"), "<Invalid>");
  EXPECT_EQ(ReadWhole("./root/file"), "<Invalid>");
  EXPECT_EQ(ReadWhole("~/file"), "<Invalid>");
  EXPECT_EQ(ReadWhole("file://" + At("root/file")), "<Invalid>");
  EXPECT_EQ(ReadWhole(At("root/file") + std::string("\0x", 2)), "<Invalid>");
  EXPECT_EQ(ReadWhole(At(std::string(4096, '/') + "root/file")), "<Invalid>");
  EXPECT_EQ(ReadWhole("/" + std::string(4094 - At("root/file").size(), '/') + At("root/file")),
            "in");  // PATH_MAX - 1
  const auto read = ReadTextFile(roots_, "file", {}, {}, kPlenty);
  EXPECT_THAT(std::get<FileError>(read).message, HasSubstr("is not absolute"));
}

TEST_P(RootedFilesTest, DeepFolders) {
  std::string path = "root";
  for (int i = 0; i < 200; ++i) path += "/d";
  std::filesystem::create_directories(At(path));
  Put(path + "/file", "deep");
  EXPECT_EQ(Read(path + "/file"), "deep");
  for (int i = 0; i < 100; ++i) path += "/d";
  std::filesystem::create_directories(At(path));
  Put(path + "/file", "deeper");
  // By hand each level holds a descriptor.
  EXPECT_EQ(Read(path + "/file"), GetParam() ? "deeper" : "<Invalid>");
}

TEST_P(RootedFilesTest, SpecialFilesAreRefusedUnopened) {
  ASSERT_EQ(mkfifo(At("root/fifo").c_str(), 0600), 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  ASSERT_LT(At("root/socket").size(), sizeof(address.sun_path));
  At("root/socket").copy(address.sun_path, sizeof(address.sun_path) - 1);
  const int socket_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(bind(socket_fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  Link("fifo", "root/to_fifo");
  for (const char* path : {"root/fifo", "root/socket", "root/to_fifo", "root/sub"}) {
    EXPECT_EQ(Read(path), "<NotAFile>") << path;
    EXPECT_EQ(Write(path, "x"), "<NotAFile>") << path;
  }
  EXPECT_THAT(ReadMessage("root/fifo"), HasSubstr("FIFO"));
  EXPECT_TRUE(std::filesystem::is_fifo(At("root/fifo")));
  close(socket_fd);
  roots_ = {{"/dev"}};
  EXPECT_EQ(ReadWhole("/dev/zero"), "<NotAFile>");
}

// A device of the test's own: a defect here must not write over the system's.
TEST_P(RootedFilesTest, DevicesAreRefused) {
  if (mknod(At("root/device").c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) {
    GTEST_SKIP() << "no right to make a device";
  }
  EXPECT_EQ(Read("root/device"), "<NotAFile>");
  EXPECT_EQ(Write("root/device", "x"), "<NotAFile>");
  EXPECT_TRUE(std::filesystem::is_character_file(At("root/device")));
}

TEST_P(RootedFilesTest, LongChainsOfLinks) {
  Link("file", "root/f0");
  Link("sub", "root/d0");
  for (int i = 1; i <= 40; ++i) {
    Link("f" + std::to_string(i - 1), "root/f" + std::to_string(i));
    Link("d" + std::to_string(i - 1), "root/d" + std::to_string(i));
  }
  EXPECT_EQ(Read("root/f39"), "in");
  EXPECT_EQ(Read("root/f40"), "<Other>");
  EXPECT_EQ(Read("root/d39/file"), "sub");
  EXPECT_EQ(Read("root/d40/file"), "<Other>");
}

TEST_P(RootedFilesTest, TheFileThatWasFoundIsTheOneOpened) {
  auto found = FindFile(roots_, At("root/file"), MissingFolders::kFail);
  const FilePlace place = std::get<FilePlace>(std::move(found));
  EXPECT_EQ(place.name, "file");
  std::filesystem::remove(At("root/file"));
  Link(At("outside/file"), "root/file");
  int error = 0;
  const worker::UniqueFd file = OpenFound(place, O_RDONLY, &error);
  char text[8] = {};
  EXPECT_EQ(read(file.get(), text, sizeof(text)), 2);
  EXPECT_STREQ(text, "in");
}

TEST_P(RootedFilesTest, FoldersAreMadeOnlyWhenAsked) {
  EXPECT_EQ(std::get<FileError>(FindFile(roots_, At("root/a/b/c"), MissingFolders::kFail)).kind,
            FileError::Kind::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(At("root/a")));
  const auto found = FindFile(roots_, At("root/a/b/c"), MissingFolders::kMake);
  EXPECT_FALSE(std::get<FilePlace>(found).file.open());
  EXPECT_EQ(Names("root/a/b"), std::vector<std::string>());
}

TEST_P(RootedFilesTest, FoldersAreNotMadeOutside) {
  Link("../outside", "root/out");
  Link("../outside/new", "root/out_new");
  Link(At("outside/new"), "root/out_new_abs");
  Link("new", "root/in_new");
  for (const char* path : {"root/out/new/file", "root/out_new/file", "root/out_new_abs/a/file",
                           "outside/new/file", "root/../outside/new/file"}) {
    EXPECT_EQ(Write(path, "x"), "<Outside>") << path;
  }
  // A folder that is missing has no `..`: none is made on the way out.
  EXPECT_EQ(Write("root/made/../../outside/new/file", "x"), "<NotFound>");
  EXPECT_FALSE(std::filesystem::exists(At("root/made")));
  EXPECT_EQ(Write("root/in_new/file", "x"), "");
  EXPECT_EQ(Get("root/new/file"), "x");
}

TEST_P(RootedFilesTest, NoPermissionToLook) {
  std::filesystem::permissions(At("root/sub"), std::filesystem::perms::none);
  WithoutPower([this] {
    EXPECT_EQ(Read("root/sub/file"), "<Denied>");
    EXPECT_EQ(Read("root/sub/none/file"), "<Denied>");
    EXPECT_EQ(Read("root/file"), "in");
  });
  std::filesystem::permissions(At("root/file"), std::filesystem::perms::none);
  WithoutPower([this] { EXPECT_EQ(Read("root/file"), "<Denied>"); });
}

TEST_P(RootedFilesTest, AHardLinkIsTheFile) {
  std::filesystem::create_hard_link(At("outside/file"), At("root/hard"));
  EXPECT_EQ(Read("root/hard"), "secret");
  EXPECT_EQ(Write("root/hard", "mine"), "");  // the other name keeps the old text
  EXPECT_EQ(Read("root/hard"), "mine");
}

// Runs `work` in a thread where openat2 fails with `error`.
void WithOpenat2Failing(int error, const std::function<void()>& work) {
  std::thread([&] {
    sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<uint32_t>(error)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program = {std::size(code), code};
    ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ASSERT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
    work();
  }).join();
}

TEST_P(RootedFilesTest, WithoutOpenat2) {
  Link("../outside", "root/out");
  for (const int error : {ENOSYS, EPERM, EAGAIN, EINVAL}) {
    WithOpenat2Failing(error, [this] {
      EXPECT_EQ(Read("root/sub/file"), "sub");
      EXPECT_EQ(Read("root/out/file"), "<Outside>");
      EXPECT_EQ(Write("root/sub/new/file", "x"), "");
    });
  }
  // The switch of these tests is not an idle one.
  WithOpenat2Failing(EACCES,
                     [this] { EXPECT_EQ(Read("root/sub/file"), GetParam() ? "<Denied>" : "sub"); });
}

struct ErrnoCase {
  int error;
  FileError::Kind kind;
  std::string_view name;
};

TEST(FileErrors, EachErrnoHasItsKind) {
  using Kind = FileError::Kind;
  for (const ErrnoCase& row :
       std::initializer_list<ErrnoCase>{{ENOENT, Kind::kNotFound, "ENOENT: "},
                                        {EISDIR, Kind::kNotAFile, "EISDIR: "},
                                        {ENOTDIR, Kind::kNotAFile, "ENOTDIR: "},
                                        {ENXIO, Kind::kNotAFile, "ENXIO: "},
                                        {EACCES, Kind::kDenied, "EACCES: "},
                                        {EPERM, Kind::kDenied, "EPERM: "},
                                        {EROFS, Kind::kDenied, "EROFS: "},
                                        {ENOSPC, Kind::kNoSpace, "ENOSPC: "},
                                        {EDQUOT, Kind::kNoSpace, "EDQUOT: "},
                                        {ENAMETOOLONG, Kind::kInvalid, "ENAMETOOLONG: "},
                                        {ELOOP, Kind::kOther, "ELOOP: "},
                                        {EIO, Kind::kOther, "EIO: "},
                                        {EMFILE, Kind::kOther, "EMFILE: "},
                                        {12345, Kind::kOther, "EIO: unknown error"}}) {
    const FileError error = FileErrorOf(row.error, "open", "/p");
    EXPECT_EQ(error.kind, row.kind) << row.name;
    EXPECT_TRUE(error.message.starts_with(row.name)) << error.message;
    EXPECT_THAT(error.message, HasSubstr(", open '/p'"));
  }
}

TEST_P(RootedFilesTest, NotFoundHasTheWordsThatAgentsLookFor) {
  EXPECT_THAT(ReadMessage("root/none"),
              AllOf(HasSubstr("ENOENT: no such file or directory, open '" + At("root/none") + "'"),
                    HasSubstr("Resource not found"), HasSubstr("does not exist"),
                    HasSubstr("No such file")));
}

TEST_P(RootedFilesTest, OutsideNamesTheFolders) {
  EXPECT_THAT(ReadMessage("outside/file"),
              AllOf(HasSubstr(At("outside/file")), HasSubstr(At("root")), HasSubstr(At("root2"))));
  EXPECT_THAT(ReadMessage("root/file"), IsEmpty());
}

TEST_P(RootedFilesTest, MessagesAreCleanText) {
  const auto read = ReadTextFile(roots_, At("root/\xff\n"), {}, {}, kPlenty);
  EXPECT_THAT(std::get<FileError>(read).message, HasSubstr("root/\xEF\xBF\xBD\\u000a"));
}

}  // namespace
}  // namespace acpd::session
