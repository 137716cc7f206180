#include "acp/link_frames.h"

namespace acpd::acp {
namespace {

class Writer {
 public:
  Writer() = default;
  // Begins a frame: its length is filled in by Frame().
  explicit Writer(FrameType type) : out_(4, '\0') { out_.push_back(static_cast<char>(type)); }

  template <typename Int>
  Writer& Number(Int value) {
    auto bits = static_cast<uint64_t>(value);
    for (size_t i = 0; i < sizeof(Int); ++i) out_.push_back(static_cast<char>(bits >> (8 * i)));
    return *this;
  }
  Writer& Raw(std::string_view bytes) {
    out_.append(bytes);
    return *this;
  }
  Writer& Text(std::string_view text) {
    return Number(static_cast<uint32_t>(text.size())).Raw(text);
  }
  void Reserve(size_t bytes) { out_.reserve(out_.size() + bytes); }

  std::string Bytes() && { return std::move(out_); }
  std::string Frame() && {
    uint64_t length = out_.size() - 4;
    for (size_t i = 0; i < 4; ++i) out_[i] = static_cast<char>(length >> (8 * i));
    return std::move(out_);
  }

 private:
  std::string out_;
};

// Takes values off the front. After the first that is not there everything reads as zero and ok()
// is false.
class Reader {
 public:
  explicit Reader(std::string_view in) : in_(in) {}

  template <typename Int>
  Int Number() {
    if (in_.size() < sizeof(Int)) {
      Fail();
      return 0;
    }
    uint64_t bits = 0;
    for (size_t i = 0; i < sizeof(Int); ++i) {
      bits |= static_cast<uint64_t>(static_cast<unsigned char>(in_[i])) << (8 * i);
    }
    in_.remove_prefix(sizeof(Int));
    return static_cast<Int>(bits);
  }
  bool Bool() {
    auto value = Number<uint8_t>();
    if (value > 1) Fail();
    return value == 1;
  }
  std::string Text() {
    auto size = Number<uint32_t>();
    if (size > in_.size()) {
      Fail();
      return {};
    }
    std::string text(in_.substr(0, size));
    in_.remove_prefix(size);
    return text;
  }
  bool ok() const { return ok_; }
  bool Finished() const { return ok_ && in_.empty(); }
  std::string_view rest() const { return in_; }

 private:
  void Fail() {
    ok_ = false;
    in_ = {};
  }
  std::string_view in_;
  bool ok_ = true;
};

void WriteSpec(const LaunchSpec& spec, Writer& out) {
  out.Text(spec.worker_id).Number(static_cast<uint32_t>(spec.argv.size()));
  for (const std::string& arg : spec.argv) out.Text(arg);
  out.Number(static_cast<uint32_t>(spec.env.size()));
  for (const auto& [name, value] : spec.env) out.Text(name).Text(value);
  out.Text(spec.cwd).Number(spec.orphan_timeout_ms);
}

LaunchSpec ReadSpec(Reader& in) {
  LaunchSpec spec;
  spec.worker_id = in.Text();
  for (auto count = in.Number<uint32_t>(); count > 0 && in.ok(); --count) {
    spec.argv.push_back(in.Text());
  }
  for (auto count = in.Number<uint32_t>(); count > 0 && in.ok(); --count) {
    std::string name = in.Text();
    std::string value = in.Text();
    spec.env.emplace_back(std::move(name), std::move(value));
  }
  spec.cwd = in.Text();
  spec.orphan_timeout_ms = in.Number<uint32_t>();
  return spec;
}

}  // namespace

std::string EncodeHello(const Hello& hello) {
  Writer out(FrameType::kHello);
  out.Number(hello.link_version).Number(hello.agent_pid).Number(hello.agent_start_ticks);
  out.Text(hello.start_error).Number(hello.start_errno);
  out.Number(hello.first_kept_offset).Number(hello.last_stdin_done);
  out.Number(static_cast<uint8_t>(hello.agent_exited));
  WriteSpec(hello.spec, out);
  return std::move(out).Frame();
}

std::string EncodeExit(const WorkerExit& exit) {
  Writer out(FrameType::kExit);
  out.Number(static_cast<uint8_t>(exit.signaled)).Number(exit.value).Number(exit.end_offset);
  out.Text(exit.stderr_tail);
  return std::move(out).Frame();
}

std::string EncodeAttach(const Attach& attach) {
  Writer out(FrameType::kAttach);
  out.Number(attach.generation).Number(attach.from_offset).Number(attach.window);
  return std::move(out).Frame();
}

std::string EncodeSpec(const LaunchSpec& spec) {
  Writer out;
  WriteSpec(spec, out);
  return std::move(out).Bytes();
}

std::string EncodeNumbered(FrameType type, uint64_t number, std::string_view bytes) {
  Writer out(type);
  out.Reserve(8 + bytes.size());
  return std::move(out.Number(number).Raw(bytes)).Frame();
}

std::string EncodeStderr(std::string_view bytes) {
  return std::move(Writer(FrameType::kStderr).Raw(bytes)).Frame();
}

std::string EncodeStop(uint32_t grace_ms) {
  return std::move(Writer(FrameType::kStop).Number(grace_ms)).Frame();
}

std::string EncodeAckExit() { return Writer(FrameType::kAckExit).Frame(); }

std::optional<Hello> DecodeHello(std::string_view payload) {
  Reader in(payload);
  Hello hello;
  hello.link_version = in.Number<uint32_t>();
  // Another version is laid out in a way we cannot know: its number is all there is to say.
  if (in.ok() && hello.link_version != kLinkVersion) return hello;
  hello.agent_pid = in.Number<int64_t>();
  hello.agent_start_ticks = in.Number<uint64_t>();
  hello.start_error = in.Text();
  hello.start_errno = in.Number<int32_t>();
  hello.first_kept_offset = in.Number<uint64_t>();
  hello.last_stdin_done = in.Number<uint64_t>();
  hello.agent_exited = in.Bool();
  hello.spec = ReadSpec(in);
  if (!in.Finished()) return std::nullopt;
  return hello;
}

std::optional<WorkerExit> DecodeExit(std::string_view payload) {
  Reader in(payload);
  WorkerExit exit;
  exit.signaled = in.Bool();
  exit.value = in.Number<int32_t>();
  exit.end_offset = in.Number<uint64_t>();
  exit.stderr_tail = in.Text();
  if (!in.Finished()) return std::nullopt;
  return exit;
}

std::optional<Attach> DecodeAttach(std::string_view payload) {
  Reader in(payload);
  Attach attach;
  attach.generation = in.Number<uint64_t>();
  attach.from_offset = in.Number<uint64_t>();
  attach.window = in.Number<uint64_t>();
  if (!in.Finished()) return std::nullopt;
  return attach;
}

std::optional<LaunchSpec> DecodeSpec(std::string_view payload) {
  Reader in(payload);
  LaunchSpec spec = ReadSpec(in);
  if (!in.Finished()) return std::nullopt;
  return spec;
}

std::optional<uint64_t> DecodeNumber(std::string_view& payload) {
  Reader in(payload);
  auto number = in.Number<uint64_t>();
  if (!in.ok()) return std::nullopt;
  payload = in.rest();
  return number;
}

std::optional<uint32_t> DecodeStop(std::string_view payload) {
  Reader in(payload);
  auto grace = in.Number<uint32_t>();
  if (!in.Finished()) return std::nullopt;
  return grace;
}

}  // namespace acpd::acp
