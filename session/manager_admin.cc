// What operators ask of the whole: counts, draining, the wire log.
#include <algorithm>
#include <utility>

#include "session/errors.h"
#include "session/manager_errors.h"
#include "session/manager_impl.h"

namespace acpd::session {
namespace {

// It is made for looking at a few sessions; each line costs a line of the log.
constexpr size_t kMaxWireLogged = 16;

}  // namespace

ManagerCounts SessionManager::Impl::Counts() const {
  ManagerCounts counts;
  for (const auto& [id, session] : core.sessions) {
    if (session->known()) ++counts.sessions[session->State()];
    if (session->has_worker()) ++counts.workers;
    counts.open_questions += session->OpenQuestionSeqs().size();
  }
  counts.workers += probing.size();
  // An end counts once it is stored.
  for (const auto& [id, turn] : core.turns) {
    ++(turn->row.state == TurnState::kQueued ? counts.queued_turns : counts.running_turns);
  }
  counts.draining = core.draining;
  for (const std::string& id : core.wire_logged) {
    if (FindCurrent(id).ok()) counts.wire_logged.push_back(id);
  }
  return counts;
}

absl::Status SessionManager::Impl::Refusal() const {
  if (core.refusing) return ShuttingDown();
  if (!core.draining) return absl::OkStatus();
  return MakeError("DRAINING",
                   "acpd takes no new turns: it is being drained. Send the Chat again later, or to "
                   "another acpd.");
}

void SessionManager::Impl::SetDraining(bool draining) {
  if (std::exchange(core.draining, draining) == draining) return;
  core.Log(Severity::kInfo, draining ? "draining: no new turns" : "taking new turns again");
  core.room.Notify();
}

awaitable<absl::Status> SessionManager::Impl::WaitDrained(CallPtr call) {
  waiting.push_back(call);
  while (core.draining && !core.turns.empty() && !call->gone && !core.refusing) {
    call->waiting_on = &core.room;
    const bool notified = co_await core.room.Wait(call->deadline);
    call->waiting_on = nullptr;
    if (!notified) break;
  }
  waiting.erase(std::find(waiting.begin(), waiting.end(), call));
  if (core.refusing) co_return ShuttingDown();
  co_return absl::OkStatus();
}

absl::Status SessionManager::Impl::SetWireLog(const std::string& session_id, bool on) {
  std::set<std::string>& logged = core.wire_logged;
  if (const auto found = FindCurrent(session_id); !found.ok()) return found.status();
  if (!on) {
    if (logged.erase(session_id) > 0)
      core.Log(Severity::kInfo, "wire log off", {{"session", session_id}});
    return absl::OkStatus();
  }
  std::erase_if(logged, [this](const std::string& id) { return !FindCurrent(id).ok(); });
  if (logged.contains(session_id)) return absl::OkStatus();
  if (logged.size() >= kMaxWireLogged) {
    return MakeError("QUEUE_FULL",
                     "The traffic of 16 sessions is being logged; switch that of another off first "
                     "(GetServerInfo names them).");
  }
  logged.insert(session_id);
  core.Log(Severity::kWarning, "wire log on: the log shows what this session says",
           {{"session", session_id}});
  return absl::OkStatus();
}

}  // namespace acpd::session
