#ifndef ACPD_ACP_WORKER_LINK_H_
#define ACPD_ACP_WORKER_LINK_H_

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "acp/asio.h"
#include "acp/link_frames.h"
#include "acp/terminal_frames.h"

namespace acpd::acp {

// What a worker tells acpd, in the order in which it was sent.
struct StdoutChunk {
  uint64_t offset = 0;     // of the first byte in the agent's stdout
  std::string_view bytes;  // at most 256 KiB (a longer frame comes as several); valid until the
                           // next Read; 64 more bytes behind it are readable (simdjson's padding)
};
struct StderrChunk {
  std::string_view bytes;
};
struct StdinDone {
  uint64_t seq = 0;
};
using LinkEvent = std::variant<Hello, StdoutChunk, StderrChunk, StdinDone, WorkerExit,
                               TerminalState, TerminalOutput, TerminalSnapshot>;

// acpd's end of the link to one worker process. One reader coroutine calls Read; the writers never
// wait: frames are queued and sent in order by a writer coroutine of the link's own (acpd has at
// most one STDIN outstanding, so the queue is bounded by one line and a few small frames). Loop
// thread only. Owned by the agent connection; the worker outlives it.
class WorkerLink {
 public:
  virtual ~WorkerLink() = default;

  // Waits for the next event. UNAVAILABLE when the connection is gone or the worker sent what
  // cannot be read; after Close: CANCELLED.
  virtual awaitable<absl::StatusOr<LinkEvent>> Read() = 0;
  virtual void SendAttach(const Attach& attach) = 0;
  virtual void SendStdin(uint64_t seq, std::string_view line) = 0;
  virtual void SendAck(uint64_t offset) = 0;
  virtual void SendAckExit() = 0;
  virtual void SendStop(std::chrono::milliseconds grace) = 0;
  // What these bring about stands at the frames (terminal_frames.h).
  virtual void SendTerminalOpen(const TerminalOpen& open) = 0;
  virtual void SendTerminalWatch(uint64_t number, uint64_t from_offset) = 0;
  virtual void SendTerminalRead(uint64_t number, uint64_t tag) = 0;
  virtual void SendTerminalKill(uint64_t number) = 0;
  virtual void SendTerminalRelease(uint64_t number) = 0;
  // Ends the connection and a Read that waits; the worker goes on without us.
  virtual void Close() = 0;
};

}  // namespace acpd::acp

#endif  // ACPD_ACP_WORKER_LINK_H_
