#ifndef ACPD_ACP_WORKER_STDOUT_BUFFER_H_
#define ACPD_ACP_WORKER_STDOUT_BUFFER_H_

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace acpd::worker {

// The agent's stdout from the first byte that acpd has not acknowledged to the last one read; for a
// terminal, the last bytes of stdout and stderr together. Memory comes in chunks straight from the
// system and goes back to it as they are forgotten, so a burst leaves nothing behind; one chunk is
// kept for reuse. How much may be kept is the caller's to watch. Loop thread only; owned by Worker
// and WatchedOutput.
class StdoutBuffer {
 public:
  static constexpr size_t kChunk = 256 << 10;

  StdoutBuffer() = default;
  ~StdoutBuffer();
  StdoutBuffer(const StdoutBuffer&) = delete;
  StdoutBuffer& operator=(const StdoutBuffer&) = delete;

  uint64_t first() const { return first_; }  // offset of the first byte kept
  uint64_t end() const { return end_; }      // offset after the last byte
  size_t kept() const { return end_ - first_; }

  // Room behind the last byte; empty when there is no memory. Added() says how much of it was
  // filled.
  iovec Room();
  void Added(size_t bytes) { end_ += bytes; }

  // The bytes from `offset` on, at most `max`, in at most two pieces. Returns how many pieces.
  size_t View(uint64_t offset, size_t max, iovec pieces[2]) const;

  // Drops everything before `offset`, which lies in [first, end].
  void Forget(uint64_t offset);

 private:
  std::vector<char*> chunks_;
  uint64_t base_ = 0;  // offset of the first byte of the first chunk
  uint64_t first_ = 0;
  uint64_t end_ = 0;
};

}  // namespace acpd::worker

#endif  // ACPD_ACP_WORKER_STDOUT_BUFFER_H_
