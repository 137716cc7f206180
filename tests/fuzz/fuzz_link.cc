// The link between acpd and a worker, read by both ends: frames in any pieces, and their payloads.
// Input: one byte chooses the pieces, the rest is what a socket gives.

#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "acp/link_frames.h"
#include "acp/link_input.h"
#include "acp/worker/frame_reader.h"
#include "tests/fuzz/fuzz.h"

namespace acpd::fuzz {
namespace {

using acp::FrameType;

constexpr size_t kHeader = 5;

std::string FrameOf(FrameType type, std::string_view payload) {
  const uint32_t length = static_cast<uint32_t>(payload.size() + 1);
  std::string frame;
  for (int i = 0; i < 4; ++i) frame.push_back(static_cast<char>(length >> (8 * i)));
  frame.push_back(static_cast<char>(type));
  return frame.append(payload);
}

template <typename Decoded, typename Encode>
void RequireSame(const std::optional<Decoded>& decoded, Encode encode, std::string_view payload) {
  if (!decoded) return;
  Require(encode(*decoded).substr(kHeader) == payload, "what was decoded is encoded the same way");
}

// Each payload through each decoder, whatever its type says.
void CheckPayload(std::string_view payload) {
  const Block block(payload);
  RequireSame(acp::DecodeExit(block.view()), acp::EncodeExit, payload);
  RequireSame(acp::DecodeAttach(block.view()), acp::EncodeAttach, payload);
  RequireSame(acp::DecodeStop(block.view()), acp::EncodeStop, payload);
  RequireSame(acp::DecodeTerminalOpen(block.view()), acp::EncodeTerminalOpen, payload);
  RequireSame(acp::DecodeTerminalState(block.view()), acp::EncodeTerminalState, payload);
  RequireSame(acp::DecodeTerminalOutput(block.view()), acp::EncodeTerminalOutput, payload);
  RequireSame(acp::DecodeTerminalSnapshot(block.view()), acp::EncodeTerminalSnapshot, payload);
  if (const auto numbers = acp::DecodeTwoNumbers(block.view())) {
    Require(acp::EncodeTwoNumbers(FrameType::kTerminalRead, numbers->first, numbers->second)
                    .substr(kHeader) == payload,
            "two numbers come back as they were");
  }
  // A newer worker may have added something behind what we know.
  const std::optional<acp::Hello> hello = acp::DecodeHello(block.view());
  if (hello && hello->link_version == acp::kLinkVersion) {
    Require(payload.starts_with(acp::EncodeHello(*hello).substr(kHeader)),
            "what was decoded is encoded the same way");
  }
  if (const auto spec = acp::DecodeSpec(block.view())) {
    Require(acp::EncodeSpec(*spec) == payload, "a spec comes back as it was");
  }
  std::string_view rest = block.view();
  if (const auto number = acp::DecodeNumber(rest)) {
    Require(acp::EncodeNumbered(FrameType::kAck, *number, rest).substr(kHeader) == payload,
            "a number comes back as it was");
  }
}

// Frames of a whole text, cut in the plainest way.
struct Frames {
  std::vector<std::string> frames;  // whole ones, with their header
  bool broken = false;              // a length that cannot be came next
};

Frames PlainFrames(std::string_view bytes) {
  Frames found;
  while (bytes.size() >= 4) {
    uint64_t length = 0;
    for (size_t i = 0; i < 4; ++i) length |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
    found.broken = length == 0 || length > acp::kMaxFrame;
    if (found.broken || bytes.size() < 4 + length) break;
    found.frames.emplace_back(bytes.substr(0, 4 + length));
    bytes.remove_prefix(4 + length);
  }
  return found;
}

// The worker's end, which reads from a socket.
Frames WorkerFrames(std::string_view bytes, uint8_t seed) {
  int ends[2];
  Require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "a socket can be made");
  worker::FrameReader reader;
  Frames found;
  for (Pieces pieces(bytes, seed); !pieces.done() && !reader.broken();) {
    const std::string_view piece = pieces.Next();
    if (piece.empty()) continue;
    Require(write(ends[0], piece.data(), piece.size()) == static_cast<ssize_t>(piece.size()),
            "the socket takes a piece");
    Require(reader.Receive(ends[1]), "the socket is open");
    while (const auto frame = reader.Next()) {
      found.frames.push_back(FrameOf(frame->type, frame->payload));
    }
  }
  found.broken = reader.broken();
  close(ends[0]);
  close(ends[1]);
  return found;
}

// acpd's end: events as text, neighbouring stdout joined, "malformed" at the end when it gave up.
class Events {
 public:
  void Add(const acp::LinkEvent& event) {
    if (const auto* chunk = std::get_if<acp::StdoutChunk>(&event)) {
      Require(!chunk->bytes.empty() && chunk->bytes.size() <= acp::LinkInput::kMaxChunk,
              "a chunk has bytes, and not too many");
      padding_.assign(chunk->bytes.data() + chunk->bytes.size(), acp::LinkInput::kPadding);
      AddStdout(*chunk);
      return;
    }
    next_offset_.reset();
    std::visit([this](const auto& other) { all.push_back(Text(other)); }, event);
  }

