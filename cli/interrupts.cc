#include "cli/interrupts.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace acpd::cli {

Interrupts::Interrupts() {
  sigset_t mask;
  sigemptyset(&mask);
  struct sigaction action {};
  // A blocked signal is kept for its reader even where it is ignored.
  if (sigaction(SIGINT, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) {
    sigaddset(&mask, SIGINT);
  }
  pthread_sigmask(SIG_BLOCK, &mask, nullptr);
  fd_ = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
}

Interrupts::~Interrupts() { close(fd_); }

bool Interrupts::Take() {
  signalfd_siginfo info;
  return read(fd_, &info, sizeof info) > 0;
}

}  // namespace acpd::cli
