// Verbs about the process itself: stderr, children, signals, its end.

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <map>
#include <string>

#include "tests/fakes/agent.h"
#include "tests/fakes/verbs.h"

namespace acpd::fakes {
namespace {

// The longest life of a forked child: if a test fails to kill it, it does not stay for ever.
constexpr unsigned kChildSeconds = 300;

void PointAtNull(int fd) {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(null, fd);
  ::close(null);
}

[[noreturn]] void LiveAsChild(const json& argument, int ready_fd) {
  PointAtNull(0);
  if (argument.value("hold", "") != "stdout") PointAtNull(1);
  PointAtNull(2);
  if (argument.value("ignore", "") == "TERM") std::signal(SIGTERM, SIG_IGN);
  if (argument.value("setsid", false)) ::setsid();
  ::alarm(kChildSeconds);
  ::close(ready_fd);
  while (true) ::pause();
}

int SignalOf(const json& argument) {
  static const std::map<std::string, int> kSignals = {
      {"SEGV", SIGSEGV}, {"ABRT", SIGABRT}, {"KILL", SIGKILL}, {"TERM", SIGTERM}};
  return argument.is_number() ? argument.get<int>() : kSignals.at(argument);
}

}  // namespace

Progress DoStderr(FakeAgent*, Run*, const json& argument) {
  std::string text;
  if (argument.is_number()) {
    const size_t size = argument;
    const std::string line = "stderr: " + std::string(55, '.') + "\n";
    while (text.size() < size) text += line;
    text.resize(size);
  } else {
    text = argument;
  }
  demo::WriteAll(2, text);
  return Progress::kDone;
}

Progress DoFork(FakeAgent* agent, Run*, const json& argument) {
  int ready[2];
  if (::pipe2(ready, O_CLOEXEC) != 0) std::abort();
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ready[0]);
    LiveAsChild(argument, ready[1]);
  }
  ::close(ready[1]);
  char byte;
  while (::read(ready[0], &byte, 1) > 0) {
  }  // ends when the child has set itself up
  ::close(ready[0]);
  agent->log().Write({{"event", "fork"}, {"child", child}});
  return Progress::kDone;
}

Progress DoIgnore(FakeAgent* agent, Run*, const json& argument) {
  if (argument == "EOF") agent->IgnoreEof();
  if (argument == "TERM") std::signal(SIGTERM, SIG_IGN);
  return Progress::kDone;
}

Progress DoExit(FakeAgent* agent, Run*, const json& argument) {
  const int code = argument;
  agent->log().Write({{"event", "exit"}, {"code", code}, {"why", "script"}});
  std::_Exit(code);
}

Progress DoCrash(FakeAgent*, Run*, const json& argument) {
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const int signal = SignalOf(argument);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  return Progress::kDone;
}

Progress DoCloseStdout(FakeAgent*, Run*, const json&) {
  PointAtNull(1);  // so that no other file becomes the stdout
  return Progress::kDone;
}

Progress DoCloseStdin(FakeAgent* agent, Run*, const json&) {
  agent->StopReading();
  PointAtNull(0);
  return Progress::kDone;
}

}  // namespace acpd::fakes
