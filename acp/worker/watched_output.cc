#include "acp/worker/watched_output.h"

#include <algorithm>

namespace acpd::worker {

WatchedOutput::WatchedOutput(uint64_t limit) : limit_(std::min(limit, kMaxLimit)) {}

void WatchedOutput::Added(size_t bytes) {
  bytes_.Added(bytes);
  Cut();
}

void WatchedOutput::Watch(uint64_t from) {
  watched_ = true;
  told_ = std::clamp(from, bytes_.first(), end());
  last_piece_ms_ = -kPieceMs;
}

void WatchedOutput::StopWatching() {
  watched_ = false;
  Cut();
}

int64_t WatchedOutput::PieceDue(bool last) const {
  if (!untold()) return INT64_MAX;
  if (last || end() - told_ >= kMaxPiece) return 0;
  return last_piece_ms_ + kPieceMs;
}

WatchedOutput::Piece WatchedOutput::TakePiece(int64_t now) {
  Piece piece{told_, Copy(told_, kMaxPiece)};
  told_ += piece.bytes.size();
  last_piece_ms_ = now;
  Cut();
  return piece;
}

uint64_t WatchedOutput::FirstInLimit() const { return end() > limit_ ? end() - limit_ : 0; }

std::string WatchedOutput::Copy(uint64_t from, uint64_t size) const {
  const uint64_t to = std::min(end(), from + size);
  std::string copy;
  copy.reserve(to - from);
  while (from < to) {
    iovec pieces[2];
    const size_t count = bytes_.View(from, to - from, pieces);
    for (size_t i = 0; i < count; ++i) {
      copy.append(static_cast<const char*>(pieces[i].iov_base), pieces[i].iov_len);
      from += pieces[i].iov_len;
    }
  }
  return copy;
}

void WatchedOutput::Cut() {
  uint64_t first = FirstInLimit();
  if (untold()) first = std::min(first, std::max(told_, end() - std::min(end(), kMaxUntold)));
  if (first > bytes_.first()) bytes_.Forget(first);
  if (watched_) told_ = std::max(told_, bytes_.first());
}

}  // namespace acpd::worker
