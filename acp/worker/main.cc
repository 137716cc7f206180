// acpd-worker SOCKET: owns one agent for acpd and outlives it. The launch spec comes over fd 3,
// which is read to its end.
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "acp/worker/worker.h"

namespace acpd::worker {
namespace {

constexpr int kSpecFd = 3;

std::optional<acp::LaunchSpec> ReadSpec() {
  UniqueFd fd(kSpecFd);
  std::string bytes;
  char piece[4096];
  for (;;) {
    ssize_t got = read(fd.get(), piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) return acp::DecodeSpec(bytes);
    bytes.append(piece, static_cast<size_t>(got));
  }
}

// 0, 1 and 2 are always taken, so that no pipe of ours becomes one of them.
void OpenStandardFds() {
  int fd;
  do {
    fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  } while (fd >= 0 && fd < kSpecFd);
  if (fd >= 0) close(fd);
}

// Neither the terminal's Ctrl-C, nor its end, nor a plain kill takes the worker from its agent;
// STOP does. SIGCHLD is read from the fd that is returned.
UniqueFd SetUpSignals() {
  for (int number : {SIGPIPE, SIGHUP, SIGINT, SIGTERM}) signal(number, SIG_IGN);
  setsid();
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  sigprocmask(SIG_SETMASK, &children, nullptr);
  return UniqueFd(signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
}

// The worker outlives acpd and must not hold what acpd's own stdout and stderr lead to. (Sanitizers
// report there.)
void LetGoOfStandardFds() {
  UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  dup2(null.get(), 0);
  dup2(null.get(), 1);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  dup2(null.get(), 2);
#endif
}

// Big blocks come from the system one by one and go back when freed, whatever sizes were seen
// before.
void KeepHeapSmall() {
  mallopt(M_MMAP_THRESHOLD, 64 << 10);
  mallopt(M_TRIM_THRESHOLD, 64 << 10);
}

int Fail(const char* what, const char* why) {
  fprintf(stderr, "acpd-worker: %s: %s\n", what, why);
  return 1;
}

int Main(const std::string& socket_path) {
  KeepHeapSmall();
  OpenStandardFds();
  std::optional<acp::LaunchSpec> spec = ReadSpec();
  UniqueFd children_fd = SetUpSignals();
  if (!spec) return Fail("cannot read the launch spec on fd 3", "it is missing or malformed");
  if (!children_fd.open() || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
    return Fail("cannot watch over child processes", strerror(errno));
  }
  Listener listener;
  if (!listener.Open(socket_path)) return Fail(socket_path.c_str(), strerror(errno));
  LetGoOfStandardFds();
  AgentProcess agent = StartAgent(*spec);
  Worker(std::move(*spec), std::move(agent), listener, std::move(children_fd)).Run();
  return 0;
}

}  // namespace
}  // namespace acpd::worker

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr,
            "usage: acpd-worker SOCKET (acpd starts it; the launch spec comes over fd 3)\n");
    return 2;
  }
  return acpd::worker::Main(argv[1]);
}
