// How a session lets go of its worker: when idle, when asked to, when the daemon stops; and how it
// is forgotten.
#include <algorithm>
#include <utility>

#include "session/errors.h"
#include "session/session.h"

namespace acpd::session {
namespace {

using std::chrono::steady_clock;

// Some agents write their record of a turn after they have answered it.
constexpr milliseconds kWriteTime{1000};
constexpr milliseconds kDefaultStopGrace{5000};
// An idle worker that may not be closed yet (an open question, a command) is looked at again after
// this.
constexpr milliseconds kIdleRecheck{1000};
// So many times idle_timeout has a worker whose agent runs a command (a dev server): a day with the
// default, whatever the command writes. It goes at last, since it may have been forgotten.
constexpr int kCommandPatience = 96;

}  // namespace

// A worker that is in the way of a turn is closed because of that turn.
awaitable<void> Session::CloseWorker(CloseReason reason, bool kill) {
  const bool is_for_turn = setting_up_ && reason == CloseReason::kUnspecified;
  return EndWorker(reason, kill, is_for_turn ? trace_ : acp::TraceContext());
}

awaitable<void> Session::CloseForCaller(acp::TraceContext trace) {
  return EndWorker(CloseReason::kCaller, false, std::move(trace));
}

awaitable<void> Session::EndWorker(CloseReason reason, bool kill, acp::TraceContext trace) {
  const auto self = shared_from_this();
  const std::shared_ptr<AgentWorker> worker = worker_;
  if (!worker) co_return;
  if (closing_) {
    while (closing_) {
      const SteadyTime never = SteadyTime::max();
      co_await changed_.Wait(never);
    }
    co_return;
  }
  closing_ = true;
  idle_timer_.cancel();
  worker->RecordNotReady();
  const AgentDefinition* definition = agent();
  const milliseconds grace = kill         ? milliseconds(0)
                             : definition ? definition->stop_grace
                                          : kDefaultStopGrace;
  asio::steady_timer pause(core_.deps.loop, worker->last_prompt_answer() + kWriteTime);
  boost::system::error_code ignored;
  if (worker->alive() && !kill)
    co_await pause.async_wait(asio::redirect_error(use_awaitable, ignored));
  if (worker->alive() && !kill && worker->initialize.close && !row_.agent_session_id.empty()) {
    const uint64_t id = worker->NextId();
    const SteadyTime deadline = steady_clock::now() + grace;
    std::string line = acp::CloseSessionLine(id, row_.agent_session_id, trace);
    co_await worker->Call(id, std::move(line), deadline);
  }
  co_await worker->Stop(grace);
  closing_ = false;
  if (worker_ == worker) worker_ = nullptr;
  if (reason != CloseReason::kUnspecified) {
    SessionClosedEvent event;
    event.reason = reason;
    recorder_.Append("", event);
    RecordRow();
  }
  recorder_.Flush();
  changed_.Notify();
}

void Session::ArmIdleTimer() {
  const AgentDefinition* definition = agent();
  if (!worker_ || !worker_->alive() || !definition || shut_down_) return;
  if (running_ || !queue_.empty() || definition->idle_timeout.count() == 0) return;
  const milliseconds least = std::min(definition->idle_timeout, kIdleRecheck);
  idle_timer_.expires_at(
      std::max(worker_->last_activity() + definition->idle_timeout, steady_clock::now() + least));
  idle_timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (!error) self->OnIdleTimer();
  });
}

void Session::OnIdleTimer() {
  if (running_ || closing_ || shut_down_ || !queue_.empty() || !worker_ || !worker_->alive())
    return;
  const AgentDefinition* definition = agent();
  const int times = RunsCommand() ? kCommandPatience : 1;
  const bool quiet = definition && steady_clock::now() - worker_->last_activity() >=
                                       times * definition->idle_timeout;
  if (!quiet || !questions_.empty()) {
    ArmIdleTimer();
    return;
  }
  SpawnClose(CloseReason::kIdle);
}

