#include "acp/link_input.h"

#include <algorithm>
#include <cstring>

namespace acpd::acp {
namespace {

constexpr size_t kIdleCapacity = 16 << 10;
constexpr size_t kLengthSize = 4;
constexpr size_t kStdoutHeader = kLengthSize + 1 + 8;

uint32_t LengthAt(const char* at) {
  uint32_t length = 0;
  for (int i = 0; i < 4; ++i) {
    length |= static_cast<uint32_t>(static_cast<unsigned char>(at[i])) << (8 * i);
  }
  return length;
}

absl::Status Malformed() { return absl::UnavailableError("the worker sent a malformed frame"); }

template <typename Payload>
absl::StatusOr<std::optional<LinkEvent>> Event(std::optional<Payload> payload) {
  if (!payload) return Malformed();
  return std::optional<LinkEvent>(*std::move(payload));
}

absl::StatusOr<std::optional<LinkEvent>> Decode(FrameType type, std::string_view payload) {
  switch (type) {
    case FrameType::kHello:
      return Event(DecodeHello(payload));
    case FrameType::kExit:
      return Event(DecodeExit(payload));
    case FrameType::kStderr:
      return std::optional<LinkEvent>(StderrChunk{payload});
    case FrameType::kStdinDone: {
      auto seq = DecodeNumber(payload);
      if (!seq || !payload.empty()) return Malformed();
      return std::optional<LinkEvent>(StdinDone{*seq});
    }
    case FrameType::kTerminalState:
      return Event(DecodeTerminalState(payload));
    case FrameType::kTerminalOutput:
      return Event(DecodeTerminalOutput(payload));
    case FrameType::kTerminalSnapshot:
      return Event(DecodeTerminalSnapshot(payload));
    default:
      return std::optional<LinkEvent>();  // a newer worker's frame: skipped
  }
}

}  // namespace

LinkInput::LinkInput() { Resize(kIdleCapacity); }

absl::StatusOr<std::optional<LinkEvent>> LinkInput::Next() {
  while (stdout_left_ == 0) {
    if (available() < kLengthSize + 1) return std::nullopt;
    const char* frame = data_.get() + begin_;
    const size_t length = LengthAt(frame);
    const auto type = static_cast<FrameType>(frame[kLengthSize]);
    if (length == 0 || length > kMaxFrame) return Malformed();
    if (type == FrameType::kStdout) {
      if (length < kStdoutHeader - kLengthSize) return Malformed();
      if (!BeginStdout(length)) return std::nullopt;
      continue;
    }
    wanted_ = kLengthSize + length;
    if (available() < wanted_) return std::nullopt;
    begin_ += wanted_;
    wanted_ = 0;
    auto event = Decode(type, std::string_view(frame + kLengthSize + 1, length - 1));
    if (!event.ok() || event->has_value()) return event;
  }
  return NextStdout();
}

bool LinkInput::BeginStdout(size_t length) {
  if (available() < kStdoutHeader) return false;
  std::string_view number(data_.get() + begin_ + kLengthSize + 1, 8);
  stdout_offset_ = *DecodeNumber(number);
  stdout_left_ = length - (kStdoutHeader - kLengthSize);
  begin_ += kStdoutHeader;
  return true;
}

std::optional<LinkEvent> LinkInput::NextStdout() {
  const size_t size = std::min({available(), stdout_left_, kMaxChunk});
  if (size == 0) return std::nullopt;
  StdoutChunk chunk{stdout_offset_, std::string_view(data_.get() + begin_, size)};
  begin_ += size;
  stdout_left_ -= size;
  stdout_offset_ += size;
  return chunk;
}

std::span<char> LinkInput::Room() {
  if (begin_ == end_) begin_ = end_ = 0;
  size_t capacity = std::max(capacity_, wanted_);
  if (filled_ && capacity < kMaxChunk) capacity *= 2;
  if (capacity != capacity_) {
    Resize(capacity);
  } else if (begin_ > 0 && (end_ == capacity_ || begin_ + wanted_ > capacity_)) {
    std::memmove(data_.get(), data_.get() + begin_, available());
    end_ -= begin_;
    begin_ = 0;
  }
  return {data_.get() + end_, capacity_ - end_};
}

void LinkInput::Added(size_t bytes) {
  end_ += bytes;
  filled_ = end_ == capacity_;
}

void LinkInput::Shrink() {
  filled_ = false;
  if (begin_ != end_ || wanted_ != 0 || capacity_ == kIdleCapacity) return;
  begin_ = end_ = 0;
  Resize(kIdleCapacity);
}

void LinkInput::Resize(size_t capacity) {
  auto data = std::make_unique_for_overwrite<char[]>(capacity + kPadding);
  std::memset(data.get() + capacity, 0, kPadding);
  if (available() > 0) std::memcpy(data.get(), data_.get() + begin_, available());
  data_ = std::move(data);
  capacity_ = capacity;
  end_ -= begin_;
  begin_ = 0;
}

}  // namespace acpd::acp
