#include "acp/worker/worker.h"

#include <algorithm>

#include "acp/worker/spool.h"

namespace acpd::worker {
namespace {

// Until the first ATTACH says otherwise: the longest default ACP line and 1 MiB.
constexpr uint64_t kDefaultWindow = 34u << 20;
constexpr int64_t kOrphanGraceMs = 5000;
// How long who was connecting while the spool was written has for its ATTACH.
constexpr int64_t kLateAttachMs = 5000;

// The places of polls_; those of waiting_ follow, and then those of terminals_.
enum Slot : size_t { kListener, kChildren, kStdout, kStderr, kStdin, kServed, kFirstWaiting };

}  // namespace

Worker::Worker(acp::LaunchSpec spec, AgentProcess agent, Listener& listener, UniqueFd children_fd)
    : spec_(std::move(spec)),
      agent_(std::move(agent)),
      tree_(agent_.pid),
      stdin_(std::move(agent_.in)),
      terminals_(spec_.worker_id),
      window_(kDefaultWindow),
      listener_(listener),
      children_fd_(std::move(children_fd)),
      unattached_since_(NowMs()) {}

void Worker::Run() {
  while (!leave_) {
    Wait();
    Step(NowMs());
  }
}

void Worker::Wait() {
  auto watch = [this](int fd, bool write = false) {
    polls_.push_back({fd, static_cast<short>(write ? POLLIN | POLLOUT : POLLIN), 0});
  };
  polls_.clear();
  watch(listener_.fd());
  watch(children_fd_.get());
  // A full buffer: the agent is not read until acpd acknowledges, and so it blocks.
  watch(stdout_.kept() < window_ ? agent_.out.get() : -1);
  watch(agent_.err.get());
  polls_.push_back({stdin_.poll_fd(), POLLOUT, 0});
  watch(served_ ? served_->fd.get() : -1, served_ && served_->out.blocked());
  for (const auto& connection : waiting_) watch(connection->fd.get());
  terminals_.AddPolls(polls_);

  int64_t deadline = NextDeadline();
  int64_t left = deadline == INT64_MAX ? -1 : std::clamp<int64_t>(deadline - NowMs(), 0, 1 << 30);
  if (poll(polls_.data(), polls_.size(), static_cast<int>(left)) < 0) {
    for (pollfd& entry : polls_) entry.revents = 0;
  }
}

void Worker::Step(int64_t now) {
  const size_t waiting = waiting_.size();
  if (Ready(kChildren)) ReadChildren(now);
  tree_.Tick(now);
  if (Ready(kStderr)) ReadStderr();
  if (Ready(kStdout)) ReadStdout(now);
  terminals_.Read(polls_, kFirstWaiting + waiting);
  terminals_.Tick(now);
  if (Ready(kServed)) ReadServed();
  ReadWaiting(kFirstWaiting, waiting);
  if (Ready(kListener)) Accept();
  if (tree_.stage() != AgentTree::Stage::kRunning) {
    stdin_.Close();
    terminals_.EndAll(now);
  }
  FlushStdin();
  if (tree_.stage() == AgentTree::Stage::kGone && !ended_) FinishAgent();
  CheckOrphaned(now);
  SendServed();
}

int64_t Worker::NextDeadline() const {
  int64_t own = INT64_MAX;
  if (!served_ && spooled_) own = late_deadline_;
  if (!served_ && !spooled_ && !orphaned_) own = unattached_since_ + spec_.orphan_timeout_ms;
  const bool can_send = served_ && !served_->out.blocked();
  return std::min({own, tree_.deadline(), terminals_.Deadline(can_send)});
}

// Nobody comes: the agent ends, what nobody fetched goes to the spool, and the worker leaves.
void Worker::CheckOrphaned(int64_t now) {
  if (served_) return;
  if (!orphaned_ && now >= unattached_since_ + spec_.orphan_timeout_ms) {
    orphaned_ = true;
    tree_.Stop(kOrphanGraceMs, now);
  }
  if (orphaned_ && ended_ && !spooled_) Spool(now);
  if (spooled_ && (waiting_.empty() || now >= late_deadline_)) leave_ = true;
}

// From here on who looks for the worker finds the spool, since the socket goes after it. Who was
// connecting meanwhile is served once more: its connection must not end without a word.
void Worker::Spool(int64_t now) {
  if (WriteSpool(SpoolPath(), MakeHello(), stdout_, MakeExit())) {
    listener_.RemovePath();
    spooled_ = true;
    late_deadline_ = now + kLateAttachMs;
    while (Accept()) {
    }
  } else if (listener_.PathExists()) {
    // A full disk, say: what nobody has fetched yet is kept for as long again.
    orphaned_ = false;
    unattached_since_ = now;
  } else {
    leave_ = true;  // the folder is gone: nobody can come any more
  }
}

// EXIT was acknowledged: nothing is left to be fetched.
void Worker::LeaveForGood() {
  if (spooled_) unlink(SpoolPath().c_str());
  leave_ = true;
}

std::string Worker::SpoolPath() const { return listener_.path() + ".spool"; }

}  // namespace acpd::worker
