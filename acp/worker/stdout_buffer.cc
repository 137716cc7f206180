#include "acp/worker/stdout_buffer.h"

#include <sys/mman.h>

#include <algorithm>

namespace acpd::worker {

StdoutBuffer::~StdoutBuffer() {
  for (char* chunk : chunks_) munmap(chunk, kChunk);
}

iovec StdoutBuffer::Room() {
  size_t used = end_ - base_;
  if (used == chunks_.size() * kChunk) {
    void* chunk = mmap(nullptr, kChunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (chunk == MAP_FAILED) return {nullptr, 0};
    chunks_.push_back(static_cast<char*>(chunk));
  }
  return {chunks_[used / kChunk] + used % kChunk, kChunk - used % kChunk};
}

size_t StdoutBuffer::View(uint64_t offset, size_t max, iovec pieces[2]) const {
  size_t left = std::min<uint64_t>(max, end_ - offset);
  size_t at = offset - base_;
  size_t count = 0;
  while (left > 0 && count < 2) {
    size_t size = std::min(left, kChunk - at % kChunk);
    pieces[count++] = {chunks_[at / kChunk] + at % kChunk, size};
    at += size;
    left -= size;
  }
  return count;
}

void StdoutBuffer::Forget(uint64_t offset) {
  first_ = offset;
  size_t gone = (first_ - base_) / kChunk;
  if (first_ == end_ && !chunks_.empty()) {
    // Nothing is kept: the first chunk is filled from its start again.
    for (size_t i = 1; i < chunks_.size(); ++i) munmap(chunks_[i], kChunk);
    chunks_.resize(1);
    base_ = first_;
    return;
  }
  for (size_t i = 0; i < gone; ++i) munmap(chunks_[i], kChunk);
  chunks_.erase(chunks_.begin(), chunks_.begin() + static_cast<ptrdiff_t>(gone));
  base_ += gone * kChunk;
}

}  // namespace acpd::worker
