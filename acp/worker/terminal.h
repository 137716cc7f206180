#ifndef ACPD_ACP_WORKER_TERMINAL_H_
#define ACPD_ACP_WORKER_TERMINAL_H_

#include <cstdint>
#include <optional>
#include <string>

#include "acp/terminal_frames.h"
#include "acp/worker/child_process.h"
#include "acp/worker/command_tree.h"
#include "acp/worker/posix.h"
#include "acp/worker/watched_output.h"

namespace acpd::worker {

// One command that runs beside the agent, in a session of its own, with an empty stdin: its output,
// its end, and what acpd is still to be told of both. It is always read, whether acpd reads or not,
// so that it never waits. Never blocks. Loop thread only; owned by Terminals.
class Terminal {
 public:
  // How long after the end of the command its output is waited for: what it started in the
  // background may hold the pipe for ever.
  static constexpr int64_t kDrainMs = 250;

  // Starts the command.
  Terminal(acp::TerminalOpen open, const std::string& worker_id);

  uint64_t number() const { return number_; }
  bool failed() const { return failure_.error != 0; }
  CommandTree& tree() { return tree_; }
  const CommandTree& tree() const { return tree_; }

  // What Read is for; -1: nothing.
  int poll_fd() const { return status_.open() ? status_.get() : out_.get(); }
  void Read();
  // With what waitpid said of the command.
  void Reaped(int status, int64_t now);
  // Takes what is due at `now`.
  void Tick(Descendants& descendants, int64_t now);
  // No process of it is left: whatever else holds its pipe is not waited for.
  void Finish();
  // When Tick has something to do.
  int64_t deadline() const;

  // To acpd (terminal_told.cc). A new connection watches nothing, and is told the state at once.
  acp::TerminalState Attached();
  void Watch(uint64_t from);
  void TellAgain() { told_start_ = false; }
  acp::TerminalSnapshot Snapshot(uint64_t tag) const;
  // The next frame that is due; empty when there is none. The state comes before the first output,
  // and once more, as exited, behind the last.
  std::string NextFrame(int64_t now);
  // When that will be; 0: at once; INT64_MAX: not by the passing of time.
  int64_t FrameDue() const;
  // Nothing is left to be told, now or later.
  bool Told() const { return told_start_ && (failed() || told_exit_) && !output_.untold(); }

 private:
  void Start();
  void ReadStatus();
  void ReadOutput();
  size_t ReadPiece(size_t most);
  void Discard();
  void Drain();
  bool ToldAllOutput() const { return exited_ && !output_.untold(); }
  acp::TerminalState State() const;

  const uint64_t number_;
  std::optional<ChildPlan> plan_;  // while the command is being started
  StartFailure failure_;
  UniqueFd status_;  // open until it is known whether the program runs
  UniqueFd out_;     // stdout and stderr
  WatchedOutput output_;
  CommandTree tree_;
  int64_t drain_until_ = INT64_MAX;
  bool exited_ = false;  // the command was reaped, and its output is all there
  bool signaled_ = false;
  int value_ = 0;
  bool told_start_ = false;
  bool told_exit_ = false;
};

}  // namespace acpd::worker

#endif  // ACPD_ACP_WORKER_TERMINAL_H_
