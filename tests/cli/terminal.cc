#include "tests/cli/terminal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <stdexcept>

namespace acpd::cli {

Terminal::Terminal() : fd_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
  char path[64];
  if (fd_ < 0 || grantpt(fd_) != 0 || unlockpt(fd_) != 0 ||
      ptsname_r(fd_, path, sizeof path) != 0) {
    throw std::runtime_error("no terminal can be made");
  }
  path_ = path;
}

Terminal::~Terminal() { close(fd_); }

void Terminal::Type(const std::string& keys) {
  if (write(fd_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size())) {
    throw std::runtime_error("the terminal takes no input");
  }
}

}  // namespace acpd::cli
