#ifndef ACPD_SESSION_CORE_H_
#define ACPD_SESSION_CORE_H_

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "acp/long_line_gate.h"
#include "acp/signal.h"
#include "acp/types.h"
#include "session/recorder.h"
#include "session/session_manager.h"
#include "session/start_backoff.h"
#include "session/worker_slots.h"

namespace acpd::session {

class Session;
struct Turn;
using SessionPtr = std::shared_ptr<Session>;
using TurnPtr = std::shared_ptr<Turn>;

// What is known of an agent since one of its processes answered `initialize`.
struct AgentFacts {
  acp::InitializeResult initialize;
  bool auth_required = false;
};

// What all sessions share: the daemon's parts and the indices over sessions and turns. Loop thread
// only. Owned by the manager.
struct Core {
  explicit Core(SessionManager::Dependencies dependencies)
      : deps(std::move(dependencies)),
        room(deps.loop),
        long_lines(std::make_shared<acp::LongLineGate>(deps.loop)) {}

  SessionManager::Dependencies deps;
  std::unordered_map<std::string, SessionPtr> sessions;
  std::set<std::string> deleted;  // tombstones
  std::map<std::pair<std::string, std::string>, std::string>
      by_agent_session;                            // (agent, its id) -> session_id
  std::unordered_map<std::string, TurnPtr> turns;  // until their end is committed
  std::map<std::pair<std::string, std::string>, TurnPtr>
      requests;                    // (project, request_id); null while being accepted
  std::set<std::string> projects;  // named once
  std::map<std::string, AgentFacts> facts;
  size_t queued_turns = 0;
  size_t queued_bytes = 0;
  bool started = false;   // workers may be started
  bool settled = false;   // what an earlier acpd left is taken over or has ended
  bool refusing = false;  // shutting down
  bool draining = false;  // an operator wants no new turns
  // Sessions whose traffic goes to the log (SetWireLog). Not stored.
  std::set<std::string> wire_logged;
  Signal room;  // notified at each commit
  WorkerSlots slots{SlotLimits(config().limits)};
  StartBackoff backoff{{config().limits.start_backoff, config().limits.start_backoff_max}};
  std::shared_ptr<acp::LongLineGate> long_lines;  // of all agents

  // A turn stands in a queue from now on, or no longer; limits count them.
  void CountQueued(const TurnRow& turn) {
    ++queued_turns;
    queued_bytes += turn.stored_request.size();
  }
  void UncountQueued(const TurnRow& turn) {
    --queued_turns;
    queued_bytes -= turn.stored_request.size();
  }

  const Config& config() const { return *deps.config; }
  WallTime now() const { return deps.now(); }
  void Log(Severity severity, std::string_view text,
           std::vector<std::pair<std::string, std::string>> fields = {}) const {
    if (deps.log_line) deps.log_line(severity, text, std::move(fields));
  }
  bool HasRoom() const { return deps.store->uncommitted_bytes() < kUncommittedSoft; }
  static WorkerSlots::Limits SlotLimits(const Limits& limits) {
    const size_t half = std::max<size_t>(limits.max_workers / 2, 1);
    return {limits.max_workers,
            limits.max_workers_per_project > 0 ? limits.max_workers_per_project : half};
  }
  std::string SocketFolder() const;  // runtime_dir/<store id>
  std::string SocketPath(const std::string& worker_id) const;

  // Output is read while less than this waits for its commit. It keeps latency low; the store's own
  // cap lies far above.
  static constexpr size_t kUncommittedSoft = 4u << 20;
};

template <typename Value>
awaitable<Value> Evaluate(std::function<Value()> work) {
  co_return work();
}

// Runs a blocking function on the pool and comes back to the loop with its value. (A mere
// co_await asio::post(pool, use_awaitable) comes back to the loop before `work` would run.)
template <typename Value>
awaitable<Value> OnPool(asio::thread_pool& pool, std::function<Value()> work) {
  co_return co_await asio::co_spawn(pool.get_executor(), Evaluate<Value>(std::move(work)),
                                    use_awaitable);
}

}  // namespace acpd::session

#endif  // ACPD_SESSION_CORE_H_
