#ifndef ACPD_ACP_WORKER_AGENT_TREE_H_
#define ACPD_ACP_WORKER_AGENT_TREE_H_

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace acpd::worker {

// The agent and everything it started: ends them and reaps them. What this guarantees:
//  - The worker is a child subreaper, so a process whose parent dies becomes the worker's own
//  child, also after setsid or a
//    double fork. Killing the worker's children until it has none therefore kills the whole tree,
//    the commands of
//  terminals included.
//  - Only unreaped children of the worker, and their groups, are signalled: such a pid cannot
//  belong to a stranger.
//  - It ends: what cannot be killed (another user's process, one stuck in the kernel) is left after
//  kGiveUpMs.
// Loop thread only; owned by Worker. The only place of the worker that waits for processes.
class AgentTree {
 public:
  enum class Stage {
    kRunning,      // the agent lives
    kInputClosed,  // its stdin is closed; waiting for it to leave
    kTerminated,   // its group has got SIGTERM; waiting
    kLeftovers,    // the agent is gone; what it left has got SIGTERM and a moment
    kKilled,       // SIGKILL, again and again, until none is left
    kGone,         // no process is left
  };
  static constexpr int64_t kLeftoversMs = 200;
  static constexpr int64_t kGiveUpMs = 5000;

  // 0: there is no agent.
  explicit AgentTree(pid_t agent)
      : agent_(agent), stage_(agent == 0 ? Stage::kGone : Stage::kRunning) {}

  // Starts the ladder, each step of which takes `grace_ms`; 0 is SIGKILL at once. A shorter grace
  // overtakes a longer one.
  void Stop(int64_t grace_ms, int64_t now);
  // A child has changed: reaps what is to be reaped. Returns those that were not the agent, with
  // what waitpid said of them.
  struct EndedChild {
    pid_t pid = 0;
    int status = 0;
  };
  std::vector<EndedChild> ReapChildren(int64_t now);
  // Takes the next step when its time has come.
  void Tick(int64_t now);

  Stage stage() const { return stage_; }
  // When Tick has something to do; INT64_MAX when it waits for nothing.
  int64_t deadline() const { return deadline_; }
  bool agent_reaped() const { return reaped_; }
  bool signaled() const { return signaled_; }
  int value() const { return value_; }  // exit code or signal

 private:
  void ReapAgent(int64_t now);
  void KillAll(int64_t now);

  pid_t agent_;
  Stage stage_;
  int64_t grace_ms_ = 0;
  int64_t deadline_ = INT64_MAX;
  int64_t give_up_ = INT64_MAX;
  bool reaped_ = false;
  bool signaled_ = false;
  int value_ = 0;
};

}  // namespace acpd::worker

#endif  // ACPD_ACP_WORKER_AGENT_TREE_H_
