#ifndef ACPD_ACP_WORKER_TERMINALS_H_
#define ACPD_ACP_WORKER_TERMINALS_H_

#include <poll.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "acp/worker/frame_reader.h"
#include "acp/worker/frame_sender.h"
#include "acp/worker/terminal.h"

namespace acpd::worker {

// The commands that the worker runs beside its agent, as acpd asks for them by frames. What waits
// to be sent stays where it is while the socket takes nothing, and old output is forgotten: their
// memory is bounded whatever the commands write and acpd reads. Loop thread only; owned by Worker.
class Terminals {
 public:
  // acpd allows half of them: released ones count until the last of their processes is gone.
  static constexpr size_t kMax = 64;

  explicit Terminals(std::string worker_id) : worker_id_(std::move(worker_id)) {}

  // One entry each; Read, with the index of the first, before a terminal comes or goes.
  void AddPolls(std::vector<pollfd>& polls) const;
  void Read(const std::vector<pollfd>& polls, size_t first);
  // A child of the worker that was reaped, perhaps none of ours.
  void Reaped(pid_t pid, int status, int64_t now);
  void Tick(int64_t now);
  // When Tick has something to do, or, if the socket takes frames, Send.
  int64_t Deadline(bool can_send) const;
  // The agent is ending: so do the commands. (What ended ones have left goes with the agent's
  // tree.)
  void EndAll(int64_t now);
  // No process is left.
  void Finish();

  // A connection is served from now on: says all states.
  void Attached(FrameSender& out);
  // A frame of acpd; other types than ours are none of it. `may_start`: the agent runs, and so may
  // commands. False when it is malformed.
  bool Handle(const Frame& frame, bool may_start, FrameSender& out, int64_t now);
  // Queues what is due, as far as the socket follows.
  void Send(FrameSender& out, int64_t now);
  // After Finish: the connection has been told everything.
  bool Told() const;

 private:
  bool Open(std::string_view payload, bool may_start, FrameSender& out);
  bool Watch(std::string_view payload, FrameSender& out);
  bool Ask(std::string_view payload, FrameSender& out);
  bool Kill(std::string_view payload, FrameSender& out, int64_t now);
  bool Release(std::string_view payload, int64_t now);
  void Refuse(uint64_t number, FrameSender& out, StartFailure failure = {});
  void Answer(uint64_t number, uint64_t tag, FrameSender& out);
  void AnswerAsked(FrameSender& out);
  bool SendRound(FrameSender& out, int64_t now);
  void ForgetFailed();

  const std::string worker_id_;
  std::map<uint64_t, std::unique_ptr<Terminal>> terminals_;
  std::vector<CommandTree> released_;                     // not yet gone
  std::deque<std::pair<uint64_t, uint64_t>> unanswered_;  // READs: number, tag
  uint64_t last_sent_ = 0;                                // whose turn it was; now the next one's
};

}  // namespace acpd::worker

#endif  // ACPD_ACP_WORKER_TERMINALS_H_