  std::vector<std::string> all;

 private:
  void AddStdout(const acp::StdoutChunk& chunk) {
    if (next_offset_ != chunk.offset) {
      all.push_back("stdout " + std::to_string(chunk.offset) + " ");
    }
    all.back().append(chunk.bytes);
    next_offset_ = chunk.offset + chunk.bytes.size();
  }
  static std::string Text(const acp::StdoutChunk&) { return ""; }
  static std::string Text(const acp::Hello& hello) { return acp::EncodeHello(hello); }
  static std::string Text(const acp::StderrChunk& chunk) {
    return "stderr " + std::string(chunk.bytes);
  }
  static std::string Text(const acp::StdinDone& done) { return "done " + std::to_string(done.seq); }
  static std::string Text(const acp::WorkerExit& exit) { return acp::EncodeExit(exit); }
  static std::string Text(const acp::TerminalState& state) {
    return acp::EncodeTerminalState(state);
  }
  static std::string Text(const acp::TerminalOutput& output) {
    return acp::EncodeTerminalOutput(output);
  }
  static std::string Text(const acp::TerminalSnapshot& snapshot) {
    return acp::EncodeTerminalSnapshot(snapshot);
  }

  std::optional<uint64_t> next_offset_;
  std::string padding_;
};

// False when the input gave up.
bool TakeAll(acp::LinkInput& input, Events* events) {
  for (;;) {
    const auto event = input.Next();
    if (!event.ok()) {
      Require(absl::IsUnavailable(event.status()), "malformed frames are UNAVAILABLE");
      events->all.push_back("malformed");
      return false;
    }
    if (!event->has_value()) return true;
    events->Add(**event);
  }
}

std::vector<std::string> InputEvents(Pieces pieces, bool shrink) {
  acp::LinkInput input;
  Events events;
  while (!pieces.done()) {
    for (std::string_view piece = pieces.Next(); !piece.empty();) {
      if (shrink) input.Shrink();
      const auto room = input.Room();
      Require(!room.empty(), "there is always room");
      const size_t size = std::min(room.size(), piece.size());
      std::memcpy(room.data(), piece.data(), size);
      input.Added(size);
      piece.remove_prefix(size);
      if (!TakeAll(input, &events)) return std::move(events.all);
    }
  }
  return std::move(events.all);
}

// How many of the frames acpd's end takes for what they say they are.
size_t CountWhole(const std::vector<std::string>& frames, FrameType type) {
  size_t count = 0;
  for (const std::string& frame : frames) count += static_cast<FrameType>(frame[4]) == type;
  return count;
}

void CheckBothEnds(std::string_view bytes, uint8_t seed) {
  const Frames plain = PlainFrames(bytes);
  const Frames worker = WorkerFrames(bytes, seed);
  Require(worker.frames == plain.frames && worker.broken == plain.broken,
          "the worker's frames are the socket's");
  const auto events = InputEvents(Pieces(bytes, seed), seed % 2 == 1);
  Require(events == InputEvents(Pieces(bytes, seed + 1), false), "the pieces do not matter");
  size_t stderrs = 0;
  for (const std::string& event : events) stderrs += event.starts_with("stderr ");
  const size_t sent = CountWhole(plain.frames, FrameType::kStderr);
  const bool malformed = !events.empty() && events.back() == "malformed";
  Require(malformed ? stderrs <= sent : stderrs == sent, "no frame is lost");
  for (const std::string& frame : plain.frames) {
    CheckPayload(std::string_view(frame).substr(kHeader));
  }
}

}  // namespace
}  // namespace acpd::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace acpd::fuzz;
  Input input(data, size);
  const uint8_t seed = input.Byte();
  CheckBothEnds(input.Rest(), seed);
  CheckPayload(input.Rest());
  return 0;
}
