#ifndef ACPD_SESSION_SESSION_MANAGER_H_
#define ACPD_SESSION_SESSION_MANAGER_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "acp/asio.h"
#include "acp/launcher.h"
#include "acp/signal.h"
#include "session/config.h"
#include "session/event_log.h"
#include "session/events.h"
#include "session/store.h"
#include "session/views.h"

namespace acpd::session {

// One call of a client, as its handler sees it. The edge sets `gone` (on the loop, through
// SessionManager::Leave) when the caller has left: waits end, the work goes on.
struct Call {
  std::string principal;
  SteadyTime deadline =
      SteadyTime::max();  // when the answer has to be ready: the call's deadline less 200 ms
  // For what an agent is asked because of the call.
  acp::TraceContext trace;
  bool gone = false;
  Signal* waiting_on = nullptr;  // the manager's
};
using CallPtr = std::shared_ptr<Call>;

struct ListSessionsQuery {
  std::string project_id;  // empty: all
  std::vector<SessionState> states;
  Labels labels;
  uint32_t limit = 50;
  WallTime before_time = 0;  // newest first by create_time; 0: from the newest
  std::string before_session_id;
};
struct SessionPage {
  std::vector<SessionView> sessions;
  bool more = false;
  uint64_t as_of_position = 0;
};
struct TurnPage {
  std::vector<TurnView> turns;
  bool more = false;
  uint64_t as_of_position = 0;
};

struct CancelQuery {
  std::string session_id, project_id, turn_id, reason;
  bool include_queued = false;
  bool everything = false;
  std::optional<milliseconds> grace;  // 0: kill at once
  acp::TraceContext trace;
};
struct CancelReply {
  CancelOutcome outcome = CancelOutcome::kUnspecified;
  std::vector<CancelledTurn> turns;
};

struct RespondQuery {
  std::string session_id, question_id;
  std::string option_id;  // exactly one of these five
  bool cancelled = false;
  OptionKind option_kind = OptionKind::kUnspecified;
  std::string accept_json;
  bool decline = false;
  std::string comment;
};

struct RespondReply {
  Resolution resolution;
  std::string session_id, turn_id;
};

// What an operator sees of the whole, as it is in memory now.
struct ManagerCounts {
  std::map<SessionState, size_t> sessions;  // those that are known to callers
  size_t queued_turns = 0, running_turns = 0;
  size_t workers = 0, open_questions = 0;
  bool draining = false;
  std::vector<std::string> wire_logged;  // session ids
};

// Where a subscription reads, after its scope was resolved.
struct SubscriptionQuery {
  LogScope scope;
  std::string until_turn_id, turn_id;
};
struct SubscriptionPlan {
  LogScope scope;
  // Open questions in scope: (session_id, seq) of their events, for a stream that starts at "now".
  std::vector<std::pair<std::string, uint64_t>> open_questions;
  bool until_turn_ended = false;  // it has ended already (as committed)
};

// The domain's door: resolves projects and sessions, and hands each call to its session. Loop
// thread only, all of it: the edge posts. Answers are built from committed state or wait for the
// commit that covers them. Errors are those of session/errors.h.
class SessionManager {
 public:
  struct Dependencies {
    asio::any_io_executor loop;
    asio::thread_pool* pool = nullptr;  // what blocks
    Store* store = nullptr;
    EventLog* log = nullptr;
    acp::Launcher* launcher = nullptr;
    EventCodec* codec = nullptr;
    const Config* config = nullptr;
    std::function<WallTime()> now;
    std::function<void(Severity, std::string_view text,
                       std::vector<std::pair<std::string, std::string>>)>
        log_line;
  };
  explicit SessionManager(Dependencies dependencies);
  ~SessionManager();

