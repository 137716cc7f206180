#include "acp/demo_agent/line_io.h"

#include <unistd.h>

#include <cerrno>

namespace acpd::demo {

bool LineReader::ReadSome() {
  char piece[1 << 16];
  ssize_t n;
  do {
    n = ::read(fd_, piece, sizeof piece);
  } while (n < 0 && errno == EINTR);
  if (n <= 0) {
    ended_ = true;
    return false;
  }
  buffer_.erase(0, start_);
  scanned_ -= start_;
  start_ = 0;
  buffer_.append(piece, static_cast<size_t>(n));
  return true;
}

bool LineReader::Next(std::string* line) {
  const size_t newline = buffer_.find('\n', scanned_);
  if (newline != std::string::npos) {
    line->assign(buffer_, start_, newline - start_);
    start_ = scanned_ = newline + 1;
    return true;
  }
  scanned_ = buffer_.size();
  if (!ended_ || start_ == buffer_.size()) return false;
  line->assign(buffer_, start_);
  start_ = buffer_.size();
  return true;
}

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

}  // namespace acpd::demo
