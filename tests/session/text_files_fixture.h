#ifndef ACPD_TESTS_SESSION_TEXT_FILES_FIXTURE_H_
#define ACPD_TESTS_SESSION_TEXT_FILES_FIXTURE_H_

#include <sys/stat.h>

#include <optional>
#include <string>
#include <variant>

#include "tests/session/files_fixture.h"

namespace acpd::session {

// Reads below the roots, and what a file is like afterwards.
class TextFilesFixture : public FilesTest {
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

}  // namespace acpd::session

#endif  // ACPD_TESTS_SESSION_TEXT_FILES_FIXTURE_H_
