#include "acp/worker/worker.h"

#include <algorithm>

#include "acp/worker/spool.h"

namespace acpd::worker {
namespace {

// Until the first ATTACH says otherwise: the longest default ACP line and 1 MiB.
constexpr uint64_t kDefaultWindow = 34u << 20;
constexpr int64_t kOrphanGraceMs = 5000;

// The places of polls_; those of waiting_ follow.
enum Slot : size_t { kListener, kChildren, kStdout, kStderr, kStdin, kServed, kFirstWaiting };

}  // namespace

Worker::Worker(acp::LaunchSpec spec, AgentProcess agent, Listener& listener, UniqueFd children_fd)
    : spec_(std::move(spec)),
      agent_(std::move(agent)),
      tree_(agent_.pid),
      stdin_(std::move(agent_.in)),
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
  if (Ready(kServed)) ReadServed();
  ReadWaiting(kFirstWaiting, waiting);
  if (Ready(kListener)) Accept();
  if (tree_.stage() != AgentTree::Stage::kRunning) stdin_.Close();
  FlushStdin();
  if (tree_.stage() == AgentTree::Stage::kGone && !ended_) FinishAgent();
  CheckOrphaned(now);
  SendServed();
}

int64_t Worker::NextDeadline() const {
  int64_t orphan = INT64_MAX;
  if (!served_ && !orphaned_) orphan = unattached_since_ + spec_.orphan_timeout_ms;
  return std::min(orphan, tree_.deadline());
}

void Worker::CheckOrphaned(int64_t now) {
  if (served_) return;
  if (!orphaned_ && now >= unattached_since_ + spec_.orphan_timeout_ms) {
    orphaned_ = true;
    tree_.Stop(kOrphanGraceMs, now);
  }
  if (orphaned_ && ended_) Leave(/*write_spool=*/true);
}

void Worker::Leave(bool write_spool) {
  if (write_spool) WriteSpool(listener_.path() + ".spool", MakeHello(), stdout_, MakeExit());
  leave_ = true;
}

}  // namespace acpd::worker
