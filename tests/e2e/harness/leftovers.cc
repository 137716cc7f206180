#include "tests/e2e/harness/leftovers.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <sstream>
#include <system_error>

#include "tests/e2e/harness/temp_dir.h"

namespace acpd::e2e {
namespace {

struct Stat {
  char state = '?';
  pid_t parent = 0;
};

// The fields behind the command's name, which may itself hold spaces and parentheses.
std::optional<Stat> ReadStat(pid_t pid) {
  const std::string text = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  Stat stat;
  std::istringstream fields(text.substr(name_end + 1));
  fields >> stat.state >> stat.parent;
  return stat;
}

std::vector<pid_t> AllPids() {
  std::vector<pid_t> pids;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid > 0) pids.push_back(pid);
  }
  return pids;
}

bool HasEntry(const std::string& environment, const std::string& entry) {
  // The entries of /proc/PID/environ end with a NUL each.
  return ('\0' + environment).find('\0' + entry + '\0') != std::string::npos;
}

std::string CommandLine(pid_t pid) {
  std::string text = ReadFile("/proc/" + std::to_string(pid) + "/cmdline");
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

}  // namespace

std::string Leftovers::NewMark() {
  static std::atomic<int> number{0};
  return std::to_string(::getpid()) + "-" + std::to_string(++number) + "-" +
         std::to_string(std::random_device{}());
}

std::vector<pid_t> Leftovers::Pids() const {
  std::vector<pid_t> pids;
  for (const pid_t pid : AllPids()) {
    if (pid == ::getpid()) continue;
    const std::string environment = ReadFile("/proc/" + std::to_string(pid) + "/environ");
    const bool marked = HasEntry(environment, std::string(kMarkName) + "=" + mark_);
    if (marked || CommandLine(pid).find(folder_) != std::string::npos) pids.push_back(pid);
  }
  return pids;
}

std::vector<std::string> Leftovers::Processes() const {
  std::vector<std::string> processes;
  for (const pid_t pid : Pids()) processes.push_back(std::to_string(pid) + " " + CommandLine(pid));
  return processes;
}

std::vector<std::string> Leftovers::WaitForNone(milliseconds patience) const {
  WaitUntil([this] { return Pids().empty(); }, patience);
  return Processes();
}

void Leftovers::Kill() const {
  for (const pid_t pid : Pids()) ::kill(pid, SIGKILL);
}

std::vector<pid_t> ZombiesOf(pid_t parent) {
  std::vector<pid_t> zombies;
  for (const pid_t pid : AllPids()) {
    const auto stat = ReadStat(pid);
    if (stat && stat->parent == parent && stat->state == 'Z') zombies.push_back(pid);
  }
  return zombies;
}

bool IsAlive(pid_t pid) {
  const auto stat = ReadStat(pid);
  return stat && stat->state != 'Z' && stat->state != 'X';
}

}  // namespace acpd::e2e
