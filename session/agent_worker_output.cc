// What the agent says: handed to the owner in wire order, answers matched, noise counted.
#include <charconv>
#include <utility>

#include "acp/text.h"
#include "session/agent_worker.h"

namespace acpd::session {
namespace {

using std::chrono::steady_clock;

constexpr size_t kNoiseSample = 512;
constexpr size_t kMaxHeld = 1u << 20;
constexpr uint64_t kMaxNoiseInRow = 1000;

std::optional<uint64_t> OwnId(std::string_view token) {
  uint64_t id = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), id);
  if (error != std::errc() || end != token.data() + token.size()) return std::nullopt;
  return id;
}

}  // namespace

void AgentWorker::Heard() {
  listener_->recorder().BeginChunk();
  last_activity_ = steady_clock::now();
  last_heard_ = reading_.At(last_activity_);
  noise_in_row_ = 0;
}

void AgentWorker::OnUpdate(const acp::UpdateView& update) {
  Heard();
  listener_->OnUpdate(update);
}

void AgentWorker::OnRequest(const acp::Message& message) {
  Heard();
  if (!services_.Take(message)) listener_->OnAgentRequest(message);
}

void AgentWorker::OnNotification(const acp::Message& message) {
  Heard();
  if (message.method == "$/cancel_request" &&
      services_.Cancel(acp::ReadCancelledRequestId(message.params))) {
    return;
  }
  listener_->OnAgentNotification(message);
}

void AgentWorker::OnAnswer(const acp::Message& message) {
  Heard();
  const std::optional<uint64_t> id = OwnId(message.id);
  if (!id) {
    const std::string error = listener_->HideSecrets(message.error);
    core_.Log(Severity::kWarning, "answer without an id of ours",
              {{"worker", row_.worker_id}, {"error", RepairText(CutText(error, 512))}});
    return;
  }
  AgentAnswer answer;
  if (message.kind == acp::Message::Kind::kResult) {
    answer.kind = AgentAnswer::Kind::kResult;
    answer.result = std::string(message.result);
  } else {
    answer.kind = AgentAnswer::Kind::kError;
    answer.error = acp::ReadError(message.error);
  }
  Settle(*id, std::move(answer));
}

void AgentWorker::OnNoise(std::string_view line) {
  listener_->recorder().BeginChunk();
  if (noise_ == 0) noise_sample_ = RepairText(line.substr(0, kNoiseSample));
  ++noise_;
  if (++noise_in_row_ < kMaxNoiseInRow) return;
  GiveUpOn("STDOUT_NOISE",
           "The agent wrote 1,000 lines in a row that are no JSON-RPC; it is stopped. Check its "
           "command.");
}

void AgentWorker::ReportNoise() {
  if (noise_ == 0) return;
  listener_->OnNotice(
      Severity::kWarning, "STDOUT_NOISE",
      "Skipped " + std::to_string(noise_) +
          " line(s) on the agent's stdout that are no JSON-RPC; the first: " + noise_sample_);
  noise_ = 0;
}

void AgentWorker::OnOversize(const acp::OversizeLine& line) {
  Heard();
  listener_->OnNotice(
      Severity::kWarning, "LINE_TOO_LONG",
      "Dropped a line of " + std::to_string(line.size) + " bytes from the agent" +
          (line.method.empty() ? std::string() : " (" + RepairText(line.method) + ")") +
          "; the limit is `limits.max_line`.");
  if (!line.method.empty() && !line.id.empty()) {
    SendLine(acp::ErrorLine(line.id, acp::kInvalidRequest,
                            "the request is longer than the client accepts"));
    return;
  }
  const std::optional<uint64_t> id = line.method.empty() ? OwnId(line.id) : std::nullopt;
  if (!id) return;
  AgentAnswer answer;
  answer.kind = AgentAnswer::Kind::kError;
  answer.too_large = true;
  answer.error.message = "the agent's answer was longer than limits.max_line";
  Settle(*id, std::move(answer));
}

void AgentWorker::OnConsumed(uint64_t offset, std::string_view discard) {
  row_.consumed_offset = offset;
  row_.discard = discard;
  Recorder& recorder = listener_->recorder();
  if (!listener_->HoldsOutput()) RecordConsumed();
  recorder.EndChunk();
  recorder.Flush();
}

void AgentWorker::RecordConsumed() {
  const uint64_t offset = recorded_offset_ = row_.consumed_offset;
  recorded_discard_ = row_.discard;
  Recorder& recorder = listener_->recorder();
  recorder.pending().link_worker = row_.worker_id;
  recorder.pending().link_offset = offset;
  recorder.pending().link_discard = row_.discard;
  recorder.WhenCommitted([self = shared_from_this(), offset](const CommitResult& result) {
    if (result.status.ok() && self->connection_) self->connection_->Acknowledge(offset);
  });
}

void AgentWorker::OnStderr(std::string_view bytes) {
  stderr_tail_.append(bytes);
  if (stderr_tail_.size() > 2 * kStderrTail)
    stderr_tail_.erase(0, stderr_tail_.size() - kStderrTail);
}

awaitable<void> AgentWorker::WaitForRoom() {
  const auto self = shared_from_this();
  if (!hello_) co_return;  // HELLO needs no room, and who waits for it not in vain
  while (!core_.HasRoom() || listener_->held_bytes() > kMaxHeld) {
    const SteadyTime deadline = steady_clock::now() + std::chrono::seconds(1);
    co_await core_.room.Wait(deadline);
  }
}

void AgentWorker::OnReading(bool reading) {
  const SteadyTime now = steady_clock::now();
  reading ? reading_.Go(now) : reading_.Stop(now);
}

}  // namespace acpd::session
