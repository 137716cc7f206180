#include "acp/worker/frame_sender.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include <algorithm>

#include "acp/link_frames.h"

namespace acpd::worker {
namespace {

constexpr size_t kMaxStdoutFrame = 256 << 10;

void StdoutHeader(uint64_t offset, size_t bytes, char header[13]) {
  // The frame without its bytes, with the length that it has with them.
  std::string frame = acp::EncodeNumbered(acp::FrameType::kStdout, offset);
  memcpy(header, frame.data(), 13);
  size_t length = 9 + bytes;
  for (size_t i = 0; i < 4; ++i) header[i] = static_cast<char>(length >> (8 * i));
}

}  // namespace

// Judges the result of a send: false when the connection is gone; bytes is 0 when the socket takes
// no more.
bool FrameSender::Sent(long result, size_t* bytes) {
  *bytes = result > 0 ? static_cast<size_t>(result) : 0;
  if (result >= 0 || errno == EINTR) return true;
  blocked_ = errno == EAGAIN;
  return blocked_;
}

bool FrameSender::SendQueued(int fd) {
  size_t bytes;
  if (!Sent(send(fd, queued_.data() + queued_sent_, queued_.size() - queued_sent_,
                 MSG_NOSIGNAL | MSG_DONTWAIT),
            &bytes)) {
    return false;
  }
  queued_sent_ += bytes;
  if (queued_sent_ == queued_.size()) {
    std::string().swap(queued_);  // an assignment would keep the memory
    queued_sent_ = 0;
  }
  return true;
}

bool FrameSender::SendStdout(int fd, const StdoutBuffer& stdout_bytes) {
  if (sent_ == frame_end_ && header_left_ == 0) {
    frame_end_ = std::min(stdout_bytes.end(), sent_ + kMaxStdoutFrame);
    StdoutHeader(sent_, frame_end_ - sent_, header_);
    header_left_ = sizeof header_;
  }
  iovec pieces[3];
  pieces[0] = {header_ + sizeof header_ - header_left_, header_left_};
  msghdr message{};
  message.msg_iov = pieces;
  message.msg_iovlen = 1 + stdout_bytes.View(sent_, frame_end_ - sent_, pieces + 1);
  size_t bytes;
  if (!Sent(sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT), &bytes)) return false;
  size_t of_header = std::min(bytes, header_left_);
  header_left_ -= of_header;
  sent_ += bytes - of_header;
  return true;
}

bool FrameSender::Flush(int fd, const StdoutBuffer& stdout_bytes) {
  blocked_ = false;
  while (!blocked_) {
    bool in_frame = header_left_ > 0 || sent_ < frame_end_;
    if (!in_frame && !queued_.empty()) {
      if (!SendQueued(fd)) return false;
    } else if (in_frame || sent_ < stdout_bytes.end()) {
      if (!SendStdout(fd, stdout_bytes)) return false;
    } else {
      break;
    }
  }
  return true;
}

}  // namespace acpd::worker
