// Start: what an earlier acpd left goes on, or is ended where it cannot. Shutdown: everything is
// let go of or ends, within its time.
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <map>
#include <utility>

#include "session/errors.h"
#include "session/manager_impl.h"

namespace acpd::session {
namespace {

using std::chrono::steady_clock;

constexpr milliseconds kOldLeftoversTime{10'000};

// Runs coroutines beside each other and waits for all of them.
struct Crew {
  explicit Crew(asio::any_io_executor executor) : loop(executor), done(std::move(executor)) {}
  asio::any_io_executor loop;
  size_t under_way = 0;
  Signal done;
};

awaitable<void> Member(std::shared_ptr<Crew> crew, awaitable<void> work) {
  co_await std::move(work);
  --crew->under_way;
  crew->done.Notify();
}

void Join(Core& core, const std::shared_ptr<Crew>& crew, awaitable<void> work,
          std::function<void()> on_error = nullptr) {
  ++crew->under_way;
  Spawn(crew->loop, Member(crew, std::move(work)),
        [&core, crew, on_error](const std::string& what) {
          core.Log(Severity::kError, "a task of start or shutdown failed: " + what);
          if (on_error) on_error();
          --crew->under_way;
          crew->done.Notify();
        });
}

awaitable<void> WaitForCrew(std::shared_ptr<Crew> crew, SteadyTime deadline) {
  while (crew->under_way > 0) {
    const bool notified = co_await crew->done.Wait(deadline);
    if (!notified) break;
  }
}

}  // namespace

// What is not gone on with: a worker whose set-up was not over, or of a session that is no more.
awaitable<void> SessionManager::Impl::EndLeftover(WorkerRow worker) {
  const SteadyTime deadline = steady_clock::now() + kOldLeftoversTime;
  const bool clean = co_await core.deps.launcher->KillLeftovers(
      worker.worker_id, worker.worker_pid, worker.worker_start_ticks, deadline);
  core.Log(clean ? Severity::kInfo : Severity::kError,
           clean ? "ended a worker that an earlier acpd left"
                 : "a worker of an earlier acpd could not be ended in time",
           {{"worker", worker.worker_id}, {"session", worker.session_id}});
  co_await RemoveWorkerFiles(core, worker.socket_path);
  janitor->pending().removed_worker = worker.worker_id;
  janitor->Flush();
  const auto it = core.sessions.find(worker.session_id);
  if (it != core.sessions.end() && !it->second->has_worker()) it->second->GoOnAfresh();
}

awaitable<void> SessionManager::Impl::MakeSocketFolder() {
  std::function<bool()> make = [path = core.SocketFolder()] {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    return !error && ::chmod(path.c_str(), 0700) == 0;
  };
  const bool made = co_await OnPool<bool>(*core.deps.pool, std::move(make));
  if (made) co_return;
  core.Log(Severity::kError,
           "the folder of the workers' sockets cannot be made; look at runtime_dir",
           {{"folder", core.SocketFolder()}});
}

bool SessionManager::Impl::IsAdoptable(const WorkerRow& worker) const {
  const auto it = core.sessions.find(worker.session_id);
  return worker.set_up && worker.worker_pid != 0 && it != core.sessions.end() &&
         it->second->row().replaced_by.empty() && !it->second->has_worker();
}

// Before anything waits: calls come already, and what is known must not look unknown. Returns the
// workers that are to be ended.
std::vector<WorkerRow> SessionManager::Impl::Restore(LoadedState& state) {
  for (size_t i = 0; i < state.sessions.size(); ++i) {
    Session::Make(core, std::move(state.sessions[i]), state.newest_seqs[i]);
  }
  core.deleted.insert(state.deleted_sessions.begin(), state.deleted_sessions.end());
  for (const TurnRow& row : state.unfinished) RestoreTurn(row);
  std::map<std::string, std::vector<OutboxLine>> outboxes;
  for (OutboxLine& line : state.outbox) outboxes[line.worker_id].push_back(std::move(line));
  std::map<std::string, StoredServices> services;
  for (AgentRequestRow& row : state.agent_requests) {
    services[row.worker_id].requests.push_back(std::move(row));
  }
  for (TerminalRow& row : state.terminals) {
    services[row.worker_id].terminals.push_back(std::move(row));
  }
  std::vector<WorkerRow> leftovers;
  for (WorkerRow& worker : state.workers) {
    if (!IsAdoptable(worker)) {
      leftovers.push_back(std::move(worker));
      continue;
    }
    std::vector<OutboxLine> outbox = std::move(outboxes[worker.worker_id]);
    StoredServices served = std::move(services[worker.worker_id]);
    const SessionPtr session = core.sessions[worker.session_id];
    session->RestoreWorker(std::move(worker), std::move(outbox), std::move(served));
    session->HoldBack();
  }
  for (const WorkerRow& worker : leftovers) {
    const auto it = core.sessions.find(worker.session_id);
    if (it != core.sessions.end()) it->second->HoldBack();
  }
  for (QuestionRow& question : state.open_questions) {
    const auto it = core.sessions.find(question.session_id);
    if (it != core.sessions.end()) it->second->RestoreQuestion(std::move(question));
  }
  return leftovers;
}

awaitable<void> SessionManager::Impl::Start(LoadedState state) {
  std::vector<std::string> sockets;
  for (const WorkerRow& worker : state.workers) sockets.push_back(worker.socket_path);
  janitor = std::make_unique<Recorder>(core, "leftovers", "", 0);
  std::vector<WorkerRow> leftovers = Restore(state);
  co_await MakeSocketFolder();
  core.started = true;
  const auto crew = std::make_shared<Crew>(core.deps.loop);
  for (WorkerRow& worker : leftovers) Join(core, crew, EndLeftover(std::move(worker)));
  std::vector<SessionPtr> sessions;
  for (const auto& [id, session] : core.sessions) sessions.push_back(session);
  for (const SessionPtr& session : sessions) {
    if (session->has_worker()) {
      Join(core, crew, session->TakeOver(), [session] { session->GiveUpTakeOver(); });
    } else if (!session->held_back()) {
      session->GoOnAfresh();
    }
  }
  const SteadyTime deadline = steady_clock::now() + kOldLeftoversTime;
  Join(core, crew,
       core.deps.launcher->EndStrays(core.SocketFolder(), std::move(sockets),
                                     core.deps.store->generation(), deadline));
  co_await WaitForCrew(crew, SteadyTime::max());
  core.settled = true;
  core.room.Notify();
}

void SessionManager::Impl::RestoreTurn(const TurnRow& row) {
  const auto it = core.sessions.find(row.session_id);
  if (it == core.sessions.end()) return;
  const auto turn = std::make_shared<Turn>(core.deps.loop);
  turn->row = row;
  turn->stored = true;
  if (!core.deps.codec->DecodeRequest(row.stored_request, &turn->request)) {
    core.Log(Severity::kError, "a stored request cannot be read", {{"turn", row.turn_id}});
  }
  turn->request.stored_bytes = row.stored_request;
  core.turns[row.turn_id] = turn;
  if (!row.request_id.empty()) core.requests[{row.project_id, row.request_id}] = turn;
  core.deps.log->Locate(
      row.session_id, row.queued_seq, [turn, loop = core.deps.loop](uint64_t position) {
        asio::post(loop,
                   [turn, position] { turn->after_position = position == 0 ? 0 : position - 1; });
      });
  if (turn->running()) {
    it->second->RestoreRunning(turn);
    return;
  }
  turn->row.state = TurnState::kQueued;
  core.CountQueued(row);
  it->second->Restore(turn);
}

awaitable<void> SessionManager::Impl::Shutdown(milliseconds timeout, bool keep_workers) {
  core.refusing = true;
  const SteadyTime deadline = steady_clock::now() + timeout;
  // A stop right after a start: what a dead acpd left is not left a second time.
  while (!core.settled && !keep_workers) {
    const bool notified = co_await core.room.Wait(deadline);
    if (!notified) break;
  }
  std::vector<SessionPtr> sessions;
  for (const auto& [id, session] : core.sessions) sessions.push_back(session);
  const auto crew = std::make_shared<Crew>(core.deps.loop);
  for (const SessionPtr& session : sessions)
    Join(core, crew, session->ShutDown(deadline, keep_workers));
  for (const std::shared_ptr<Probe>& probe : probing) Join(core, crew, EndProbe(probe));
  co_await WaitForCrew(crew, deadline + milliseconds(1000));
  while (!probing.empty()) {
    const bool notified = co_await core.room.Wait(deadline);
    if (!notified) break;
  }
}

}  // namespace acpd::session
