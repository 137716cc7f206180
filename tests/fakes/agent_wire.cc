#include "tests/fakes/agent_wire.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "acp/demo_agent/line_io.h"

namespace acpd::fakes {
namespace {

constexpr size_t kLongestKeptLine = 1 << 20;

// Process ids come again in a long test run: each process takes the next free number of its own.
int OpenWireFile(const std::string& folder) {
  const std::string stem = folder + "/" + std::to_string(::getpid()) + "-";
  for (int number = 1;; ++number) {
    const std::string path = stem + std::to_string(number) + ".wire";
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
}

}  // namespace

AgentWire::AgentWire() {
  const char* folder = std::getenv("ACPD_TEST_WIRE");
  if (folder != nullptr && *folder != '\0') fd_ = OpenWireFile(folder);
}

AgentWire::~AgentWire() {
  if (fd_ >= 0) ::close(fd_);
}

void AgentWire::Sent(std::string_view bytes) {
  if (fd_ < 0) return;
  while (!bytes.empty()) {
    const size_t newline = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, newline);
    unended_size_ += piece.size();
    unended_.append(
        piece.substr(0, kLongestKeptLine - std::min(kLongestKeptLine, unended_.size())));
    if (newline == std::string_view::npos) return;
    Write('>', unended_, unended_size_);
    unended_.clear();
    unended_size_ = 0;
    bytes.remove_prefix(newline + 1);
  }
}

// One write for each line: what a process wrote before it was killed is whole.
void AgentWire::Write(char direction, std::string_view line, size_t size) {
  if (fd_ < 0) return;
  std::string entry;
  if (size > kLongestKeptLine) {
    entry = {'#', direction};
  } else {
    entry = direction;
    entry += line;
  }
  entry += '\n';
  demo::WriteAll(fd_, entry);
}

}  // namespace acpd::fakes
