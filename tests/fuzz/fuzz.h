#ifndef ACPD_TESTS_FUZZ_FUZZ_H_
#define ACPD_TESTS_FUZZ_FUZZ_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

// What the fuzz targets share. A target is one function that libFuzzer calls with each input; it
// reports a finding by ending the process.
namespace acpd::fuzz {

// `what` is the promise that was broken.
inline void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

// An input: single bytes at its front say how the rest is treated.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  // 0 when there is none left.
  uint8_t Byte() {
    if (rest_.empty()) return 0;
    const auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }
  // What comes before the next NUL, which goes too.
  std::string_view Field() {
    const std::string_view field = rest_.substr(0, rest_.find('\0'));
    rest_.remove_prefix(field.size() < rest_.size() ? field.size() + 1 : field.size());
    return field;
  }
  std::string_view Rest() const { return rest_; }

 private:
  std::string_view rest_;
};

// A copy in memory of exactly its size with `padding` bytes behind it, so that a sanitizer sees
// what is read past it or after it is gone.
class Block {
 public:
  explicit Block(std::string_view text, size_t padding = 0, char filler = '9')
      : size_(text.size()), bytes_(std::make_unique_for_overwrite<char[]>(size_ + padding)) {
    if (size_ > 0) std::memcpy(bytes_.get(), text.data(), size_);
    std::memset(bytes_.get() + size_, filler, padding);
  }
  std::string_view view() const { return {bytes_.get(), size_}; }

 private:
  size_t size_;
  std::unique_ptr<char[]> bytes_;
};

// Cuts bytes into pieces whose sizes follow from a seed: mostly short ones, some empty.
class Pieces {
 public:
  Pieces(std::string_view bytes, uint8_t seed) : left_(bytes), state_(seed * 2654435761u + 1) {}

  bool done() const { return left_.empty(); }
  std::string_view Next() {
    state_ = state_ * 1664525u + 1013904223u;
    const uint32_t random = state_ >> 8;
    const size_t size = random % 8 == 0 ? random % 3001 : random % 17;
    const std::string_view piece = left_.substr(0, size);
    left_.remove_prefix(piece.size());
    return piece;
  }

 private:
  std::string_view left_;
  uint32_t state_;
};

}  // namespace acpd::fuzz

#endif  // ACPD_TESTS_FUZZ_FUZZ_H_
