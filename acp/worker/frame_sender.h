#ifndef ACPD_ACP_WORKER_FRAME_SENDER_H_
#define ACPD_ACP_WORKER_FRAME_SENDER_H_

#include <cstdint>
#include <string>

#include "acp/worker/stdout_buffer.h"

namespace acpd::worker {

// Sends small frames in the order in which they were queued, and the agent's stdout straight out of
// its buffer between them. Never blocks. Loop thread only; owned by a Connection.
class FrameSender {
 public:
  // Stdout is sent from `offset` on.
  void StartAt(uint64_t offset) { sent_ = frame_end_ = offset; }
  void Queue(std::string frame) { queued_.append(frame); }
  // Sends what the socket takes. False when the connection is gone.
  bool Flush(int fd, const StdoutBuffer& stdout_bytes);

  // Offset after the last byte of stdout that the socket has taken.
  uint64_t sent() const { return sent_; }
  // Bytes of small frames that the socket has not taken.
  size_t queued() const { return queued_.size() - queued_sent_; }
  // Something waits for the socket.
  bool blocked() const { return blocked_; }

 private:
  bool SendQueued(int fd);
  bool SendStdout(int fd, const StdoutBuffer& stdout_bytes);
  bool Sent(long result, size_t* bytes);

  std::string queued_;
  size_t queued_sent_ = 0;
  uint64_t sent_ = 0;
  uint64_t frame_end_ = 0;  // of the STDOUT frame under way; sent_ when there is none
  char header_[13];         // of that frame
  size_t header_left_ = 0;
  bool blocked_ = false;
};

}  // namespace acpd::worker

#endif  // ACPD_ACP_WORKER_FRAME_SENDER_H_
