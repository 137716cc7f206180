#include "acp/worker/agent_tree.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "acp/worker/children.h"

namespace acpd::worker {
namespace {

constexpr int64_t kKillAgainMs = 20;
constexpr int64_t kLeftoversInLadderMs = 1000;

}  // namespace

void AgentTree::Stop(int64_t grace_ms, int64_t now) {
  if (stage_ == Stage::kKilled || stage_ == Stage::kGone) return;
  if (grace_ms == 0) {
    KillAll(now);
  } else if (stage_ == Stage::kRunning) {
    stage_ = Stage::kInputClosed;
    grace_ms_ = grace_ms;
    deadline_ = now + grace_ms;
  } else if (grace_ms < grace_ms_) {
    grace_ms_ = grace_ms;
    deadline_ = std::min(deadline_, now + grace_ms);
  }
}

void AgentTree::Tick(int64_t now) {
  if (now < deadline_) return;
  switch (stage_) {
    case Stage::kInputClosed:
      kill(-agent_, SIGTERM);
      stage_ = Stage::kTerminated;
      deadline_ = now + grace_ms_;
      break;
    case Stage::kTerminated:
    case Stage::kLeftovers:
      KillAll(now);
      break;
    case Stage::kKilled:
      // Another round: a child that had just forked has left us a new one.
      if (now >= give_up_) {
        stage_ = Stage::kGone;
        deadline_ = INT64_MAX;
      } else {
        KillAll(now);
      }
      break;
    case Stage::kRunning:
    case Stage::kGone:
      deadline_ = INT64_MAX;
      break;
  }
}

std::vector<AgentTree::EndedChild> AgentTree::ReapChildren(int64_t now) {
  std::vector<EndedChild> others;
  bool reaped_any = false;
  for (;;) {
    siginfo_t info{};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
      if (errno == EINTR) continue;
      if (errno == ECHILD && (reaped_ || agent_ == 0)) {
        stage_ = Stage::kGone;
        deadline_ = INT64_MAX;
      }
      return others;
    }
    if (info.si_pid == 0) break;
    reaped_any = true;
    if (info.si_pid == agent_ && !reaped_) {
      ReapAgent(now);
    } else {
      EndedChild child{info.si_pid, 0};
      waitpid(child.pid, &child.status, 0);
      others.push_back(child);
    }
  }
  // What the reaped ones had started is ours now.
  if (reaped_any && stage_ == Stage::kKilled) KillAll(now);
  return others;
}

void AgentTree::ReapAgent(int64_t now) {
  // The group is signalled before the agent is reaped: after that its number may be another's.
  bool killed = stage_ == Stage::kKilled;
  kill(-agent_, killed ? SIGKILL : SIGTERM);
  int status = 0;
  waitpid(agent_, &status, 0);
  reaped_ = true;
  signaled_ = WIFSIGNALED(status);
  value_ = signaled_ ? WTERMSIG(status) : WEXITSTATUS(status);
  if (killed) return;
  SignalChildren(SIGTERM);
  bool in_ladder = stage_ != Stage::kRunning;
  stage_ = Stage::kLeftovers;
  deadline_ = now + (in_ladder ? std::min(grace_ms_, kLeftoversInLadderMs) : kLeftoversMs);
}

void AgentTree::KillAll(int64_t now) {
  if (stage_ != Stage::kKilled) give_up_ = now + kGiveUpMs;
  stage_ = Stage::kKilled;
  deadline_ = now + kKillAgainMs;
  if (!reaped_) kill(-agent_, SIGKILL);
  SignalChildren(SIGKILL);
}

}  // namespace acpd::worker
