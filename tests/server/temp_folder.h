#ifndef ACPD_TESTS_SERVER_TEMP_FOLDER_H_
#define ACPD_TESTS_SERVER_TEMP_FOLDER_H_

#include <string>

#include "tests/e2e/harness/temp_dir.h"

namespace acpd::server {

// A folder for one test, and its files.
class TempFolder : public e2e::TempDir {
 public:
  std::string File(const std::string& name) const { return *this / name; }
  // Returns its path.
  std::string Write(const std::string& name, const std::string& text) const {
    e2e::WriteFile(File(name), text);
    return File(name);
  }
  static std::string Read(const std::string& path) { return e2e::ReadFile(path); }
};

}  // namespace acpd::server

#endif  // ACPD_TESTS_SERVER_TEMP_FOLDER_H_
