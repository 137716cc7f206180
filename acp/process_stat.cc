#include "acp/process_stat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace acpd::acp {

std::string ReadProcFile(const std::string& path) {
  std::string text;
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  char buffer[4096];
  for (;;) {
    ssize_t got = read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer, static_cast<size_t>(got));
  }
  close(fd);
  return text;
}

std::optional<ProcessStat> ReadProcessStat(pid_t pid) {
  std::string text = ReadProcFile("/proc/" + std::to_string(pid) + "/stat");
  // The second field is the program's name in parentheses and may hold anything, parentheses too.
  size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  ProcessStat stat;
  unsigned long long start_ticks = 0;
  int fields = sscanf(text.c_str() + name_end + 1,
                      " %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d"
                      " %llu",
                      &stat.state, &stat.parent, &stat.group, &start_ticks);
  if (fields != 4) return std::nullopt;
  stat.start_ticks = start_ticks;
  return stat;
}

std::vector<pid_t> AllProcesses() {
  std::vector<pid_t> pids;
  DIR* dir = opendir("/proc");
  if (dir == nullptr) return pids;
  while (dirent* entry = readdir(dir)) {
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9') {
      pids.push_back(static_cast<pid_t>(atol(entry->d_name)));
    }
  }
  closedir(dir);
  return pids;
}

}  // namespace acpd::acp