  // Takes over what an earlier acpd left: workers that were ready go on with their turns, others
  // are ended with their trees; a turn whose worker is gone becomes INTERRUPTED, queued ones run.
  // Returns when all of that is settled; calls may come before that.
  awaitable<void> Start(LoadedState state);
  // Lets go of the workers that are ready, with their turns, for the next acpd; or, not to keep
  // them, ends what runs: turns CANCELLED by "shutdown", workers stopped in parallel, each within
  // its stop budget and all within `timeout`.
  awaitable<void> Shutdown(milliseconds timeout, bool keep_workers);
  // From now on new Chats and CreateSessions are refused with SHUTTING_DOWN, and waiting calls end
  // with it.
  void RefuseNew();

  // `accepted` is called once the turn is committed (before the answer), with its ids and place.
  awaitable<absl::StatusOr<ChatReply>> Chat(CallPtr call, ChatRequest request,
                                            std::function<void(const ChatReply&)> accepted);
  awaitable<absl::StatusOr<SessionView>> CreateSession(CallPtr call, ChatRequest setup);
  awaitable<absl::StatusOr<CancelReply>> Cancel(CallPtr call, CancelQuery query);
  awaitable<absl::StatusOr<RespondReply>> Respond(CallPtr call, RespondQuery query);
  awaitable<absl::StatusOr<TurnView>> GetTurn(CallPtr call, TurnQuery query, WaitFor wait_for);
  awaitable<absl::StatusOr<TurnPage>> ListTurns(CallPtr call, TurnListQuery query);
  awaitable<absl::StatusOr<SessionView>> GetSession(CallPtr call, std::string session_id);
  awaitable<absl::StatusOr<SessionPage>> ListSessions(CallPtr call, ListSessionsQuery query);
  awaitable<absl::StatusOr<SessionView>> CloseSession(CallPtr call, std::string session_id,
                                                      bool force);
  awaitable<absl::Status> DeleteSession(CallPtr call, std::string session_id, bool force);
  awaitable<absl::StatusOr<std::vector<AgentView>>> ListAgents(CallPtr call);
  awaitable<absl::StatusOr<AgentView>> ProbeAgent(CallPtr call, std::string agent);
  awaitable<absl::StatusOr<SubscriptionPlan>> PlanSubscription(CallPtr call,
                                                               SubscriptionQuery query);
  // OK: callers know the session itself; SESSION_NOT_FOUND.
  absl::Status CheckSession(const std::string& session_id) const;

  // Changes one thing of the session itself. SESSION_REPLACED, NOT_SUPPORTED_BY_AGENT,
  // AGENT_EXITED.
  awaitable<absl::StatusOr<SessionView>> SetSessionOption(CallPtr call, std::string session_id,
                                                          SessionChange change);
  // Copies the session's context into a new session with these labels. SESSION_BUSY,
  // SESSION_REPLACED, NOT_SUPPORTED_BY_AGENT, those of a start.
  awaitable<absl::StatusOr<SessionView>> ForkSession(CallPtr call, std::string session_id,
                                                     ChatRequest setup);
  // A page of what the agent (empty: the default one) itself knows, of one folder (empty: all).
  awaitable<absl::StatusOr<AgentSessionPage>> ListAgentSessions(CallPtr call, std::string agent,
                                                                std::string cwd,
                                                                std::string cursor);
  // Empty method: only what there is.
  awaitable<absl::StatusOr<LoginView>> LoginAgent(CallPtr call, std::string agent,
                                                  std::string method_id);
  awaitable<absl::Status> LogoutAgent(CallPtr call, std::string agent);

  // For operators.
  ManagerCounts Counts() const;
  // While draining, what would make a new turn is refused with DRAINING. Not stored.
  void SetDraining(bool draining);
  // Waits until every turn has ended, its end is stored and none can come; or until draining is
  // over or the call's time is up. SHUTTING_DOWN.
  awaitable<absl::Status> WaitDrained(CallPtr call);
  // Whether the session's lines to and from its agent go to the log. SESSION_NOT_FOUND,
  // SESSION_REPLACED, QUEUE_FULL (16 others do).
  absl::Status SetWireLog(const std::string& session_id, bool on);

  // The caller has left: ends the waits of `call`.
  void Leave(const CallPtr& call);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_SESSION_MANAGER_H_
