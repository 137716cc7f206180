#ifndef ACPD_ACP_WORKER_WATCHED_OUTPUT_H_
#define ACPD_ACP_WORKER_WATCHED_OUTPUT_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "acp/worker/stdout_buffer.h"

namespace acpd::worker {

// The last bytes of what a command wrote, and how far acpd, when it watches, has been told of them.
// The command never waits: who is told too slowly misses the oldest. Loop thread only; owned by a
// Terminal.
class WatchedOutput {
 public:
  static constexpr uint64_t kMaxLimit = 4 << 20;
  // So much that was not yet told is kept, also beyond the limit.
  static constexpr uint64_t kMaxUntold = 256 << 10;
  // A piece is told when it is full, or when so much time has passed since the one before: what a
  // chatty command writes does not become thousands of them.
  static constexpr size_t kMaxPiece = 32 << 10;
  static constexpr int64_t kPieceMs = 50;

  explicit WatchedOutput(uint64_t limit);

  // Where the next bytes are to be read to, never empty unless there is no memory; Added says how
  // many came.
  iovec Room() { return bytes_.Room(); }
  void Added(size_t bytes);

  uint64_t end() const { return bytes_.end(); }
  // Offset of the first byte within the limit.
  uint64_t first_kept() const { return std::max(FirstInLimit(), bytes_.first()); }
  // The bytes from there on.
  std::string Kept() const { return Copy(first_kept(), end() - first_kept()); }

  // From now on pieces are taken, from `from` or the first byte there is.
  void Watch(uint64_t from);
  void StopWatching();

  bool untold() const { return watched_ && told_ < end(); }
  // When the next piece may be taken; 0: at once; INT64_MAX: nothing is untold. `last`: no more
  // will come.
  int64_t PieceDue(bool last) const;
  struct Piece {
    uint64_t offset;
    std::string bytes;
  };
  // To be called when it is due.
  Piece TakePiece(int64_t now);

 private:
  uint64_t FirstInLimit() const;
  std::string Copy(uint64_t from, uint64_t size) const;
  void Cut();

  const uint64_t limit_;
  StdoutBuffer bytes_;
  bool watched_ = false;
  uint64_t told_ = 0;                  // when watched: offset after the last byte that was told
  int64_t last_piece_ms_ = -kPieceMs;  // when that was
};

}  // namespace acpd::worker

#endif  // ACPD_ACP_WORKER_WATCHED_OUTPUT_H_
