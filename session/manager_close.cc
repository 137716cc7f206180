// CloseSession and DeleteSession: what they begin goes on, however long their callers wait.
#include <algorithm>
#include <utility>

#include "session/errors.h"
#include "session/manager_errors.h"
#include "session/manager_impl.h"

namespace acpd::session {
namespace {

using std::chrono::steady_clock;

// How often a set-up that is under way is looked at, for a Chat that came meanwhile.
constexpr milliseconds kRestCheck{500};

absl::Status Busy(const Session& session, const std::string& what_to_do) {
  const absl::Status busy =
      MakeError("SESSION_BUSY", "The session has a turn under way; " + what_to_do);
  return OfSession(busy, session.row().session_id);
}

struct Errand {
  explicit Errand(asio::any_io_executor executor) : ended(std::move(executor)) {}
  std::optional<absl::Status> status;
  Signal ended;
};

awaitable<void> RunErrand(std::shared_ptr<Errand> errand, awaitable<absl::Status> work) {
  errand->status = co_await std::move(work);
  errand->ended.Notify();
}

}  // namespace

awaitable<std::optional<absl::Status>> SessionManager::Impl::Outlast(CallPtr call,
                                                                     awaitable<absl::Status> work) {
  const auto errand = std::make_shared<Errand>(core.deps.loop);
  Spawn(core.deps.loop, RunErrand(errand, std::move(work)),
        [this, errand](const std::string& what) {
          core.Log(Severity::kError, "the work of a call failed: " + what);
          errand->status = MakeError("INTERNAL", "a defect of acpd ended this call: " + what);
          errand->ended.Notify();
        });
  waiting.push_back(call);
  while (!errand->status && !call->gone && !core.refusing) {
    call->waiting_on = &errand->ended;
    const bool notified = co_await errand->ended.Wait(call->deadline);
    call->waiting_on = nullptr;
    if (!notified) break;
  }
  waiting.erase(std::find(waiting.begin(), waiting.end(), call));
  co_return errand->status;
}

// Cancels what is queued and what runs, and waits for the barrier of each.
awaitable<void> SessionManager::Impl::EndAllTurns(CallPtr call, SessionPtr session) {
  std::vector<TurnPtr> turns = session->UnfinishedTurns();
  for (size_t i = turns.size(); i-- > 0;)
    session->Cancel(turns[i], "close", "the session is being closed", std::nullopt, call->trace);
  session->recorder().Flush();
  for (const TurnPtr& turn : turns) {
    while (!turn->ended()) {
      const SteadyTime never = SteadyTime::max();
      co_await turn->changed.Wait(never);
    }
  }
  // A set-up that is under way comes to its end first.
  while (!session->resting() && session->UnfinishedTurns().empty()) {
    const SteadyTime next_look = steady_clock::now() + kRestCheck;
    co_await session->WaitForRest(next_look);
  }
}

awaitable<absl::Status> SessionManager::Impl::CloseWork(CallPtr call, SessionPtr session) {
  co_await EndAllTurns(call, session);
  // Where a Chat came meanwhile the session is wanted again.
  if (session->has_worker() && session->UnfinishedTurns().empty()) {
    acp::TraceContext trace = call->trace;
    co_await session->CloseForCaller(std::move(trace));
  }
  co_return absl::OkStatus();
}

awaitable<absl::StatusOr<SessionView>> SessionManager::Impl::CloseSession(CallPtr call,
                                                                          std::string session_id,
                                                                          bool force) {
  const absl::StatusOr<SessionPtr> found = FindCurrent(session_id);
  if (!found.ok()) co_return found.status();
  const SessionPtr session = *found;
  if (!session->UnfinishedTurns().empty() && !force) {
    co_return Busy(*session, "cancel it first or close with force.");
  }
  awaitable<absl::Status> work = CloseWork(call, session);
  const std::optional<absl::Status> outcome = co_await Outlast(call, std::move(work));
  if (outcome && !outcome->ok()) co_return OfSession(*outcome, session_id);
  if (!outcome && core.refusing) co_return OfSession(ShuttingDown(), session_id);
  absl::StatusOr<SessionView> view = co_await SettledView(call, session);
  co_return view;
}

awaitable<absl::Status> SessionManager::Impl::DeleteWork(CallPtr call, SessionPtr session) {
  const std::string session_id = session->row().session_id;
  co_await EndAllTurns(call, session);
  if (!session->UnfinishedTurns().empty())
    co_return Busy(*session, "it came meanwhile; try again.");
  acp::TraceContext trace = call->trace;
  co_await session->DeleteAgentSide(trace);
  if (session->has_worker()) co_await session->CloseForCaller(std::move(trace));
  if (core.deleted.count(session_id)) co_return absl::OkStatus();
  session->Delete(call->principal);
  // From here on nobody finds it: a Chat that came while its end is committed would run in it.
  Unlist(session);
  core.deleted.insert(session_id);
  const bool settled = co_await session->recorder().Settled(CommitDeadline(call));
  if (!settled) {
    co_return MakeError(absl::StatusCode::kUnavailable, "STORE_UNAVAILABLE",
                        "The store did not commit the deletion in time; try again.");
  }
  co_return absl::OkStatus();
}

awaitable<absl::Status> SessionManager::Impl::DeleteSession(CallPtr call, std::string session_id,
                                                            bool force) {
  const absl::StatusOr<SessionPtr> found = FindSession(session_id);
  if (!found.ok()) co_return found.status();
  const SessionPtr session = *found;
  if (!session->UnfinishedTurns().empty() && !force) {
    co_return Busy(*session, "cancel it first or delete with force.");
  }
  awaitable<absl::Status> work = DeleteWork(call, session);
  const std::optional<absl::Status> outcome = co_await Outlast(call, std::move(work));
  if (outcome) co_return OfSession(*outcome, session_id);
  if (core.refusing) co_return OfSession(ShuttingDown(), session_id);
  const absl::Status under_way = MakeError(
      "SESSION_BUSY",
      "The session's agent is still being stopped; the deletion goes on by itself, and a second "
      "DeleteSession waits for it.");
  co_return OfSession(under_way, session_id);
}

}  // namespace acpd::session
