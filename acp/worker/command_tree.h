#ifndef ACPD_ACP_WORKER_COMMAND_TREE_H_
#define ACPD_ACP_WORKER_COMMAND_TREE_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "acp/worker/descendants.h"

namespace acpd::worker {

// The command of a terminal and everything it started: ends them while the agent and what that
// started live on. (With the agent everything goes: AgentTree.) What belongs to it:
//  - what descends from the command, as long as that was not reaped;
//  - what is in its process group;
//  - what carries its mark in the environment, wherever it was adopted.
// Only the unreaped command, its group and descendants of the worker are signalled, the latter
// through a pidfd that was opened before their start time was compared: they cannot be strangers.
// Loop thread only; owned by a Terminal, and after its release by Terminals.
class CommandTree {
 public:
  static constexpr int64_t kTermGraceMs = 1000;
  static constexpr int64_t kKillAgainMs = 20;
  static constexpr int64_t kGiveUpMs = 5000;  // after the first SIGKILL

  CommandTree(pid_t command, std::string mark) : command_(command), mark_(std::move(mark)) {}

  // SIGTERM to the group, or to what a command that is gone has left; after kTermGraceMs SIGKILL to
  // all, again and again until none is left.
  void End(int64_t now);
  // The command was reaped.
  void Reaped(int64_t now);
  // Takes the next step when its time has come.
  void Tick(Descendants& descendants, int64_t now);

  pid_t command() const { return command_; }
  bool reaped() const { return reaped_; }
  // After End: none is left, or they cannot be killed.
  bool ended() const { return stage_ == Stage::kEnded; }
  // When Tick has something to do; INT64_MAX when it waits for nothing.
  int64_t deadline() const { return deadline_; }

 private:
  enum class Stage {
    kLeft,        // nobody wants it to end
    kLeftovers,   // the command is gone; what it has left gets SIGTERM at the next look
    kTerminated,  // has got SIGTERM; after kill_at_ SIGKILL
    kEnded,
  };
  struct Member {
    pid_t pid = 0;
    uint64_t start_ticks = 0;
  };
  std::vector<Member> Living(Descendants& descendants) const;
  void Signal(int signal, const std::vector<Member>& members) const;

  pid_t command_;
  std::string mark_;  // value of kTerminalMark
  bool reaped_ = false;
  Stage stage_ = Stage::kLeft;
  int64_t kill_at_ = INT64_MAX;
  int64_t deadline_ = INT64_MAX;
};

}  // namespace acpd::worker

#endif  // ACPD_ACP_WORKER_COMMAND_TREE_H_
