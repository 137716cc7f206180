#include "tests/e2e/harness/barriers.h"

#include <filesystem>

#include "tests/e2e/harness/temp_dir.h"

namespace acpd::e2e {

bool Barriers::WaitReached(const std::string& name, milliseconds patience) const {
  return WaitUntil([&] { return Reached(name); }, patience);
}

bool Barriers::Reached(const std::string& name) const {
  return std::filesystem::exists(folder_ + "/" + name + ".reached");
}

void Barriers::Release(const std::string& name) const {
  WriteFile(folder_ + "/" + name + ".release", "");
}

void Barriers::Reset(const std::string& name) const {
  std::filesystem::remove(folder_ + "/" + name + ".release");
  std::filesystem::remove(folder_ + "/" + name + ".reached");
}

}  // namespace acpd::e2e
