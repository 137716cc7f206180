#include "tests/fakes/agent_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <system_error>

#include "acp/demo_agent/line_io.h"
#include "acp/demo_agent/messages.h"

extern char** environ;

namespace acpd::fakes {
namespace {

// What this process was given. The descriptor that reads the folder is not among it: it is gone
// when its link is read.
json OpenDescriptors() {
  std::error_code error;
  json descriptors = json::object();
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const std::string number = entry.path().filename();
    const std::string target = std::filesystem::read_symlink(entry.path(), error);
    if (!error && !target.starts_with("/proc/")) descriptors[number] = target;
  }
  return descriptors;
}

json EnvironmentNames() {
  json names = json::array();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    names.push_back(text.substr(0, text.find('=')));
  }
  return names;
}

}  // namespace

void AgentLog::Write(json entry) {
  if (path_.empty()) return;
  entry["pid"] = ::getpid();
  entry["ns"] = std::chrono::steady_clock::now().time_since_epoch().count();
  const int fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return;
  demo::WriteAll(fd, demo::Line(entry));
  ::close(fd);
}

void AgentLog::WriteStart(int argc, char** argv) {
  std::error_code error;
  json arguments = json::array();
  for (int i = 0; i < argc; ++i) arguments.push_back(argv[i]);
  Write({{"event", "start"},
         {"argv", arguments},
         {"cwd", std::filesystem::current_path(error).string()},
         {"env", EnvironmentNames()},
         {"fds", OpenDescriptors()}});
}

}  // namespace acpd::fakes
