#include "acp/worker/frame_reader.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

namespace acpd::worker {
namespace {

constexpr size_t kPiece = 64 << 10;
constexpr size_t kMaxPieces = 16;

uint32_t LengthAt(const char* at) {
  unsigned char b[4];
  memcpy(b, at, 4);
  return b[0] | b[1] << 8 | b[2] << 16 | static_cast<uint32_t>(b[3]) << 24;
}

}  // namespace

void FrameReader::MakeRoom() {
  bytes_.erase(0, taken_);
  taken_ = 0;
  // The whole frame at once instead of by doubling; pages that are never filled cost nothing.
  if (wanted_ > bytes_.capacity()) bytes_.reserve(wanted_);
}

bool FrameReader::Receive(int fd) {
  char piece[kPiece];
  MakeRoom();
  for (size_t i = 0; i < kMaxPieces; ++i) {
    ssize_t got = recv(fd, piece, sizeof piece, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN;
    if (got == 0) return false;
    bytes_.append(piece, static_cast<size_t>(got));
    if (static_cast<size_t>(got) < sizeof piece) break;
  }
  return true;
}

std::optional<Frame> FrameReader::Next() {
  size_t left = bytes_.size() - taken_;
  if (left == 0 && bytes_.capacity() > kPiece) {
    std::string().swap(bytes_);  // a long line has passed: its memory goes back
    taken_ = 0;
  }
  if (broken_ || left < 4) return std::nullopt;
  size_t length = LengthAt(bytes_.data() + taken_);
  if (length == 0 || length > acp::kMaxFrame) {
    broken_ = true;
    return std::nullopt;
  }
  wanted_ = 4 + length;
  if (left < wanted_) return std::nullopt;
  const char* at = bytes_.data() + taken_ + 4;
  taken_ += wanted_;
  wanted_ = 0;
  return Frame{static_cast<acp::FrameType>(*at), std::string_view(at + 1, length - 1)};
}

}  // namespace acpd::worker
