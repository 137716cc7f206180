// When a session may start a worker: when there is a slot for it among all workers, and when the
// agent has not just failed to start again and again.
#include <algorithm>
#include <tuple>
#include <utility>

#include "session/errors.h"
#include "session/session.h"

namespace acpd::session {
namespace {

using std::chrono::steady_clock;

// How long a worker has to have been quiet before another session takes its slot, and how often the
// one who waits looks for such a worker.
constexpr milliseconds kQuiet{1000};

// Closes as many idle workers as those who wait for a slot need: those whose agent runs a command
// last, and the least recently used first.
void MakeRoom(Core& core) {
  struct Idle {
    bool runs_command;
    SteadyTime since;
    SessionPtr session;
  };
  std::vector<Idle> idle;
  std::vector<std::string> projects, closing;
  const SteadyTime quiet_since = steady_clock::now() - kQuiet;
  for (const auto& [id, session] : core.sessions) {
    if (session->closing() && session->has_worker()) closing.push_back(session->row().project_id);
    const std::optional<SteadyTime> since = session->IdleSince();
    if (since && *since <= quiet_since) idle.push_back({session->RunsCommand(), *since, session});
  }
  std::sort(idle.begin(), idle.end(), [](const Idle& a, const Idle& b) {
    return std::tie(a.runs_command, a.since) < std::tie(b.runs_command, b.since);
  });
  for (const Idle& each : idle) projects.push_back(each.session->row().project_id);
  for (const size_t chosen : core.slots.ToClose(projects, closing)) {
    idle[chosen].session->CloseToMakeRoom();
  }
}

}  // namespace

// The turn stays in the queue meanwhile: QUEUED, and cancelled at once. On return there is a slot,
// or nothing to do any more.
awaitable<void> Session::WaitForSlot() {
  const auto self = shared_from_this();
  slot_ = worker_ ? worker_->slot() : nullptr;
  if (slot_ || queue_.empty() || shut_down_) co_return;
  const SteadyTime began = steady_clock::now();
  slot_ = core_.slots.Ask(row_.project_id, [session = weak_from_this()] {
    if (const SessionPtr waiting = session.lock()) waiting->changed_.Notify();
  });
  bool first = !slot_->held();
  while (!slot_->held() && !queue_.empty() && !shut_down_) {
    const TurnPtr turn = queue_.front();
    const SteadyTime now = steady_clock::now();
    const SteadyTime until = std::max(began, turn->queued_at) + core_.config().limits.worker_wait;
    if (now >= until) {
      GiveUpWaiting(turn);
      continue;
    }
    if (std::exchange(first, false)) {
      Log(Severity::kInfo, "turn waits for a worker's slot", turn->row.turn_id);
      MakeRoom(core_);
    } else if (core_.slots.IsFirst(slot_)) {
      MakeRoom(core_);
    }
    const SteadyTime next_look = std::min(until, now + kQuiet);
    co_await changed_.Wait(next_look);
  }
}

void Session::GiveUpWaiting(const TurnPtr& turn) {
  queue_.pop_front();
  core_.UncountQueued(turn->row);
  turn->evidence.start_failure = ToFailure(MakeError(
      "TOO_MANY_WORKERS",
      "All workers were busy for limits.worker_wait (limits.max_workers, "
      "limits.max_workers_per_project); wait for other turns to end or cancel some, then send the "
      "Chat again."));
  EndTurn(turn);
  recorder_.Flush();
}

// As LaunchFingerprint has it: another config, key or model is another start.
std::string Session::StartKey(const std::optional<ModelProvider>& provider) const {
  const AgentDefinition* definition = core_.config().Find(row_.agent);
  if (!definition) return "";
  const std::string fingerprint =
      LaunchFingerprint(*definition, ContextWith(provider), core_.deps.store->fingerprint_key());
  return StartBackoff::KeyOf(row_.agent, fingerprint, row_.project_id);
}

absl::Status Session::CheckStart(const ChatRequest& request) const {
  if (core_.backoff.empty() || !needs_worker_for(request)) return absl::OkStatus();
  const std::string key =
      StartKey(request.model_provider ? request.model_provider : row_.model_provider);
  return core_.backoff.Check(key, steady_clock::now());
}

// Keeps count of starts that failed; the failure says when another one may be tried. An accepted
// turn tries its start all the same: it owes its caller an end.
void Session::CountStart(Ready& ready) {
  if (ready.status.ok()) {
    const bool started = ready.moved || ready.origin.kind != OriginKind::kLive;
    if (started && !core_.backoff.empty()) core_.backoff.Succeeded(StartKey(row_.model_provider));
    return;
  }
  if (shut_down_ || !StartBackoff::Counts(ready.status)) return;
  const milliseconds pause =
      core_.backoff.Failed(StartKey(row_.model_provider), ready.status, steady_clock::now());
  if (pause.count() > 0) AttachRetryAfter(ready.status, pause);
}

}  // namespace acpd::session
