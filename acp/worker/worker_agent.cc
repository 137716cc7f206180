#include <errno.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>

#include <algorithm>

#include "acp/worker/worker.h"

namespace acpd::worker {
namespace {

// A living agent that closes its stdout counts as exited; most are just about to exit by
// themselves.
constexpr int64_t kClosedStdoutGraceMs = 250;
constexpr size_t kMaxPerStep = 256 << 10;
constexpr int kNotStartedCode = 127;  // as a shell reports it

size_t Unread(int fd) {
  int bytes = 0;
  return ioctl(fd, FIONREAD, &bytes) == 0 ? static_cast<size_t>(bytes) : 0;
}

bool TryAgain(ssize_t result) { return result < 0 && (errno == EAGAIN || errno == EINTR); }

}  // namespace

void Worker::ReadChildren(int64_t now) {
  signalfd_siginfo infos[16];
  while (read(children_fd_.get(), infos, sizeof infos) == sizeof infos) {
  }
  for (const AgentTree::EndedChild& child : tree_.ReapChildren(now)) {
    terminals_.Reaped(child.pid, child.status, now);
  }
}

void Worker::ReadStdout(int64_t now) {
  for (size_t left = std::min<uint64_t>(kMaxPerStep, window_ - stdout_.kept()); left > 0;) {
    iovec room = stdout_.Room();
    if (room.iov_len == 0) {
      poll(nullptr, 0, 10);  // no memory: there may be some in a moment
      return;
    }
    ssize_t got = read(agent_.out.get(), room.iov_base, std::min(room.iov_len, left));
    if (TryAgain(got)) return;
    if (got <= 0) {
      agent_.out.Reset();
      if (!tree_.agent_reaped()) tree_.Stop(kClosedStdoutGraceMs, now);
      return;
    }
    stdout_.Added(static_cast<size_t>(got));
    left -= static_cast<size_t>(got);
  }
}

// Returns how many bytes it read.
size_t Worker::ReadStderr() {
  char bytes[16 << 10];
  ssize_t got = read(agent_.err.get(), bytes, sizeof bytes);
  if (TryAgain(got)) return 0;
  if (got <= 0) {
    agent_.err.Reset();
    return 0;
  }
  std::string_view text(bytes, static_cast<size_t>(got));
  stderr_.Append(text);
  // While acpd is behind, stderr goes to the tail alone: it must not fill our memory.
  if (served_ && !served_->out.blocked()) served_->out.Queue(acp::EncodeStderr(text));
  return text.size();
}

void Worker::FlushStdin() {
  for (uint64_t seq : stdin_.Flush()) {
    if (served_) served_->out.Queue(acp::EncodeNumbered(acp::FrameType::kStdinDone, seq));
  }
}

// Reads what the tree had written before it went. Not to the end of file: a stranger may hold the
// pipes' other ends. What is in them now is at most a pipe's size, so the window may be passed by
// that much.
void Worker::FinishAgent() {
  if (agent_.out.open()) {
    for (size_t left = Unread(agent_.out.get()); left > 0;) {
      iovec room = stdout_.Room();
      ssize_t got = read(agent_.out.get(), room.iov_base, std::min(room.iov_len, left));
      if (got <= 0) break;
      stdout_.Added(static_cast<size_t>(got));
      left -= static_cast<size_t>(got);
    }
  }
  if (agent_.err.open()) {
    for (size_t left = Unread(agent_.err.get()); left > 0;) {
      size_t got = ReadStderr();
      if (got == 0) break;
      left -= std::min(left, got);
    }
  }
  agent_.out.Reset();
  agent_.err.Reset();
  terminals_.Finish();
  ended_ = true;
}

acp::Hello Worker::MakeHello() const {
  acp::Hello hello;
  hello.agent_pid = agent_.pid;
  hello.agent_start_ticks = agent_.start_ticks;
  hello.start_error = agent_.start_error;
  hello.start_errno = agent_.start_errno;
  hello.first_kept_offset = stdout_.first();
  hello.last_stdin_done = stdin_.last_done();
  hello.agent_exited = agent_.pid == 0 || tree_.agent_reaped();
  hello.spec = spec_;
  return hello;
}

acp::WorkerExit Worker::MakeExit() const {
  acp::WorkerExit exit;
  exit.signaled = tree_.signaled();
  exit.value = agent_.pid == 0 ? kNotStartedCode : tree_.value();
  exit.stderr_tail = stderr_.bytes();
  exit.end_offset = stdout_.end();
  return exit;
}

}  // namespace acpd::worker
