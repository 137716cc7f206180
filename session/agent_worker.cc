#include "session/agent_worker.h"

#include <charconv>
#include <utility>

#include "acp/text.h"
#include "session/errors.h"
#include "session/names.h"

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

AgentWorker::AgentWorker(Core& core, const AgentDefinition& agent, AgentListener* listener,
                         std::string session_id)
    : core_(core), agent_(agent), listener_(listener), changed_(core.deps.loop) {
  row_.worker_id = NewId(core.now());
  row_.session_id = std::move(session_id);
  row_.socket_path = core.SocketPath(row_.worker_id);
  row_.next_request_id = 1;
  row_.next_stdin_seq = 1;
  started_at_ = core.now();
}

AgentWorker::~AgentWorker() {
  if (connection_) connection_->Close();
}

awaitable<absl::Status> AgentWorker::Start(acp::LaunchSpec spec, SteadyTime deadline) {
  const auto self = shared_from_this();
  listener_->recorder().pending().worker = row_;
  const bool settled = co_await listener_->recorder().Settled(deadline);
  if (!settled) {
    co_return MakeError(
        "STORE_UNAVAILABLE",
        "The store did not take the worker's record in time; free disk space or try again.");
  }
  if (stopping_) co_return Stopped();
  launching_ = true;
  absl::StatusOr<acp::LaunchedWorker> launched =
      co_await core_.deps.launcher->Launch(std::move(spec), row_.socket_path, deadline);
  launching_ = false;
  changed_.Notify();
  if (gone_ && launched.ok()) {
    // It was given up meanwhile.
    co_await core_.deps.launcher->KillLeftovers(row_.worker_id, launched->pid,
                                                launched->start_ticks, deadline);
    co_return Stopped();
  }
  if (!launched.ok()) {
    Finish();
    co_return MakeError(absl::StatusCode::kUnavailable, "AGENT_START_FAILED",
                        std::string(launched.status().message()));
  }
  row_.worker_pid = launched->pid;
  row_.worker_start_ticks = launched->start_ticks;
  acp::AgentConnection::Options options;
  options.max_line = core_.config().limits.max_line;
  options.max_depth = core_.config().limits.max_depth;
  connection_ = std::make_shared<acp::AgentConnection>(core_.deps.loop, *core_.deps.pool,
                                                       std::move(launched->link), this, options);
  connection_->Start(core_.deps.store->generation(), 0);
  while (!hello_ && !ended_ && !stopping_) {
    const bool notified = co_await changed_.Wait(deadline);
    if (!notified) break;
  }
  if (stopping_) {
    co_await Stop(milliseconds(0));
    co_return Stopped();
  }
  if (hello_ && hello_->start_error.empty()) {
    core_.Log(Severity::kInfo, "worker started",
              {{"session", row_.session_id},
               {"worker", row_.worker_id},
               {"worker_pid", std::to_string(row_.worker_pid)},
               {"agent_pid", std::to_string(row_.agent_pid)}});
    co_return absl::OkStatus();
  }
  if (hello_) {
    const absl::Status failure = StartFailure(*hello_);
    co_await Stop(milliseconds(0));
    co_return failure;
  }
  const bool lost = ended_;
  co_await Stop(milliseconds(0));
  if (lost) {
    co_return MakeError(absl::StatusCode::kUnavailable, "AGENT_START_FAILED",
                        "The agent's worker process ended at once: " + ExitDetail());
  }
  co_return MakeError(
      "START_TIMEOUT",
      "The worker process did not report in time (phase spawn); look at the load of this machine.");
}

absl::Status AgentWorker::Stopped() const {
  return MakeError(absl::StatusCode::kUnavailable, "AGENT_START_FAILED",
                   "The agent was stopped while it was being started; send the Chat again.");
}

