#include <algorithm>

#include "acp/worker/worker.h"

namespace acpd::worker {
namespace {

// Connections that have not sent their ATTACH; the oldest makes room.
constexpr size_t kMaxWaiting = 8;

}  // namespace

// False when nobody was waiting.
bool Worker::Accept() {
  UniqueFd fd = listener_.Accept();
  if (!fd.open()) return false;
  if (waiting_.size() == kMaxWaiting) waiting_.erase(waiting_.begin());
  waiting_.push_back(std::make_unique<Connection>(std::move(fd)));
  return true;
}

// Those of waiting_ that were polled: `count` from `first_slot` on.
void Worker::ReadWaiting(size_t first_slot, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (Ready(first_slot + i) && !TryAttach(waiting_[i])) waiting_[i] = nullptr;
  }
  std::erase(waiting_, nullptr);
}

// False when the connection is to be dropped. It is moved from when it is served.
bool Worker::TryAttach(std::unique_ptr<Connection>& connection) {
  bool open = connection->in.Receive(connection->fd.get());
  auto frame = connection->in.Next();
  if (!frame) return open && !connection->in.broken();
  if (frame->type != acp::FrameType::kAttach) return false;
  auto attach = acp::DecodeAttach(frame->payload);
  if (!attach || attach->generation < generation_) return false;
  Serve(std::move(connection), *attach);
  if (!HandleFrames() || !open) DropServed();
  return true;
}

void Worker::Serve(std::unique_ptr<Connection> connection, const acp::Attach& attach) {
  served_ = std::move(connection);
  generation_ = attach.generation;
  orphaned_ = false;
  window_ = std::max<uint64_t>(attach.window, 1);
  // acpd has committed everything before its offset.
  uint64_t from = std::clamp(attach.from_offset, stdout_.first(), stdout_.end());
  stdout_.Forget(from);
  served_->out.StartAt(from);
  served_->out.Queue(acp::EncodeHello(MakeHello()));
  terminals_.Attached(served_->out);
}

void Worker::ReadServed() {
  bool open = served_->in.Receive(served_->fd.get());
  if (!HandleFrames() || !open) DropServed();
}

bool Worker::HandleFrames() {
  while (auto frame = served_->in.Next()) {
    if (!HandleFrame(*frame)) return false;
  }
  return !served_->in.broken();
}

// False when the frame is malformed or out of place.
bool Worker::HandleFrame(const Frame& frame) {
  std::string_view payload = frame.payload;
  switch (frame.type) {
    case acp::FrameType::kStdin: {
      auto seq = acp::DecodeNumber(payload);
      if (seq) stdin_.Add(*seq, payload);
      return seq.has_value();
    }
    case acp::FrameType::kAck:
      return HandleAck(payload);
    case acp::FrameType::kAckExit:
      if (served_->exit_sent) LeaveForGood();
      return true;
    case acp::FrameType::kStop: {
      auto grace_ms = acp::DecodeStop(payload);
      if (grace_ms) tree_.Stop(*grace_ms, NowMs());
      return grace_ms.has_value();
    }
    case acp::FrameType::kAttach:
      return false;
    default:
      return terminals_.Handle(frame, tree_.stage() == AgentTree::Stage::kRunning, served_->out,
                               NowMs());
  }
}

bool Worker::HandleAck(std::string_view payload) {
  auto offset = acp::DecodeNumber(payload);
  if (!offset || !payload.empty() || *offset > served_->out.sent()) return false;
  if (*offset > stdout_.first()) stdout_.Forget(*offset);
  return true;
}

void Worker::SendServed() {
  if (!served_) return;
  terminals_.Send(served_->out, NowMs());
  if (AllTold()) {
    served_->out.Queue(acp::EncodeExit(MakeExit()));
    served_->exit_sent = true;
  }
  if (!served_->out.Flush(served_->fd.get(), stdout_)) {
    DropServed();
  } else if (AllTold()) {
    SendServed();
  }
}

// Only EXIT is left to be said.
bool Worker::AllTold() const {
  return ended_ && !served_->exit_sent && served_->out.sent() == stdout_.end() && terminals_.Told();
}

void Worker::DropServed() {
  served_ = nullptr;
  unattached_since_ = NowMs();
}

}  // namespace acpd::worker
