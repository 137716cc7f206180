#include "server/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "server/strings.h"
#include "tests/server/temp_folder.h"

namespace acpd::server {
namespace {

using testing::HasSubstr;

mode_t ModeOf(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 0777;
}

TEST(FilesTest, AFileIsReadUpToItsLimit) {
  TempFolder folder;
  const std::string path = folder.Write("f", "12345");
  EXPECT_EQ(*ReadFile(path, 5), "12345");
  EXPECT_THAT(ReadFile(path, 4).status().message(), HasSubstr("more than 4 bytes"));
  EXPECT_TRUE(absl::IsNotFound(ReadFile(folder.File("none"), 5).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ReadFile(folder.path(), 5).status()));
}

TEST(FilesTest, AFileIsReplacedWhole) {
  TempFolder folder;
  const std::string path = folder.Write("f", "old and longer");
  EXPECT_TRUE(ReplaceFile(path, "new").ok());
  EXPECT_EQ(TempFolder::Read(path), "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}),
            1);  // no draft is left
  EXPECT_THAT(ReplaceFile(folder.File("no/f"), "x").message(), HasSubstr("cannot write "));
}

TEST(FilesTest, APrivateFolderIsMadeWithThoseAboveIt) {
  TempFolder folder;
  const std::string path = folder.File("a/b/c");
  EXPECT_TRUE(MakePrivateFolder(path, FollowLink::kNo).ok());
  EXPECT_EQ(ModeOf(path), 0700u);
  EXPECT_TRUE(MakePrivateFolder(path, FollowLink::kNo).ok());
}

TEST(FilesTest, AnOpenFolderIsClosedOnlyIfItIsOurs) {
  TempFolder folder;
  const auto make_open = [&folder](const char* name) {
    std::filesystem::create_directory(folder.File(name));
    EXPECT_EQ(chmod(folder.File(name).c_str(), 0755), 0);
    return folder.File(name);
  };
  const std::string empty = make_open("empty"), ours = make_open("ours"), home = make_open("home");
  folder.Write("ours/lock", "1\n");
  folder.Write("home/letters", "dear");
  EXPECT_TRUE(MakePrivateFolder(empty, FollowLink::kYes).ok());
  EXPECT_EQ(ModeOf(empty), 0700u);
  EXPECT_TRUE(MakePrivateFolder(ours, FollowLink::kYes).ok());
  EXPECT_EQ(ModeOf(ours), 0700u);
  EXPECT_THAT(MakePrivateFolder(home, FollowLink::kYes).message(),
              HasSubstr(Cat("chmod 700 ", home)));
  EXPECT_EQ(ModeOf(home), 0755u);
}

TEST(FilesTest, FilesAndLinksAreNoFolders) {
  TempFolder folder;
  std::filesystem::create_directory(folder.File("d"));
  EXPECT_EQ(chmod(folder.File("d").c_str(), 0700), 0);
  std::filesystem::create_symlink(folder.File("d"), folder.File("link"));
  EXPECT_TRUE(MakePrivateFolder(folder.File("link"), FollowLink::kYes).ok());
  EXPECT_THAT(MakePrivateFolder(folder.File("link"), FollowLink::kNo).message(),
              HasSubstr("it is no folder"));
  EXPECT_THAT(MakePrivateFolder(folder.Write("f", ""), FollowLink::kYes).message(),
              HasSubstr("it is no folder"));
}

TEST(FilesTest, ThisProgramIsExecutable) {
  EXPECT_TRUE(IsExecutable("/proc/self/exe"));
  EXPECT_TRUE(std::filesystem::exists(ProgramFolder()));
  EXPECT_FALSE(IsExecutable(ProgramFolder()));
}

}  // namespace
}  // namespace acpd::server