void Session::SpawnClose(CloseReason reason) {
  Spawn(core_.deps.loop, CloseInTurn(reason), [self = shared_from_this()](const std::string& what) {
    self->core_.Log(Severity::kError, "closing an idle session failed: " + what,
                    {{"session", self->row_.session_id}});
    self->closing_ = false;
    self->changed_.Notify();
  });
}

awaitable<void> Session::CloseInTurn(CloseReason reason) {
  const auto self = shared_from_this();
  co_await CloseWorker(reason);
}

std::optional<SteadyTime> Session::IdleSince() const {
  const bool busy = running_ || closing_ || held_back_ || shut_down_ || !queue_.empty();
  if (busy || !questions_.empty() || !worker_ || !worker_->alive()) return std::nullopt;
  return worker_->last_activity();
}

bool Session::RunsCommand() const { return worker_ && worker_->services().terminals().running(); }

awaitable<void> Session::ShutDown(SteadyTime deadline, bool keep_worker) {
  const auto self = shared_from_this();
  shut_down_ = true;
  idle_timer_.cancel();
  changed_.Notify();  // a wait for a slot
  const TurnPtr turn = current_;
  if (turn && turn->row.state == TurnState::kStarting) {
    // Nothing of it reached the agent: it runs after the next start.
    SetTurnState(turn, TurnState::kQueued);
    recorder_.Flush();
  }
  if (keep_worker && worker_ && worker_->row().set_up) {
    worker_->LetGo();
    co_return;
  }
  // What an earlier acpd left is still being ended: the next one sees to the turn that ran in it.
  if (keep_worker && held_back_) co_return;
  if (turn && turn->running()) {
    const milliseconds left =
        std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now());
    Cancel(turn, "shutdown", "acpd is stopping", std::max(left / 2, milliseconds(0)));
    recorder_.Flush();
    while (!turn->ended()) {
      const bool notified = co_await turn->changed.Wait(deadline);
      if (!notified) break;
    }
  }
  if (worker_) co_await CloseWorker(CloseReason::kShutdown);
  if (turn && turn->running()) {
    EndTurn(turn);
    recorder_.Flush();
  }
}

awaitable<void> Session::WaitForRest(SteadyTime deadline) {
  const auto self = shared_from_this();
  while (running_ || closing_) {
    const bool notified = co_await changed_.Wait(deadline);
    if (!notified) break;
  }
}

void Session::EndLost(const TurnPtr& turn) {
  turn->evidence.worker_lost = true;
  turn->forced = true;  // a cancel that waits for this end: the tree was killed
  EndTurn(turn);
  if (current_ == turn) current_ = nullptr;
}

awaitable<void> Session::DeleteAgentSide(acp::TraceContext trace) {
  const std::shared_ptr<AgentWorker> worker = worker_;
  if (!worker || !worker->alive() || !worker->initialize.remove || row_.agent_session_id.empty())
    co_return;
  const AgentDefinition* definition = agent();
  const uint64_t id = worker->NextId();
  const SteadyTime deadline =
      steady_clock::now() + (definition ? definition->stop_grace : kDefaultStopGrace);
  std::string line = acp::DeleteSessionLine(id, row_.agent_session_id, trace);
  co_await worker->Call(id, std::move(line), deadline);
}

void Session::Delete(const std::string& principal) {
  for (const TurnPtr& turn : UnfinishedTurns())
    Cancel(turn, "close", "the session was deleted", std::nullopt);
  row_.deleted = true;
  // What only the agent was for; it may hold secrets.
  row_.setup = SetupSettings();
  row_.model_provider.reset();
  row_.transcript.clear();
  recorder_.pending().forget_session = true;
  recorder_.pending().full_sync = true;
  SessionDeletedEvent event;
  event.principal = principal;
  recorder_.Append("", event);
  RecordRow();
  recorder_.Flush();
}

}  // namespace acpd::session
