// How a worker comes to us: launched by this acpd, or adopted from an earlier one (LINK.md, rules 6
// and 7).
#include <utility>

#include "acp/text.h"
#include "session/agent_worker.h"
#include "session/errors.h"

namespace acpd::session {
namespace {

absl::Status Stopped() {
  return MakeError(absl::StatusCode::kUnavailable, "AGENT_START_FAILED",
                   "The agent was stopped while it was being started; send the Chat again.");
}

}  // namespace

std::string MisfitOf(const WorkerRow& row, const acp::Hello& hello) {
  if (hello.link_version < acp::kOldestLinkVersion || hello.link_version > acp::kLinkVersion) {
    return "it speaks version " + std::to_string(hello.link_version) +
           " of the worker link, which this acpd does not";
  }
  if (hello.spec.worker_id != row.worker_id) return "it is another worker";
  if (hello.last_stdin_done >= row.next_stdin_seq) {
    return "its agent has had lines that the store does not know of; was an older copy of the "
           "store restored?";
  }
  if (hello.first_kept_offset > row.consumed_offset) {
    return "it has forgotten output that the store has not taken; was an older copy of the store "
           "restored?";
  }
  return "";
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
  if (launched.ok()) {
    row_.worker_pid = launched->pid;
    row_.worker_start_ticks = launched->start_ticks;
  }
  if (gone_ && launched.ok()) {
    co_await CleanUpLost("it was given up while it started");
    co_return Stopped();
  }
  if (!launched.ok()) {
    Finish();
    co_return MakeError(absl::StatusCode::kUnavailable, "AGENT_START_FAILED",
                        std::string(launched.status().message()));
  }
  Connect(std::move(launched->link));
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

void AgentWorker::Connect(std::unique_ptr<acp::WorkerLink> link) {
  acp::AgentConnection::Options options;
  options.max_line = core_.config().limits.max_line;
  options.max_depth = core_.config().limits.max_depth;
  options.long_lines = core_.long_lines;
  connection_ = std::make_shared<acp::AgentConnection>(core_.deps.loop, *core_.deps.pool,
                                                       std::move(link), this, options);
  connection_->Start(core_.deps.store->generation(), row_.consumed_offset, row_.discard);
}

awaitable<void> AgentWorker::Attach(milliseconds patience) {
  const auto self = shared_from_this();
  launching_ = true;
  const SteadyTime connect_by = std::chrono::steady_clock::now() + patience;
  absl::StatusOr<std::unique_ptr<acp::WorkerLink>> link = co_await core_.deps.launcher->Attach(
      row_.socket_path, row_.worker_id, row_.worker_pid, row_.worker_start_ticks, connect_by);
  launching_ = false;
  if (link.ok() && !gone_ && !let_go_) Connect(*std::move(link));
  changed_.Notify();
  if (!connection_) {
    if (!gone_ && !let_go_) GiveUpAdopting(std::string(link.status().message()));
    co_return;
  }
  // From here on it is the worker's time: the pool may have been busy before.
  const SteadyTime answer_by = std::chrono::steady_clock::now() + patience;
  while (!hello_ && !ended_ && !let_go_) {
    const bool notified = co_await changed_.Wait(answer_by);
    if (!notified) break;
  }
  if (hello_ || ended_ || let_go_) co_return;
  GiveUpAdopting("its worker did not answer in time");
}

void AgentWorker::GiveUpAdopting(const std::string& why) {
  listener_->OnNotice(Severity::kError, "WORKER_NOT_ADOPTED",
                      "The agent that ran before acpd was restarted is ended: " + why + ".");
  if (connection_) connection_->Close();
  OnLost(why);
}

void AgentWorker::LetGo() {
  let_go_ = true;
  listener_->recorder().Flush();
  if (connection_) connection_->Close();
  changed_.Notify();
}

absl::Status AgentWorker::StartFailure(const acp::Hello& hello) const {
  const std::string command = hello.spec.argv.empty() ? agent_.command : hello.spec.argv[0];
  return MakeError(absl::StatusCode::kFailedPrecondition, "AGENT_START_FAILED",
                   "The agent \"" + agent_.name + "\" cannot be started: " + RepairText(command) +
                       ": " + RepairText(hello.start_error) +
                       ". Install it or correct its `command`.");
}

void AgentWorker::OnHello(const acp::Hello& hello) {
  const std::string misfit = adopted_ ? MisfitOf(row_, hello) : "";
  if (!misfit.empty()) return GiveUpAdopting(misfit);
  hello_ = hello;
  row_.agent_pid = hello.agent_pid;
  row_.agent_start_ticks = hello.agent_start_ticks;
  if (adopted_) {
    GoOn(hello);
  } else {
    RecordRow();
    listener_->recorder().Flush();
  }
  changed_.Notify();
}

// What the agent has had is not sent once more.
void AgentWorker::GoOn(const acp::Hello& hello) {
  while (!outbox_.empty() && outbox_.front().first <= hello.last_stdin_done) {
    outbox_bytes_ -= outbox_.front().second.size();
    outbox_.pop_front();
  }
  core_.Log(Severity::kInfo, "worker adopted",
            {{"session", row_.session_id},
             {"worker", row_.worker_id},
             {"worker_pid", std::to_string(row_.worker_pid)},
             {"agent_pid", std::to_string(row_.agent_pid)},
             {"agent_exited", hello.agent_exited ? "yes" : "no"}});
  listener_->OnAdopted(hello.spec);
  OnStdinDone(hello.last_stdin_done);
  services_.Resume();
  listener_->recorder().Flush();
}

}  // namespace acpd::session
