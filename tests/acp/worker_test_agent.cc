// worker_test_agent VERB [ARG]: a process to be owned by a worker in tests. What each verb does
// stands in the table at the end.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <string>
#include <string_view>

#include "acp/process_marks.h"

namespace {

void WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t wrote = write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) _exit(99);
    bytes.remove_prefix(static_cast<size_t>(wrote));
  }
}

void Say(const std::string& line) { WriteAll(1, line + "\n"); }

[[noreturn]] void WaitForEver() {
  for (;;) pause();
}

[[noreturn]] void EchoUntilEof() {
  static char bytes[1 << 16];
  ssize_t got;
  while ((got = read(0, bytes, sizeof bytes)) > 0) {
    WriteAll(1, std::string_view(bytes, static_cast<size_t>(got)));
  }
  _exit(0);
}

void IgnoreEnds() {
  for (int number : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) signal(number, SIG_IGN);
}

// The byte at each place is known, so that a reader can tell a byte that is missing, doubled or
// moved.
std::string Pattern(size_t size) {
  std::string text(size, '\0');
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + (i / 7 + i / 4096) % 26);
  return text;
}

void Burst(const std::string& size) {
  WriteAll(1, Pattern(std::stoul(size)));
  EchoUntilEof();
}

// What is written before acpd has attached may be more than its window.
void WaitForALine() {
  char byte = 0;
  while (byte != '\n' && read(0, &byte, 1) > 0) {
  }
}

void BurstWhenTold(const std::string& size) {
  WaitForALine();
  Burst(size);
}

void Noise(const std::string& size) {
  WriteAll(2, std::string(std::stoul(size), 'e') + "the last words\n");
  Say("noise made");
  EchoUntilEof();
}

void Deaf(const std::string& size) {
  WaitForALine();
  WriteAll(1, Pattern(std::stoul(size)));
  WaitForEver();
}

void Fds(const std::string&) {
  std::string found;
  DIR* dir = opendir("/proc/self/fd");
  while (dirent* entry = readdir(dir)) {
    std::string name = entry->d_name;
    if (name[0] != '.' && std::stoi(name) != dirfd(dir)) found += name + " ";
  }
  closedir(dir);
  Say(found);
  EchoUntilEof();
}

// Forks a descendant that holds all our fds and lives for ever; says its pid when it is set up.
void Descendant(bool ignores_term, bool own_session, bool double_fork) {
  int ready[2];
  if (pipe(ready) != 0) _exit(98);
  pid_t pid = fork();
  if (pid == 0) {
    if (own_session) setsid();
    if (double_fork && fork() != 0) _exit(0);
    if (ignores_term) IgnoreEnds();
    Say(std::to_string(getpid()));
    WriteAll(ready[1], "x");
    WaitForEver();
  }
  char byte;
  while (read(ready[0], &byte, 1) < 0 && errno == EINTR) {
  }
  close(ready[0]);
  close(ready[1]);
}

void FourDescendants() {
  Descendant(false, false, false);
  Descendant(true, false, false);
  Descendant(true, true, false);
  Descendant(true, true, true);
}

// Says the pids of four descendants, and stays whatever happens to it.
void Stubborn(const std::string&) {
  IgnoreEnds();
  FourDescendants();
  Say("ready");
  WaitForEver();
}

void LeaveTree(const std::string& code) {
  FourDescendants();
  Say("ready");
  _exit(std::stoi(code));
}

void PoliteTree(const std::string&) {
  FourDescendants();
  Say("ready");
  EchoUntilEof();
}

void Polite(const std::string& code) {
  Say("ready");
  char bytes[4096];
  while (read(0, bytes, sizeof bytes) > 0) {
  }
  _exit(std::stoi(code));
}

void EndsOnTerm(const std::string& code) {
  static int exit_code;
  exit_code = std::stoi(code);
  signal(SIGTERM, [](int) { _exit(exit_code); });
  Say("ready");
  WaitForEver();
}

void Exit(const std::string& code) {
  Say("bye");
  WriteAll(2, "why it left\n");
  _exit(std::stoi(code));
}

void Die(const std::string& number) {
  signal(std::stoi(number), SIG_DFL);
  raise(std::stoi(number));
  _exit(97);
}

void CloseStdout(const std::string&) {
  Say("closing");
  IgnoreEnds();
  close(1);
  WaitForEver();
}

void CloseStdin(const std::string&) {
  close(0);
  Say("ready");
  WaitForEver();
}

void Signals(const std::string&) {
  sigset_t mask;
  sigprocmask(SIG_SETMASK, nullptr, &mask);
  std::string odd;
  for (int number = 1; number < 32; ++number) {
    struct sigaction action {};
    sigaction(number, nullptr, &action);
    if (sigismember(&mask, number) == 1) odd += "blocked " + std::to_string(number) + " ";
    // A sanitizer has handlers of its own; what must not be is "ignored".
    if (action.sa_handler == SIG_IGN) odd += "ignored " + std::to_string(number) + " ";
  }
  int parent_death = 0;
  prctl(PR_GET_PDEATHSIG, &parent_death);
  Say(odd + "death " + std::to_string(parent_death) + " leader " +
      std::to_string(getpgrp() == getpid()) + " mark " + getenv("ACPD_WORKER_ID"));
  EchoUntilEof();
}

// Kills all that carry the mark ID, which it carries itself.
void KillMarkedOfOurs(const std::string& id) {
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  _exit(acpd::acp::KillMarked(id, 0, 0, deadline) ? 42 : 43);
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, void (*)(const std::string&)> verbs = {
      {"echo", [](const std::string&) { EchoUntilEof(); }},
      {"burst", Burst},                    // SIZE patterned bytes on stdout, then echo
      {"burst-when-told", BurstWhenTold},  // the same, behind a line on its stdin
      {"noise", Noise},                    // SIZE bytes on stderr, then echo
      {"deaf", Deaf},  // behind a line: SIZE patterned bytes on stdout; reads no more, stays
      {"fds", Fds},    // lists its fds, then echo
      {"stubborn", Stubborn},         // ignores EOF and TERM, and so does what it started
      {"leave-tree", LeaveTree},      // exits with CODE and leaves what it started
      {"polite-tree", PoliteTree},    // leaves at EOF, what it started does not
      {"polite", Polite},             // exits with CODE at EOF
      {"ends-on-term", EndsOnTerm},   // exits with CODE at SIGTERM
      {"exit", Exit},                 // exits with CODE at once
      {"die", Die},                   // by signal NUMBER
      {"close-stdout", CloseStdout},  // and lives on
      {"close-stdin", CloseStdin},    // and lives on
      {"signals", Signals},           // says what it inherited
      {"kill-marked",
       KillMarkedOfOurs},  // all with the mark ID but itself; 42 when it outlives that
  };
  auto verb = verbs.find(argc > 1 ? argv[1] : "");
  if (verb == verbs.end()) return 96;
  verb->second(argc > 2 ? argv[2] : "");
  return 0;
}
