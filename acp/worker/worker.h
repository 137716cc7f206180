#ifndef ACPD_ACP_WORKER_WORKER_H_
#define ACPD_ACP_WORKER_WORKER_H_

#include <poll.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "acp/link_frames.h"
#include "acp/worker/agent_process.h"
#include "acp/worker/agent_tree.h"
#include "acp/worker/connection.h"
#include "acp/worker/listener.h"
#include "acp/worker/stderr_tail.h"
#include "acp/worker/stdin_queue.h"
#include "acp/worker/stdout_buffer.h"
#include "acp/worker/terminals.h"

namespace acpd::worker {

// One agent, the commands of its terminals, and the connection to acpd: relays bytes, keeps what
// acpd has not acknowledged, and ends the agent's whole tree. It knows nothing of what the bytes
// mean. Single-threaded: one poll loop, nothing in it blocks. Owned by main.
class Worker {
 public:
  // `children_fd` is a signalfd of SIGCHLD. `listener` outlives the worker.
  Worker(acp::LaunchSpec spec, AgentProcess agent, Listener& listener, UniqueFd children_fd);

  // Returns when the worker may leave: EXIT was acknowledged, or nobody came for the orphan time.
  void Run();

 private:
  using Connections = std::vector<std::unique_ptr<Connection>>;

  // The loop (worker.cc).
  void Wait();
  bool Ready(size_t slot) const { return polls_[slot].revents != 0; }
  void Step(int64_t now);
  int64_t NextDeadline() const;
  void CheckOrphaned(int64_t now);
  void Spool(int64_t now);
  void LeaveForGood();
  std::string SpoolPath() const;

  // The agent's side (worker_agent.cc).
  void ReadChildren(int64_t now);
  void ReadStdout(int64_t now);
  size_t ReadStderr();
  void FlushStdin();
  void FinishAgent();
  acp::Hello MakeHello() const;
  acp::WorkerExit MakeExit() const;

  // acpd's side (worker_frames.cc).
  bool Accept();
  void ReadWaiting(size_t first_slot, size_t count);
  bool TryAttach(std::unique_ptr<Connection>& connection);
  void Serve(std::unique_ptr<Connection> connection, const acp::Attach& attach);
  void ReadServed();
  bool HandleFrames();
  bool HandleFrame(const Frame& frame);
  bool HandleAck(std::string_view payload);
  void SendServed();
  bool AllTold() const;
  void DropServed();

  acp::LaunchSpec spec_;
  AgentProcess agent_;
  AgentTree tree_;
  StdinQueue stdin_;
  StdoutBuffer stdout_;
  StderrTail stderr_;
  Terminals terminals_;
  uint64_t window_;
  bool ended_ = false;  // the tree is gone and all its output has been read

  Listener& listener_;
  UniqueFd children_fd_;
  Connections waiting_;                 // connected, no ATTACH yet
  std::unique_ptr<Connection> served_;  // that of the highest generation
  uint64_t generation_ = 0;
  int64_t unattached_since_;
  bool orphaned_ = false;              // nobody came in time; leave once the agent is gone
  bool spooled_ = false;               // the spool has been written and the socket's path removed
  int64_t late_deadline_ = INT64_MAX;  // for the ATTACH of who was connecting then
  bool leave_ = false;
  std::vector<pollfd> polls_;
};

}  // namespace acpd::worker

#endif  // ACPD_ACP_WORKER_WORKER_H_
