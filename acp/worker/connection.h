#ifndef ACPD_ACP_WORKER_CONNECTION_H_
#define ACPD_ACP_WORKER_CONNECTION_H_

#include "acp/worker/frame_reader.h"
#include "acp/worker/frame_sender.h"
#include "acp/worker/posix.h"

namespace acpd::worker {

// A connection from acpd: before its ATTACH one of several that wait, after it the one that is
// served. Loop thread only; owned by Worker.
struct Connection {
  explicit Connection(UniqueFd socket) : fd(std::move(socket)) {}

  UniqueFd fd;
  FrameReader in;
  FrameSender out;
  bool exit_sent = false;
};

}  // namespace acpd::worker

#endif  // ACPD_ACP_WORKER_CONNECTION_H_
