#include "acp/line_splitter.h"

#include <cstring>
#include <utility>

#include "acp/byte_codec.h"

namespace acpd::acp {
namespace {

constexpr size_t kPadding = 64;
// A line this long is scanned as it comes, so that giving it up does not mean to read all of it at
// once.
constexpr size_t kScanFrom = 256u << 10;
// What may stay reserved for the next unfinished line.
constexpr size_t kKeptCapacity = 256u << 10;

// Assigning an empty string would keep the memory.
void Free(std::string* text) { std::string().swap(*text); }

std::string_view WithoutCarriageReturn(std::string_view line) {
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

}  // namespace

LineSplitter::LineSplitter(size_t max_line, uint64_t start_offset)
    : max_line_(max_line), consumed_(start_offset) {}

LineSplitter::LineSplitter(size_t max_line, uint64_t start_offset, std::string_view discarded)
    : LineSplitter(max_line, start_offset) {
  if (discarded.empty()) return;
  ByteReader in(discarded);
  const uint64_t size = in.Number<uint64_t>();
  if (in.ok() && size <= start_offset) scan_ = TopLevelScan::Restore(in.rest());
  unfinished_ = scan_ ? size : 0;
  if (!scan_) scan_ = TopLevelScan::Blind();
  discarding_ = true;
  consumed_ = start_offset - unfinished_;  // where the line begins, as ever
}

void LineSplitter::Feed(std::string_view bytes, size_t padding) {
  piece_ = bytes;
  padding_ = padding;
}

bool LineSplitter::Next(Line* line) {
  ForgetGiven();
  while (!piece_.empty()) {
    const void* newline = std::memchr(piece_.data(), '\n', piece_.size());
    if (newline == nullptr) {
      KeepUnfinished(std::exchange(piece_, {}));
      return false;
    }
    const auto size = static_cast<size_t>(static_cast<const char*>(newline) - piece_.data());
    const std::string_view rest = piece_.substr(0, size);
    piece_.remove_prefix(size + 1);
    consumed_ += unfinished_ + size + 1;
    if (EndLine(rest, piece_.size() + 1 + padding_, line)) return true;
    ForgetGiven();  // a blank line
  }
  return false;
}

bool LineSplitter::Finish(Line* line) {
  ForgetGiven();
  consumed_ += unfinished_;
  return EndLine({}, 0, line);
}

// A line may be one byte over the cap as long as that may turn out to be a CR.
void LineSplitter::KeepUnfinished(std::string_view bytes) {
  unfinished_ += bytes.size();
  discarding_ = discarding_ || unfinished_ > max_line_ + 1;
  if (scan_ || discarding_ || unfinished_ > kScanFrom) Scan(bytes);
  if (discarding_) {
    Free(&carry_);
  } else {
    carry_.append(bytes);
  }
}

void LineSplitter::Scan(std::string_view bytes) {
  if (!scan_) {
    scan_.emplace();
    scan_->Feed(carry_);
  }
  scan_->Feed(bytes);
}

// Gives out the line that `rest` ends; false: it is blank.
bool LineSplitter::EndLine(std::string_view rest, size_t readable_behind, Line* line) {
  *line = {};
  const uint64_t size = std::exchange(unfinished_, 0) + rest.size();
  const std::string_view last = rest.empty() ? std::string_view(carry_) : rest;
  const uint64_t text_size = size - (last.ends_with('\r') ? 1 : 0);
  if (std::exchange(discarding_, false) || text_size > max_line_) {
    Scan(rest);
    line->oversize = true;
    line->discarded = {size, scan_->Id(), scan_->Method()};
    scan_.reset();
    Free(&carry_);
    return true;
  }
  scan_.reset();
  if (!carry_.empty()) {
    carry_.append(rest);
    carry_.append(kPadding, '\0');
    carry_given_ = true;
    rest = std::string_view(carry_).substr(0, size);
    readable_behind = kPadding;
  }
  line->text = WithoutCarriageReturn(rest);
  line->padded = readable_behind >= kPadding;
  return line->text.find_first_not_of(" \t\r") != std::string_view::npos;
}

void LineSplitter::ForgetGiven() {
  if (!std::exchange(carry_given_, false)) return;
  carry_.clear();
  if (carry_.capacity() > kKeptCapacity) Free(&carry_);
}

std::string LineSplitter::discarded() const {
  if (!discarding_) return {};
  return std::move(ByteWriter().Number(unfinished_).Raw(scan_->Save())).Bytes();
}

uint64_t LineSplitter::consumed() const {
  return discarding() ? consumed_ + unfinished_ : consumed_;
}

size_t LineSplitter::pending_bytes() const { return carry_given_ ? 0 : carry_.size(); }

}  // namespace acpd::acp
