#ifndef ACPD_TESTS_E2E_HARNESS_TEMP_DIR_H_
#define ACPD_TESTS_E2E_HARNESS_TEMP_DIR_H_

#include <string>

namespace acpd::e2e {

// A folder of one test, below TMPDIR or /tmp; removed with all that is in it. Kept when
// ACPD_TEST_KEEP is set.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  // A path below it; the file need not exist.
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  // Makes a folder below it and returns its path.
  std::string MakeFolder(const std::string& name) const;

 private:
  std::string path_;
};

void WriteFile(const std::string& path, const std::string& text);
// Empty when there is no such file.
std::string ReadFile(const std::string& path);

}  // namespace acpd::e2e

#endif  // ACPD_TESTS_E2E_HARNESS_TEMP_DIR_H_
