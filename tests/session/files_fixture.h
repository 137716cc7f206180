#ifndef ACPD_TESTS_SESSION_FILES_FIXTURE_H_
#define ACPD_TESTS_SESSION_FILES_FIXTURE_H_

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "session/folder_walk.h"
#include "session/text_files.h"

namespace acpd::session {

constexpr size_t kPlenty = 1 << 20;

inline std::string KindName(FileError::Kind kind) {
  static const std::map<FileError::Kind, std::string> names = {
      {FileError::Kind::kOutside, "Outside"},   {FileError::Kind::kNotFound, "NotFound"},
      {FileError::Kind::kNotAFile, "NotAFile"}, {FileError::Kind::kTooLarge, "TooLarge"},
      {FileError::Kind::kDenied, "Denied"},     {FileError::Kind::kNoSpace, "NoSpace"},
      {FileError::Kind::kInvalid, "Invalid"},   {FileError::Kind::kOther, "Other"}};
  return names.at(kind);
}

// Real folders: root and root2 are the session's, outside is not. Runs with openat2 (true) and
// without (false). Checks after each test that no descriptor and no temporary file is left, and
// that nobody touched outside.
class FilesTest : public testing::TestWithParam<bool> {
 protected:
  FilesTest() {
    UseKernelResolution(GetParam());
    // Not in TMPDIR, which may be its owner's alone: WithoutPower's user has to get here.
    char name[] = "/tmp/files_test.XXXXXX";
    dir_ = std::filesystem::canonical(mkdtemp(name)).string();
    for (const char* folder : {"/root", "/root/sub", "/root2", "/outside"}) {
      std::filesystem::create_directory(dir_ + folder);
    }
    Put("root/file", "in");
    Put("root/sub/file", "sub");
    Put("root2/file", "two");
    Put("outside/file", "secret");
    roots_ = {{dir_ + "/root", dir_ + "/root2"}};
    fds_ = CountFds();
  }

  ~FilesTest() override {
    UseKernelResolution(true);
    for (const char* folder : {"root", "root/sub"}) {
      std::error_code gone;
      std::filesystem::permissions(At(folder), std::filesystem::perms(0755), gone);
    }
    EXPECT_EQ(CountFds(), fds_);
    EXPECT_EQ(TempFiles(), std::vector<std::string>());
    EXPECT_EQ(Names("outside"), std::vector<std::string>{"file"});
    EXPECT_EQ(Get("outside/file"), "secret");
    std::filesystem::remove_all(dir_);
  }

  // Paths are below dir_ unless they say otherwise.
  std::string At(const std::string& path) const { return dir_ + "/" + path; }
  void Put(const std::string& path, const std::string& text) const {
    std::ofstream(At(path), std::ios::binary) << text;
  }
  std::string Get(const std::string& path) const {
    std::ifstream file(At(path), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void Link(const std::string& target, const std::string& path) const {
    std::filesystem::create_symlink(target, At(path));
  }
  std::vector<std::string> Names(const std::string& folder) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(At(folder))) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  std::vector<std::string> TempFiles() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(dir_)) {
      if (entry.path().filename().string().find(".acpd-") != std::string::npos) {
        names.push_back(entry.path().string());
      }
    }
    return names;
  }
  static size_t CountFds() {
    const std::filesystem::directory_iterator fds("/proc/self/fd");
    return static_cast<size_t>(std::distance(begin(fds), end(fds)));
  }

  // The text, or the kind of the error in <>.
  std::string ReadWhole(const std::string& whole_path) const {
    const auto read = ReadTextFile(roots_, whole_path, {}, {}, kPlenty);
    if (const auto* error = std::get_if<FileError>(&read)) return "<" + KindName(error->kind) + ">";
    return std::get<ReadText>(read).content;
  }
  std::string Read(const std::string& path) const { return ReadWhole(At(path)); }
  std::string ReadMessage(const std::string& path) const {
    const auto read = ReadTextFile(roots_, At(path), {}, {}, kPlenty);
    const auto* error = std::get_if<FileError>(&read);
    return error ? error->message : "";
  }
  // "" when it was written, or the kind of the error in <>.
  std::string Write(const std::string& path, const std::string& text,
                    size_t max_bytes = kPlenty) const {
    const auto written = WriteTextFile(roots_, At(path), text, max_bytes);
    if (const auto* error = std::get_if<FileError>(&written)) {
      return "<" + KindName(error->kind) + ">";
    }
    EXPECT_EQ(std::get<uint64_t>(written), text.size());
    return "";
  }

  // Runs `work` as a user whom permissions bind: root becomes nobody for it, in this thread only.
  void WithoutPower(const std::function<void()>& work) const {
    if (geteuid() != 0) return work();
    std::filesystem::permissions(dir_, std::filesystem::perms(0755));
    std::thread([&work] {
      constexpr uid_t kNobody = 65534;
      setfsgid(kNobody);
      setfsuid(kNobody);
      work();
    }).join();
  }

  std::string dir_;
  FileRoots roots_;

 private:
  size_t fds_ = 0;
};

inline std::string WayName(const testing::TestParamInfo<bool>& way) {
  return way.param ? "Openat2" : "ByHand";
}

}  // namespace acpd::session

#endif  // ACPD_TESTS_SESSION_FILES_FIXTURE_H_
