#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "session/errors.h"
#include "session/paths.h"

namespace acpd::session {
namespace {

namespace fs = std::filesystem;

// A folder of its own with projects_root `projects` and an allowed root `allowed`, gone afterwards.
class Paths : public testing::Test {
 protected:
  Paths() {
    std::string name = (fs::temp_directory_path() / "acpd-paths-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    base_ = fs::canonical(name).string();
    rules_.projects_root = Make("projects");
    rules_.project_id = "mine";
    rules_.allowed_roots = {Make("allowed")};
  }
  ~Paths() override { fs::remove_all(base_); }

  std::string At(const std::string& path) const { return base_ + "/" + path; }
  std::string Make(const std::string& path) {
    fs::create_directories(At(path));
    return At(path);
  }
  std::string Link(const std::string& path, const std::string& target) {
    fs::create_directory_symlink(target, At(path));
    return At(path);
  }
  std::string Reason(const std::string& cwd) {
    const auto result = CheckCwd(rules_, cwd);
    if (!result.ok()) return ReasonOf(result.status());
    EXPECT_EQ(*result, cwd) << "as first given";
    return "OK";
  }
  static mode_t ModeOf(const std::string& path) {
    struct stat info = {};
    EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
    return info.st_mode & 07777;
  }

  std::string base_;
  CwdRules rules_;
};

TEST_F(Paths, EmptyMakesTheProjectsOwnFolder) {
  const auto made = CheckCwd(rules_, "");
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(*made, At("projects/mine"));
  EXPECT_EQ(ModeOf(*made), 0700u);
  EXPECT_EQ(CheckCwd(rules_, "").value_or(""), *made) << "again, now that it is there";
}

TEST_F(Paths, EmptyMakesTheFoldersAboveToo) {
  rules_.projects_root = At("state/projects/");
  const auto made = CheckCwd(rules_, "");
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(*made, At("state/projects/mine"));
  EXPECT_EQ(ModeOf(At("state")), 0700u);
  EXPECT_EQ(ModeOf(At("state/projects")), 0700u);
  EXPECT_EQ(ModeOf(*made), 0700u);
}

TEST_F(Paths, ProjectFolderThatIsAFileIsNotFound) {
  std::ofstream(At("projects/mine")) << "x";
  EXPECT_EQ(Reason(""), "CWD_NOT_FOUND");
  EXPECT_EQ(Reason(At("projects/mine")), "CWD_NOT_FOUND");
}

TEST_F(Paths, ProjectsRootThatIsAFileIsNotFound) {
  std::ofstream(At("file")) << "x";
  rules_.projects_root = At("file");
  EXPECT_EQ(Reason(""), "CWD_NOT_FOUND");
}

TEST_F(Paths, ExplicitFolderIsNeverMade) {
  EXPECT_EQ(Reason(At("projects/mine")), "CWD_NOT_FOUND");
  EXPECT_EQ(Reason(At("allowed/new")), "CWD_NOT_FOUND");
  EXPECT_FALSE(fs::exists(At("projects/mine")));
  EXPECT_FALSE(fs::exists(At("allowed/new")));
}

TEST_F(Paths, OwnFolderAndBelow) {
  Make("projects/mine/src/deep");
  EXPECT_EQ(Reason(At("projects/mine")), "OK");
  EXPECT_EQ(Reason(At("projects/mine/")), "OK");
  EXPECT_EQ(Reason(At("projects/mine/src/deep")), "OK");
  EXPECT_EQ(Reason(At("projects/mine/src/../src")), "OK");
  EXPECT_EQ(Reason(At("projects//mine/./src")), "OK");
}

TEST_F(Paths, AllowedRootAndBelow) {
  Make("allowed/repo");
  EXPECT_EQ(Reason(At("allowed")), "OK");
  EXPECT_EQ(Reason(At("allowed/repo")), "OK");
  rules_.allowed_roots = {At("nowhere"), At("allowed/")};
  EXPECT_EQ(Reason(At("allowed/repo")), "OK")
      << "a slash at the root's end; another root that is missing";
  rules_.allowed_roots = {"/"};
  EXPECT_EQ(Reason(At("allowed/repo")), "OK");
}

TEST_F(Paths, PrefixesEndAtSlashes) {
  Make("projects/mine2");
  Make("projects/min");
  Make("allowed2");
  EXPECT_EQ(Reason(At("projects/mine2")), "CWD_NOT_ALLOWED");
  EXPECT_EQ(Reason(At("projects/min")), "CWD_NOT_ALLOWED");
  EXPECT_EQ(Reason(At("allowed2")), "CWD_NOT_ALLOWED");
  EXPECT_EQ(Reason(base_), "CWD_NOT_ALLOWED");
  EXPECT_EQ(Reason("/"), "CWD_NOT_ALLOWED");
}

TEST_F(Paths, RelativeIsNotAllowed) {
  for (const char* cwd : {".", "src", "../x", "~", " /tmp"}) {
    EXPECT_EQ(Reason(cwd), "CWD_NOT_ALLOWED") << cwd;
  }
}

TEST_F(Paths, NulByteIsNotAllowed) {
  EXPECT_EQ(Reason(At("allowed") + std::string("\0/x", 3)), "CWD_NOT_ALLOWED");
}

TEST_F(Paths, FileAndMissingFolderAreNotFound) {
  std::ofstream(At("allowed/file")) << "x";
  EXPECT_EQ(Reason(At("allowed/file")), "CWD_NOT_FOUND");
  EXPECT_EQ(Reason(At("allowed/file/below")), "CWD_NOT_FOUND");
  EXPECT_EQ(Reason("/no/such/folder"), "CWD_NOT_FOUND");
  Link("allowed/dangling", At("nowhere"));
  EXPECT_EQ(Reason(At("allowed/dangling")), "CWD_NOT_FOUND");
}

TEST_F(Paths, DotDotDoesNotLeave) {
  Make("projects/mine");
  Make("projects/other");
  Make("secret");
  EXPECT_EQ(Reason(At("projects/mine/../other")), "CWD_NOT_ALLOWED");
  EXPECT_EQ(Reason(At("allowed/../secret")), "CWD_NOT_ALLOWED");
  EXPECT_EQ(Reason(At("allowed/../projects/mine")), "OK");
}

TEST_F(Paths, SymlinksCountByTheirTarget) {
  Make("projects/mine/src");
  Make("projects/other");
  Make("secret");
  EXPECT_EQ(Reason(Link("projects/mine/out", At("secret"))), "CWD_NOT_ALLOWED");
  EXPECT_EQ(Reason(Link("projects/mine/theirs", At("projects/other"))), "CWD_NOT_ALLOWED");
  EXPECT_EQ(Reason(Link("allowed/theirs", At("projects/other"))), "CWD_NOT_ALLOWED");
  EXPECT_EQ(Reason(Link("allowed/mine", At("projects/mine/src"))), "OK");
  EXPECT_EQ(Reason(Link("elsewhere", At("allowed"))), "OK");
}

TEST_F(Paths, RootsMayBeSymlinksThemselves) {
  Make("projects/mine");
  Make("allowed/repo");
  rules_.projects_root = Link("p", At("projects"));
  rules_.allowed_roots = {Link("a", At("allowed"))};
  EXPECT_EQ(Reason(At("projects/mine")), "OK");
  EXPECT_EQ(Reason(At("p/mine")), "OK");
  EXPECT_EQ(Reason(At("allowed/repo")), "OK");
  EXPECT_EQ(Reason(At("a/repo")), "OK");
}

TEST_F(Paths, OwnFolderThatPointsElsewhereNeedsAnAllowedRoot) {
  Make("projects/other");
  Make("secret");
  Make("allowed/mine");
  Link("projects/mine", At("projects/other"));
  EXPECT_EQ(Reason(""), "CWD_NOT_ALLOWED");
  fs::remove(At("projects/mine"));
  Link("projects/mine", At("secret"));
  EXPECT_EQ(Reason(""), "CWD_NOT_ALLOWED");
  fs::remove(At("projects/mine"));
  Link("projects/mine", At("allowed/mine"));
  EXPECT_EQ(CheckCwd(rules_, "").value_or(""), At("projects/mine"));
}

TEST_F(Paths, OtherProjectsAreClosedEvenBelowAnAllowedRoot) {
  Make("projects/mine");
  Make("projects/other/src");
  rules_.allowed_roots = {base_};
  EXPECT_EQ(Reason(At("projects/other")), "CWD_NOT_ALLOWED");
  EXPECT_EQ(Reason(At("projects/other/src")), "CWD_NOT_ALLOWED");
  EXPECT_EQ(Reason(At("projects/mine")), "OK");
  rules_.allowed_roots = {At("projects")};
  EXPECT_EQ(Reason(At("projects/other")), "CWD_NOT_ALLOWED");
  rules_.allowed_roots = {"/"};
  EXPECT_EQ(Reason(At("projects/other")), "CWD_NOT_ALLOWED");
}

TEST_F(Paths, DeeperAllowedRootOpensItsPart) {
  Make("projects/shared/lib");
  Make("projects/other");
  rules_.allowed_roots = {At("projects/shared")};
  EXPECT_EQ(Reason(At("projects/shared")), "OK");
  EXPECT_EQ(Reason(At("projects/shared/lib")), "OK");
  EXPECT_EQ(Reason(At("projects/other")), "CWD_NOT_ALLOWED");
}

TEST_F(Paths, ProjectIdIsCheckedBeforeAFolderIsMade) {
  for (const char* id : {"..", "../x", "", "a/b"}) {
    rules_.project_id = id;
    EXPECT_EQ(Reason(""), "INVALID_PROJECT_ID") << id;
  }
  EXPECT_TRUE(fs::is_empty(At("projects")));
}

TEST_F(Paths, SameFolderIsByRealPath) {
  Make("allowed/repo");
  Link("link", At("allowed/repo"));
  EXPECT_TRUE(SameFolder(At("allowed/repo"), At("allowed/repo/")));
  EXPECT_TRUE(SameFolder(At("link"), At("allowed/repo")));
  EXPECT_TRUE(SameFolder(At("allowed/../link/."), At("allowed/repo")));
  EXPECT_FALSE(SameFolder(At("allowed"), At("allowed/repo")));
  EXPECT_FALSE(SameFolder(At("nowhere"), At("nowhere")));
  std::ofstream(At("file")) << "x";
  EXPECT_FALSE(SameFolder(At("file"), At("file")));
}

class Commands : public Paths {
 protected:
  std::string Program(const std::string& path, mode_t mode) {
    Make(fs::path(path).parent_path().string());
    std::ofstream(At(path)) << "#!/bin/sh\n";
    EXPECT_EQ(::chmod(At(path).c_str(), mode), 0);
    return At(path);
  }
  std::string Check(const std::string& command, const std::string& path) {
    const absl::Status status = CheckCommand(command, path, base_);
    if (status.ok()) return "OK";
    EXPECT_EQ(ReasonOf(status), "AGENT_START_FAILED");
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    const std::string text(status.message());
    EXPECT_NE(text.find("\"" + command + "\""), std::string::npos) << text;
    if (text.find("no such command") != std::string::npos) return "no such command";
    return text.find("not executable") != std::string::npos ? "not executable" : text;
  }
};

TEST_F(Commands, WithASlashAreTakenAsTheyStand) {
  const std::string good = Program("bin/good", 0755);
  EXPECT_EQ(Check(good, ""), "OK");
  EXPECT_EQ(Check("bin/good", "/nowhere"), "OK") << "relative to the cwd";
  EXPECT_EQ(Check("./bin/good", "/nowhere"), "OK");
  EXPECT_EQ(Check(At("bin/none"), At("bin")), "no such command");
  EXPECT_EQ(Check(Program("bin/plain", 0644), At("bin")), "not executable");
  EXPECT_EQ(Check(At("bin"), At("bin")), "not executable") << "a folder";
}

TEST_F(Commands, WithoutASlashAreLookedUp) {
  Program("one/plain", 0644);
  Program("two/good", 0755);
  EXPECT_EQ(Check("good", At("one") + ":" + At("two")), "OK");
  EXPECT_EQ(Check("good", At("two")), "OK");
  EXPECT_EQ(Check("good", At("one")), "no such command");
  EXPECT_EQ(Check("plain", At("one") + ":" + At("two")), "not executable");
  Program("two/plain", 0755);
  EXPECT_EQ(Check("plain", At("one") + ":" + At("two")), "OK") << "the search goes on";
  EXPECT_EQ(Check("", At("two")), "no such command");
}

TEST_F(Commands, EmptyElementOfThePathIsTheCwd) {
  Program("good", 0755);
  EXPECT_EQ(Check("good", "/nowhere:"), "OK");
  EXPECT_EQ(Check("good", ":/nowhere"), "OK");
  EXPECT_EQ(Check("good", "/nowhere"), "no such command");
}

TEST_F(Commands, WithoutAPathTheDefaultOneIsSearched) {
  EXPECT_EQ(Check("sh", ""), "OK");
  EXPECT_EQ(Check("acpd-no-such-command", ""), "no such command");
}

}  // namespace
}  // namespace acpd::session
