#ifndef ACPD_ACP_LINK_INPUT_H_
#define ACPD_ACP_LINK_INPUT_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "acp/worker_link.h"

namespace acpd::acp {

// Turns the bytes of a worker's socket into link events, stdout without a copy and as soon as any
// of it is there. The buffer grows while the worker is busy and shrinks when it is idle. Knows no
// socket. Loop thread only; owned by the link.
class LinkInput {
 public:
  static constexpr size_t kMaxChunk = 256 << 10;
  static constexpr size_t kPadding = 64;  // readable behind every chunk

  LinkInput();

  // The next event; nullopt when more bytes are needed first. Its views are valid until the next
  // Room or Shrink. UNAVAILABLE when the bytes make no sense; there is no going on then.
  absl::StatusOr<std::optional<LinkEvent>> Next();

  // Where the next bytes are to be read to, never empty; Added says how many came.
  std::span<char> Room();
  void Added(size_t bytes);
  // The socket has nothing: gives back what a burst needed.
  void Shrink();

 private:
  size_t available() const { return end_ - begin_; }
  std::optional<LinkEvent> NextStdout();
  bool BeginStdout(size_t length);
  void Resize(size_t capacity);

  std::unique_ptr<char[]> data_;
  size_t capacity_ = 0;  // without the padding
  size_t begin_ = 0;     // bytes before this have been taken
  size_t end_ = 0;
  size_t wanted_ = 0;       // size of the frame that has begun, to be had as a whole; 0: not known
  size_t stdout_left_ = 0;  // of the STDOUT frame under way
  uint64_t stdout_offset_ = 0;
  bool filled_ = false;  // the last read took all the room: there is more than it holds
};

}  // namespace acpd::acp

#endif  // ACPD_ACP_LINK_INPUT_H_
