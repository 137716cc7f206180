#include "acp/terminal_frames.h"

#include "acp/frame_writer.h"

namespace acpd::acp {

std::string EncodeTerminalOpen(const TerminalOpen& open) {
  FrameWriter out(FrameType::kTerminalOpen);
  out.Number(open.number).Number(open.output_limit);
  WriteTexts(open.spec.argv, out);
  WritePairs(open.spec.env, out);
  out.Text(open.spec.cwd);
  return std::move(out).Frame();
}

std::string EncodeTwoNumbers(FrameType type, uint64_t first, uint64_t second) {
  FrameWriter out(type);
  out.Number(first).Number(second);
  return std::move(out).Frame();
}

std::string EncodeTerminalState(const TerminalState& state) {
  FrameWriter out(FrameType::kTerminalState);
  out.Number(state.number).Number(static_cast<uint8_t>(state.known)).Number(state.pid);
  out.Text(state.start_error).Number(state.start_errno);
  out.Number(state.first_kept).Number(state.end);
  out.Number(static_cast<uint8_t>(state.exited)).Number(static_cast<uint8_t>(state.signaled));
  out.Number(state.value);
  return std::move(out).Frame();
}

std::string EncodeTerminalOutput(const TerminalOutput& output) {
  FrameWriter out(FrameType::kTerminalOutput);
  out.Reserve(16 + output.bytes.size());
  out.Number(output.number).Number(output.offset).Raw(output.bytes);
  return std::move(out).Frame();
}

std::string EncodeTerminalSnapshot(const TerminalSnapshot& snapshot) {
  FrameWriter out(FrameType::kTerminalSnapshot);
  out.Reserve(64 + snapshot.bytes.size());
  out.Number(snapshot.number).Number(snapshot.tag).Number(static_cast<uint8_t>(snapshot.known));
  out.Number(snapshot.first_kept).Number(snapshot.end);
  out.Number(static_cast<uint8_t>(snapshot.exited)).Number(static_cast<uint8_t>(snapshot.signaled));
  out.Number(snapshot.value).Raw(snapshot.bytes);
  return std::move(out).Frame();
}

std::optional<TerminalOpen> DecodeTerminalOpen(std::string_view payload) {
  ByteReader in(payload);
  TerminalOpen open;
  open.number = in.Number<uint64_t>();
  open.output_limit = in.Number<uint64_t>();
  open.spec.argv = ReadTexts(in);
  open.spec.env = ReadPairs(in);
  open.spec.cwd = in.Text();
  if (!in.Finished()) return std::nullopt;
  return open;
}

std::optional<std::pair<uint64_t, uint64_t>> DecodeTwoNumbers(std::string_view payload) {
  ByteReader in(payload);
  const auto first = in.Number<uint64_t>();
  const auto second = in.Number<uint64_t>();
  if (!in.Finished()) return std::nullopt;
  return std::pair(first, second);
}

std::optional<TerminalState> DecodeTerminalState(std::string_view payload) {
  ByteReader in(payload);
  TerminalState state;
  state.number = in.Number<uint64_t>();
  state.known = in.Bool();
  state.pid = in.Number<int64_t>();
  state.start_error = in.Text();
  state.start_errno = in.Number<int32_t>();
  state.first_kept = in.Number<uint64_t>();
  state.end = in.Number<uint64_t>();
  state.exited = in.Bool();
  state.signaled = in.Bool();
  state.value = in.Number<int32_t>();
  if (!in.Finished()) return std::nullopt;
  return state;
}

std::optional<TerminalOutput> DecodeTerminalOutput(std::string_view payload) {
  ByteReader in(payload);
  TerminalOutput output;
  output.number = in.Number<uint64_t>();
  output.offset = in.Number<uint64_t>();
  if (!in.ok()) return std::nullopt;
  output.bytes = in.rest();
  return output;
}

std::optional<TerminalSnapshot> DecodeTerminalSnapshot(std::string_view payload) {
  ByteReader in(payload);
  TerminalSnapshot snapshot;
  snapshot.number = in.Number<uint64_t>();
  snapshot.tag = in.Number<uint64_t>();
  snapshot.known = in.Bool();
  snapshot.first_kept = in.Number<uint64_t>();
  snapshot.end = in.Number<uint64_t>();
  snapshot.exited = in.Bool();
  snapshot.signaled = in.Bool();
  snapshot.value = in.Number<int32_t>();
  if (!in.ok()) return std::nullopt;
  snapshot.bytes = in.rest();
  // Its bytes are what lies between its offsets.
  if (snapshot.end - snapshot.first_kept != snapshot.bytes.size()) return std::nullopt;
  return snapshot;
}

}  // namespace acpd::acp
