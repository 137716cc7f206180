#include "acp/link_frames.h"

#include "acp/frame_writer.h"

namespace acpd::acp {
namespace {

void WriteSpec(const LaunchSpec& spec, ByteWriter& out) {
  out.Text(spec.worker_id);
  WriteTexts(spec.argv, out);
  WritePairs(spec.env, out);
  out.Text(spec.cwd).Number(spec.orphan_timeout_ms);
}

LaunchSpec ReadSpec(ByteReader& in) {
  LaunchSpec spec;
  spec.worker_id = in.Text();
  spec.argv = ReadTexts(in);
  spec.env = ReadPairs(in);
  spec.cwd = in.Text();
  spec.orphan_timeout_ms = in.Number<uint32_t>();
  return spec;
}

}  // namespace

std::string EncodeHello(const Hello& hello) {
  FrameWriter out(FrameType::kHello);
  out.Number(hello.link_version).Number(hello.agent_pid).Number(hello.agent_start_ticks);
  out.Text(hello.start_error).Number(hello.start_errno);
  out.Number(hello.first_kept_offset).Number(hello.last_stdin_done);
  out.Number(static_cast<uint8_t>(hello.agent_exited));
  WriteSpec(hello.spec, out);
  return std::move(out).Frame();
}

std::string EncodeExit(const WorkerExit& exit) {
  FrameWriter out(FrameType::kExit);
  out.Number(static_cast<uint8_t>(exit.signaled)).Number(exit.value).Number(exit.end_offset);
  out.Text(exit.stderr_tail);
  return std::move(out).Frame();
}

std::string EncodeAttach(const Attach& attach) {
  FrameWriter out(FrameType::kAttach);
  out.Number(attach.generation).Number(attach.from_offset).Number(attach.window);
  return std::move(out).Frame();
}

std::string EncodeSpec(const LaunchSpec& spec) {
  ByteWriter out;
  WriteSpec(spec, out);
  return std::move(out).Bytes();
}

std::string EncodeNumbered(FrameType type, uint64_t number, std::string_view bytes) {
  FrameWriter out(type);
  out.Reserve(8 + bytes.size());
  out.Number(number).Raw(bytes);
  return std::move(out).Frame();
}

std::string EncodeStderr(std::string_view bytes) {
  FrameWriter out(FrameType::kStderr);
  out.Raw(bytes);
  return std::move(out).Frame();
}

std::string EncodeStop(uint32_t grace_ms) {
  FrameWriter out(FrameType::kStop);
  out.Number(grace_ms);
  return std::move(out).Frame();
}

std::string EncodeAckExit() { return FrameWriter(FrameType::kAckExit).Frame(); }

std::optional<Hello> DecodeHello(std::string_view payload) {
  ByteReader in(payload);
  Hello hello;
  hello.link_version = in.Number<uint32_t>();
  // Another version is laid out in a way we cannot know: its number is all there is to say.
  if (in.ok() && (hello.link_version < kOldestLinkVersion || hello.link_version > kLinkVersion)) {
    return hello;
  }
  hello.agent_pid = in.Number<int64_t>();
  hello.agent_start_ticks = in.Number<uint64_t>();
  hello.start_error = in.Text();
  hello.start_errno = in.Number<int32_t>();
  hello.first_kept_offset = in.Number<uint64_t>();
  hello.last_stdin_done = in.Number<uint64_t>();
  hello.agent_exited = in.Bool();
  hello.spec = ReadSpec(in);
  // What a newer worker of the same version adds behind it is not for us.
  if (!in.ok()) return std::nullopt;
  return hello;
}

std::optional<WorkerExit> DecodeExit(std::string_view payload) {
  ByteReader in(payload);
  WorkerExit exit;
  exit.signaled = in.Bool();
  exit.value = in.Number<int32_t>();
  exit.end_offset = in.Number<uint64_t>();
  exit.stderr_tail = in.Text();
  if (!in.Finished()) return std::nullopt;
  return exit;
}

std::optional<Attach> DecodeAttach(std::string_view payload) {
  ByteReader in(payload);
  Attach attach;
  attach.generation = in.Number<uint64_t>();
  attach.from_offset = in.Number<uint64_t>();
  attach.window = in.Number<uint64_t>();
  if (!in.Finished()) return std::nullopt;
  return attach;
}

std::optional<LaunchSpec> DecodeSpec(std::string_view payload) {
  ByteReader in(payload);
  LaunchSpec spec = ReadSpec(in);
  if (!in.Finished()) return std::nullopt;
  return spec;
}

std::optional<uint64_t> DecodeNumber(std::string_view& payload) {
  ByteReader in(payload);
  auto number = in.Number<uint64_t>();
  if (!in.ok()) return std::nullopt;
  payload = in.rest();
  return number;
}

std::optional<uint32_t> DecodeStop(std::string_view payload) {
  ByteReader in(payload);
  auto grace = in.Number<uint32_t>();
  if (!in.Finished()) return std::nullopt;
  return grace;
}

}  // namespace acpd::acp
