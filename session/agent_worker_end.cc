// How a worker ends: by itself, by Stop, or lost. Whatever happens, OnGone comes once and nothing
// of the tree is left.
#include <cstdio>
#include <utility>

#include "acp/text.h"
#include "session/agent_worker.h"

namespace acpd::session {
namespace {

using std::chrono::steady_clock;

constexpr size_t kDetailTail = 2u << 10;
// What a worker gets beyond the three steps of its stop ladder before what is left is killed by its
// mark.
constexpr milliseconds kStopMargin{3000};
constexpr milliseconds kLeftoversTime{5000};

}  // namespace

awaitable<void> RemoveWorkerFiles(Core& core, std::string socket_path) {
  std::function<bool()> remove = [path = std::move(socket_path)] {
    ::remove((path + ".spool").c_str());
    return ::remove(path.c_str()) == 0;
  };
  co_await OnPool<bool>(*core.deps.pool, std::move(remove));
}

void AgentWorker::OnExit(const acp::WorkerExit& exit) {
  const auto self = shared_from_this();
  exit_ = exit;
  stderr_tail_ = exit.stderr_tail;
  ended_ = true;
  // The acknowledgement follows the commit of what the exit causes: until then the worker keeps it.
  listener_->recorder().WhenCommitted([self](const CommitResult& result) {
    // Not when the store was closed first; a refused record does not hold the worker.
    if (absl::IsUnavailable(result.status) || !self->connection_) return;
    self->connection_->AcknowledgeExit();
  });
  Finish();
}

void AgentWorker::OnLost(const std::string& why) {
  ended_ = true;
  lost_ = true;
  lost_why_ = why;
  changed_.Notify();
  Spawn(core_.deps.loop, CleanUpLost(why), [self = shared_from_this()](const std::string& what) {
    self->core_.Log(Severity::kError, "killing what a lost worker left failed: " + what);
    self->Finish();
  });
}

awaitable<void> AgentWorker::CleanUpLost(std::string why) {
  const auto self = shared_from_this();
  core_.Log(Severity::kWarning, "worker lost: " + why,
            {{"session", row_.session_id}, {"worker", row_.worker_id}});
  const SteadyTime deadline = steady_clock::now() + kLeftoversTime;
  const bool clean = co_await core_.deps.launcher->KillLeftovers(row_.worker_id, row_.worker_pid,
                                                                 row_.worker_start_ticks, deadline);
  co_await RemoveWorkerFiles(core_, row_.socket_path);
  if (!clean) {
    core_.Log(Severity::kError, "processes of a lost worker could not be killed in time",
              {{"worker", row_.worker_id}});
  }
  Finish();
}

// What the pending record has of this worker would come back behind its removal.
void AgentWorker::ForgetRows(Record& record) const {
  record.removed_worker = row_.worker_id;
  if (record.worker && record.worker->worker_id == row_.worker_id) record.worker.reset();
  std::erase_if(record.outbox,
                [this](const OutboxLine& line) { return line.worker_id == row_.worker_id; });
}

void AgentWorker::Finish() {
  if (gone_) return;
  ended_ = true;
  gone_ = true;
  Recorder& recorder = listener_->recorder();
  recorder.EndChunk();
  ReportNoise();
  services_.End();
  ForgetRows(recorder.pending());
  outbox_.clear();
  outbox_bytes_ = 0;
  slot_.reset();
  listener_->OnGone();
  recorder.Flush();
  changed_.Notify();
}

awaitable<void> AgentWorker::Stop(milliseconds grace) {
  const auto self = shared_from_this();
  stopping_ = true;
  changed_.Notify();
  const SteadyTime deadline = steady_clock::now() + 3 * grace + kStopMargin;
  while (launching_) {
    // What comes of the launch is stopped like any other.
    const bool notified = co_await changed_.Wait(deadline);
    if (!notified) break;
  }
  if (!launching_ && !launched()) {
    Finish();
    co_return;
  }
  if (!ended_ && connection_) connection_->Stop(grace);
  while (!gone_ && connection_) {
    const bool notified = co_await changed_.Wait(deadline);
    if (!notified) break;
  }
  if (gone_) co_return;
  // The worker does not answer any more: take its tree down ourselves.
  if (connection_) connection_->Close();
  lost_ = true;
  lost_why_ = "the worker did not report the end of its agent";
  co_await CleanUpLost(lost_why_);
}

void AgentWorker::SetListener(AgentListener* listener, const std::string& session_id) {
  listener_ = listener;
  row_.session_id = session_id;
  services_.MoveTo(session_id);
}

std::string AgentWorker::ExitDetail() const {
  std::string detail;
  if (exit_) {
    detail = (exit_->signaled ? "killed by signal " : "exit code ") + std::to_string(exit_->value);
  } else {
    detail = lost_why_.empty() ? "it ended" : lost_why_;
  }
  std::string tail = RepairText(CutTextFront(stderr_tail_, kDetailTail));
  while (tail.ends_with('\n') || tail.ends_with('\r')) tail.pop_back();
  if (!tail.empty()) detail += "; last words on stderr: " + tail;
  return detail;
}

WorkerExitedEvent AgentWorker::ExitedEvent() const {
  WorkerExitedEvent event;
  if (exit_) {
    event.signaled = exit_->signaled;
    event.value = exit_->value;
  } else {
    event.signaled = true;
    event.value = 9;
  }
  event.stderr_tail = RepairText(CutTextFront(stderr_tail_, kStderrTail));
  event.expected = stopping_;
  return event;
}

}  // namespace acpd::session
