#include "acp/worker/terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include <algorithm>

namespace acpd::worker {
namespace {

// Of one command's output, before the others have their turn.
constexpr size_t kMaxReadPerStep = 64 << 10;

ChildPlan PlanOf(acp::TerminalSpec spec, const std::string& worker_id, uint64_t number) {
  ChildPlan plan;
  plan.argv = std::move(spec.argv);
  plan.env = std::move(spec.env);
  plan.cwd = std::move(spec.cwd);
  plan.marks = {{kWorkerMark, worker_id},
                {kTerminalMark, worker_id + "/" + std::to_string(number)}};
  plan.own_session = true;
  return plan;
}

}  // namespace

Terminal::Terminal(acp::TerminalOpen open, const std::string& worker_id)
    : number_(open.number),
      plan_(PlanOf(std::move(open.spec), worker_id, open.number)),
      output_(open.output_limit),
      tree_(0, {}) {
  output_.Watch(0);
  Start();
}

void Terminal::Start() {
  if (plan_->argv.empty() || plan_->argv[0].empty()) {
    failure_ = {EINVAL, "the terminal has no command"};
    return;
  }
  Pipe out;
  UniqueFd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null.open() || !out.Open()) {
    failure_ = NoProcess();
    return;
  }
  plan_->in = null.get();
  plan_->out = plan_->err = out.write_end.get();
  ForkedChild child = ForkChild(*plan_);
  failure_ = std::move(child.failure);
  if (child.pid == 0) return;
  tree_ = CommandTree(child.pid, plan_->marks[1].second);
  status_ = std::move(child.status);
  out_ = std::move(out.read_end);
  SetNonBlocking(status_.get());
  SetNonBlocking(out_.get());
}

void Terminal::Read() {
  if (status_.open()) {
    ReadStatus();
  } else if (exited_) {
    Discard();
  } else {
    ReadOutput();
  }
}

void Terminal::ReadStatus() {
  auto failure = ReadStartFailure(status_.get(), *plan_);
  if (!failure) return;
  status_.Reset();
  plan_.reset();
  failure_ = *std::move(failure);
  if (failed()) out_.Reset();
}

void Terminal::ReadOutput() {
  for (size_t left = kMaxReadPerStep; left > 0 && out_.open();) {
    const size_t got = ReadPiece(left);
    if (got == 0) break;
    left -= got;
  }
  if (!out_.open() && tree_.reaped()) exited_ = true;
}

// Returns how many bytes there were; the end of the output closes it.
size_t Terminal::ReadPiece(size_t most) {
  const iovec room = output_.Room();
  if (room.iov_len == 0) {
    poll(nullptr, 0, 10);  // no memory: there may be some in a moment
    return 0;
  }
  const ssize_t got = read(out_.get(), room.iov_base, std::min(room.iov_len, most));
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  if (got <= 0) {
    out_.Reset();
    return 0;
  }
  output_.Added(static_cast<size_t>(got));
  return static_cast<size_t>(got);
}

// What the command left in the background may go on writing: to nobody, but without an error.
void Terminal::Discard() {
  char bytes[16 << 10];
  const ssize_t got = read(out_.get(), bytes, sizeof bytes);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) out_.Reset();
}

void Terminal::Reaped(int status, int64_t now) {
  if (status_.open()) ReadStatus();
  tree_.Reaped(now);
  if (failed()) return;
  signaled_ = WIFSIGNALED(status);
  value_ = signaled_ ? WTERMSIG(status) : WEXITSTATUS(status);
  drain_until_ = now + kDrainMs;
  if (!out_.open()) exited_ = true;
}

void Terminal::Tick(Descendants& descendants, int64_t now) {
  tree_.Tick(descendants, now);
  if (!exited_ && now >= drain_until_) Drain();
}

// What is in the pipe now is all that counts: at most a pipe's size.
void Terminal::Drain() {
  int unread = 0;
  if (out_.open() && ioctl(out_.get(), FIONREAD, &unread) != 0) unread = 0;
  for (size_t left = static_cast<size_t>(unread); left > 0 && out_.open();) {
    const size_t got = ReadPiece(left);
    if (got == 0) break;
    left -= got;
  }
  exited_ = true;
  drain_until_ = INT64_MAX;
}

void Terminal::Finish() {
  if (status_.open()) ReadStatus();
  status_.Reset();
  if (failed() || exited_) return;
  if (!tree_.reaped()) {  // it could not be killed
    signaled_ = true;
    value_ = SIGKILL;
  }
  Drain();
  out_.Reset();
}

int64_t Terminal::deadline() const {
  return std::min(exited_ ? INT64_MAX : drain_until_, tree_.deadline());
}

}  // namespace acpd::worker
