#ifndef ACPD_ACP_WORKER_STDIN_QUEUE_H_
#define ACPD_ACP_WORKER_STDIN_QUEUE_H_

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "acp/worker/posix.h"

namespace acpd::worker {

// Whole lines on their way into the agent's stdin, each with acpd's number. A line whose number it
// has had is ignored, so that acpd may send again what it does not know to have arrived. Never
// blocks. Not bounded: acpd has one line outstanding. Loop thread only; owned by Worker.
class StdinQueue {
 public:
  explicit StdinQueue(UniqueFd pipe) : pipe_(std::move(pipe)) {}

  void Add(uint64_t seq, std::string_view line);
  // Writes what the pipe takes. Returns the numbers of the lines that are wholly in it now.
  std::vector<uint64_t> Flush();
  // Nothing more goes to the agent: it sees the end of its input.
  void Close();

  // The pipe, while there is something to write to it; else -1.
  int poll_fd() const { return lines_.empty() ? -1 : pipe_.get(); }
  uint64_t last_done() const { return last_done_; }

 private:
  struct Line {
    uint64_t seq;
    std::string text;
  };
  UniqueFd pipe_;
  std::deque<Line> lines_;
  size_t written_ = 0;  // of the first line
  uint64_t last_had_ = 0;
  uint64_t last_done_ = 0;
};

}  // namespace acpd::worker

#endif  // ACPD_ACP_WORKER_STDIN_QUEUE_H_
