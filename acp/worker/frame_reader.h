#ifndef ACPD_ACP_WORKER_FRAME_READER_H_
#define ACPD_ACP_WORKER_FRAME_READER_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "acp/link_frames.h"

namespace acpd::worker {

struct Frame {
  acp::FrameType type;
  std::string_view payload;  // valid until the next call
};

// Cuts the bytes of a socket into whole frames. Loop thread only; owned by a Connection.
class FrameReader {
 public:
  // Takes in what the socket has, up to a bound per call so that the loop stays fair. False when
  // the connection is gone; what was read before is still there for Next.
  bool Receive(int fd);
  // The next whole frame; nullopt when there is none yet, or never again because broken().
  std::optional<Frame> Next();
  bool broken() const { return broken_; }

 private:
  void MakeRoom();

  std::string bytes_;
  size_t taken_ = 0;   // bytes_ before this have been handed out
  size_t wanted_ = 0;  // length of the frame that has begun, with its prefix; 0: not known
  bool broken_ = false;
};

}  // namespace acpd::worker

#endif  // ACPD_ACP_WORKER_FRAME_READER_H_
