#include "session/agent_worker.h"

#include <utility>

#include "session/errors.h"
#include "session/names.h"

namespace acpd::session {
namespace {

using std::chrono::steady_clock;

constexpr int64_t kProtocolVersion = 1;
// Of what waits for an agent that does not read; a prompt has up to limits.max_message_in.
constexpr size_t kMaxUnreadLines = 10'000;
constexpr size_t kMaxUnreadBytes = 128u << 20;

}  // namespace

absl::StatusOr<acp::InitializeResult> ReadInitialize(const std::string& result) {
  absl::StatusOr<acp::InitializeResult> read = acp::ReadInitializeResult(result);
  if (!read.ok()) {
    return MakeError("PROTOCOL_MISMATCH", "The agent's answer to initialize cannot be read: " +
                                              std::string(read.status().message()));
  }
  if (read->protocol_version == kProtocolVersion) return read;
  return MakeError("PROTOCOL_MISMATCH",
                   "The agent speaks ACP version " + std::to_string(read->protocol_version) +
                       "; acpd speaks version 1. Install a version of the agent that does.");
}

AgentWorker::AgentWorker(Core& core, const AgentDefinition& agent, AgentListener* listener,
                         std::string session_id, WorkerSlots::SlotPtr slot)
    : core_(core),
      agent_(agent),
      listener_(listener),
      slot_(slot ? std::move(slot) : core.slots.Hold(listener->recorder().project_id())),
      changed_(core.deps.loop) {
  row_.worker_id = NewId(core.now());
  row_.session_id = std::move(session_id);
  row_.socket_path = core.SocketPath(row_.worker_id);
  row_.next_request_id = 1;
  row_.next_stdin_seq = 1;
  started_at_ = core.now();
}

AgentWorker::AgentWorker(Core& core, const AgentDefinition& agent, AgentListener* listener,
                         WorkerRow row, std::vector<OutboxLine> outbox)
    : core_(core),
      agent_(agent),
      listener_(listener),
      row_(std::move(row)),
      adopted_(true),
      recorded_offset_(row_.consumed_offset),
      recorded_discard_(row_.discard),
      started_at_(TimeOfId(row_.worker_id)),
      last_activity_(steady_clock::now()),
      slot_(core.slots.Hold(listener->recorder().project_id())),
      changed_(core.deps.loop) {
  for (OutboxLine& line : outbox) {
    outbox_bytes_ += line.line.size();
    outbox_.emplace_back(line.seq, std::move(line.line));
  }
  if (row_.prompt_id != 0) pending_[row_.prompt_id].prompt = true;
}

AgentWorker::~AgentWorker() {
  if (connection_) connection_->Close();
}

void AgentWorker::RecordRow() {
  WorkerRow row = row_;
  row.consumed_offset = recorded_offset_;
  row.discard = recorded_discard_;
  listener_->recorder().pending().worker = std::move(row);
}

void AgentWorker::RecordNotReady() {
  if (!alive()) return;
  row_.set_up = false;
  RecordRow();
}

void AgentWorker::SendLine(std::string line, Kept kept) {
  const uint64_t seq = row_.next_stdin_seq++;
  Recorder& recorder = listener_->recorder();
  if (kept == Kept::kUntilTaken) {
    recorder.pending().outbox.push_back(OutboxLine{row_.worker_id, seq, line});
  }
  recorder.WhenCommitted(
      [self = shared_from_this(), seq, line = std::move(line)](const CommitResult& result) mutable {
        if (!result.status.ok()) return;
        self->outbox_bytes_ += line.size();
        self->outbox_.emplace_back(seq, std::move(line));
        self->PumpOutbox();
        self->CheckOutbox();
      });
}

void AgentWorker::PumpOutbox() {
  if (line_outstanding_ || outbox_.empty() || !hello_ || ended_) return;
  line_outstanding_ = true;
  listener_->OnWire("out", outbox_.front().second);
  connection_->SendLine(outbox_.front().first, outbox_.front().second);
  outbox_bytes_ -= outbox_.front().second.size();
  outbox_.pop_front();
}

// An agent that asks and asks and reads none of the answers would fill our memory with them.
void AgentWorker::CheckOutbox() {
  if (outbox_.size() <= kMaxUnreadLines && outbox_bytes_ <= kMaxUnreadBytes) return;
  GiveUpOn("STDIN_NOT_READ", "The agent asks for more and more and reads none of the answers (" +
                                 std::to_string(outbox_.size()) + " wait for it); it is stopped.");
}

void AgentWorker::GiveUpOn(std::string_view code, const std::string& text) {
  if (stopping_ || !connection_) return;
  stopping_ = true;
  listener_->OnNotice(Severity::kError, code, text);
  connection_->Stop(milliseconds(0));
  listener_->recorder().Flush();
}

void AgentWorker::OnStdinDone(uint64_t seq) {
  line_outstanding_ = false;
  Record& record = listener_->recorder().pending();
  record.stdin_done_worker = row_.worker_id;
  record.stdin_done = seq;
  // It goes with the next record: a line that is sent once more is dropped by the worker.
  PumpOutbox();
}

awaitable<AgentAnswer> AgentWorker::Call(uint64_t id, std::string line, SteadyTime deadline,
                                         Kept kept) {
  const auto self = shared_from_this();
  pending_[id];
  // A later acpd must not take the answer for that to a request of its own.
  if (row_.set_up) RecordRow();
  SendLine(std::move(line), kept);
  listener_->recorder().Flush();
  while (!pending_[id].answer && !gone_) {
    const bool notified = co_await changed_.Wait(deadline);
    if (!notified) break;
  }
  AgentAnswer answer;
  if (pending_[id].answer) {
    answer = std::move(*pending_[id].answer);
  } else if (gone_) {
    answer.kind = lost_ ? AgentAnswer::Kind::kLost : AgentAnswer::Kind::kExited;
  }
  pending_.erase(id);
  co_return answer;
}

void AgentWorker::SendPrompt(uint64_t id, std::string line) {
  pending_[id].prompt = true;
  SendLine(std::move(line));
}

void AgentWorker::Settle(uint64_t id, AgentAnswer answer) {
  const auto it = pending_.find(id);
  if (it == pending_.end()) {
    core_.Log(Severity::kInfo, "answer to a request that is not open",
              {{"worker", row_.worker_id}, {"id", std::to_string(id)}});
    return;
  }
  if (it->second.prompt) {
    pending_.erase(it);
    last_prompt_answer_ = steady_clock::now();
    listener_->OnPromptAnswer(id, answer);
    return;
  }
  it->second.answer = std::move(answer);
  changed_.Notify();
}

}  // namespace acpd::session