absl::Status AgentWorker::StartFailure(const acp::Hello& hello) const {
  const std::string command = hello.spec.argv.empty() ? agent_.command : hello.spec.argv[0];
  return MakeError(absl::StatusCode::kFailedPrecondition, "AGENT_START_FAILED",
                   "The agent \"" + agent_.name + "\" cannot be started: " + RepairText(command) +
                       ": " + RepairText(hello.start_error) +
                       ". Install it or correct its `command`.");
}

void AgentWorker::SendLine(std::string line) {
  const uint64_t seq = row_.next_stdin_seq++;
  Recorder& recorder = listener_->recorder();
  recorder.pending().outbox.push_back(OutboxLine{row_.worker_id, seq, line});
  recorder.WhenCommitted(
      [self = shared_from_this(), seq, line = std::move(line)](const CommitResult& result) mutable {
        if (!result.status.ok()) return;
        self->outbox_.emplace_back(seq, std::move(line));
        self->PumpOutbox();
      });
}

void AgentWorker::PumpOutbox() {
  if (line_outstanding_ || outbox_.empty() || !connection_ || ended_) return;
  line_outstanding_ = true;
  connection_->SendLine(outbox_.front().first, outbox_.front().second);
  outbox_.pop_front();
}

void AgentWorker::OnStdinDone(uint64_t seq) {
  line_outstanding_ = false;
  Record& record = listener_->recorder().pending();
  record.stdin_done_worker = row_.worker_id;
  record.stdin_done = seq;
  // It goes with the next record: a line that is sent once more is dropped by the worker.
  PumpOutbox();
}

awaitable<AgentAnswer> AgentWorker::Call(uint64_t id, std::string line, SteadyTime deadline) {
  const auto self = shared_from_this();
  pending_[id];
  SendLine(std::move(line));
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

void AgentWorker::Heard() {
  listener_->recorder().BeginChunk();
  last_activity_ = steady_clock::now();
  noise_in_row_ = 0;
}

void AgentWorker::OnHello(const acp::Hello& hello) {
  hello_ = hello;
  row_.agent_pid = hello.agent_pid;
  row_.agent_start_ticks = hello.agent_start_ticks;
  listener_->recorder().pending().worker = row_;
  listener_->recorder().Flush();
  changed_.Notify();
}

void AgentWorker::OnUpdate(const acp::UpdateView& update) {
  Heard();
  listener_->OnUpdate(update);
}

void AgentWorker::OnRequest(const acp::Message& message) {
  Heard();
  listener_->OnAgentRequest(message);
}

void AgentWorker::OnNotification(const acp::Message& message) {
  Heard();
  listener_->OnAgentNotification(message);
}

void AgentWorker::OnAnswer(const acp::Message& message) {
  Heard();
  const std::optional<uint64_t> id = OwnId(message.id);
  if (!id) {
    core_.Log(Severity::kWarning, "answer without an id of ours",
              {{"worker", row_.worker_id}, {"error", RepairText(CutText(message.error, 512))}});
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
  if (++noise_in_row_ < kMaxNoiseInRow || stopping_) return;
  stopping_ = true;
  listener_->OnNotice(Severity::kError, "STDOUT_NOISE",
                      "The agent wrote 1,000 lines in a row that are no JSON-RPC; it is stopped. "
                      "Check its command.");
  connection_->Stop(milliseconds(0));
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

void AgentWorker::OnConsumed(uint64_t offset) {
  row_.consumed_offset = offset;
  Recorder& recorder = listener_->recorder();
  if (!listener_->HoldsOutput()) RecordConsumed();
  recorder.EndChunk();
  recorder.Flush();
}

void AgentWorker::RecordConsumed() {
  const uint64_t offset = row_.consumed_offset;
  Recorder& recorder = listener_->recorder();
  recorder.pending().link_worker = row_.worker_id;
  recorder.pending().link_offset = offset;
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
  while (!core_.HasRoom() || listener_->held_bytes() > kMaxHeld) {
    const SteadyTime deadline = steady_clock::now() + std::chrono::seconds(1);
    co_await core_.room.Wait(deadline);
  }
}

}  // namespace acpd::session
