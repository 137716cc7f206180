#include "acp/worker/command_tree.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "acp/worker/posix.h"

namespace acpd::worker {
namespace {

bool IsDead(const acp::ProcessStat& stat) { return stat.state == 'Z' || stat.state == 'X'; }

void SignalSame(pid_t pid, uint64_t start_ticks, int signal) {
  UniqueFd held(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  const auto now = acp::ReadProcessStat(pid);
  if (!now || now->start_ticks != start_ticks) return;
  if (held.open()) {
    syscall(SYS_pidfd_send_signal, held.get(), signal, nullptr, 0);
  } else {
    kill(pid, signal);  // no pidfd: an old kernel, or no fd left
  }
}

}  // namespace

void CommandTree::End(int64_t now) {
  if (stage_ != Stage::kLeft) return;
  kill_at_ = now + kTermGraceMs;
  deadline_ = reaped_ ? now : kill_at_;
  stage_ = reaped_ ? Stage::kLeftovers : Stage::kTerminated;
  if (!reaped_) Signal(SIGTERM, {});
}

void CommandTree::Reaped(int64_t now) {
  reaped_ = true;
  if (stage_ == Stage::kTerminated) deadline_ = std::min(deadline_, now);
}

void CommandTree::Tick(Descendants& descendants, int64_t now) {
  if (now < deadline_) return;
  const std::vector<Member> living = Living(descendants);
  if ((reaped_ && living.empty()) || now >= kill_at_ + kGiveUpMs) {
    stage_ = Stage::kEnded;
    deadline_ = INT64_MAX;
  } else if (now >= kill_at_) {
    Signal(SIGKILL, living);
    deadline_ = now + kKillAgainMs;
  } else {
    if (stage_ == Stage::kLeftovers) Signal(SIGTERM, living);
    stage_ = Stage::kTerminated;
    deadline_ = kill_at_;
  }
}

std::vector<CommandTree::Member> CommandTree::Living(Descendants& descendants) const {
  const Descendants::Map& all = descendants.Get();
  // The number of a group that is empty may be another's: then there is such a process again.
  const bool own_group = !reaped_ || all.count(command_) == 0;
  std::vector<Member> living;
  for (const auto& [pid, descendant] : all) {
    const acp::ProcessStat& stat = descendant.stat;
    const bool below = !reaped_ && (pid == command_ || DescendsFrom(all, pid, command_));
    const bool ours =
        below || (own_group && stat.group == command_) || descendant.terminal == mark_;
    if (ours && !IsDead(stat)) living.push_back({pid, stat.start_ticks});
  }
  return living;
}

void CommandTree::Signal(int signal, const std::vector<Member>& members) const {
  // The group first: a signal to a group cannot be outrun by forking. Before the command has made
  // its group there is only itself.
  if (!reaped_ && kill(-command_, signal) != 0) kill(command_, signal);
  for (const Member& member : members) SignalSame(member.pid, member.start_ticks, signal);
}

}  // namespace acpd::worker
