#include "tests/e2e/harness/temp_dir.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace acpd::e2e {

TempDir::TempDir() {
  // Short, because unix sockets lie below it: their paths end at 107 bytes.
  path_ = (std::filesystem::temp_directory_path() / "acpd-XXXXXX").string();
  if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make " + path_);
}

TempDir::~TempDir() {
  if (std::getenv("ACPD_TEST_KEEP") != nullptr) {
    std::fprintf(stderr, "kept: %s\n", path_.c_str());
    return;
  }
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

std::string TempDir::MakeFolder(const std::string& name) const {
  const std::string folder = *this / name;
  std::filesystem::create_directories(folder);
  return folder;
}

void WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  if (!file) throw std::runtime_error("cannot write " + path);
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace acpd::e2e
