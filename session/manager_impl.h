#ifndef ACPD_SESSION_MANAGER_IMPL_H_
#define ACPD_SESSION_MANAGER_IMPL_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "session/core.h"
#include "session/session.h"
#include "session/session_manager.h"

namespace acpd::session {

// The manager's insides; its calls stand by topic in manager_*.cc. Loop thread only.
class SessionManager::Impl {
 public:
  explicit Impl(Dependencies dependencies) : core(std::move(dependencies)) {}

  // manager_start.cc
  awaitable<void> Start(LoadedState state);
  awaitable<void> Shutdown(milliseconds timeout);

  // manager_chat.cc
  awaitable<absl::StatusOr<ChatReply>> Chat(CallPtr call, ChatRequest request,
                                            std::function<void(const ChatReply&)> accepted);
  awaitable<absl::StatusOr<SessionView>> CreateSession(CallPtr call, ChatRequest setup);

  // manager_cancel.cc
  awaitable<absl::StatusOr<CancelReply>> Cancel(CallPtr call, CancelQuery query);
  awaitable<absl::StatusOr<Resolution>> Respond(CallPtr call, RespondQuery query);
  awaitable<absl::StatusOr<SessionView>> CloseSession(CallPtr call, std::string session_id,
                                                      bool force);
  awaitable<absl::Status> DeleteSession(CallPtr call, std::string session_id, bool force);

  // manager_queries.cc
  awaitable<absl::StatusOr<TurnView>> GetTurn(CallPtr call, TurnQuery query, WaitFor wait_for);
  awaitable<absl::StatusOr<TurnPage>> ListTurns(CallPtr call, TurnListQuery query);
  awaitable<absl::StatusOr<SessionView>> GetSession(CallPtr call, std::string session_id);
  awaitable<absl::StatusOr<SessionPage>> ListSessions(CallPtr call, ListSessionsQuery query);
  awaitable<absl::StatusOr<SubscriptionPlan>> PlanSubscription(CallPtr call,
                                                               SubscriptionQuery query);

  // manager_agents.cc
  awaitable<absl::StatusOr<std::vector<AgentView>>> ListAgents(CallPtr call);
  awaitable<absl::StatusOr<AgentView>> ProbeAgent(CallPtr call, std::string agent);

  // manager_resolve.cc: where a session is. In front of every handler.
  // The session itself, as Get and Delete mean it; SESSION_NOT_FOUND.
  absl::StatusOr<SessionPtr> FindSession(const std::string& session_id) const;
  // Follows replacements, as Chat, Cancel, Respond and Subscribe do. A session of another project
  // is not found.
  absl::StatusOr<SessionPtr> FollowSession(const std::string& session_id,
                                           const std::string& project_id) const;
  // SESSION_REPLACED for a replaced one, as Close does.
  absl::StatusOr<SessionPtr> FindCurrent(const std::string& session_id) const;

  // Waits until `turn` has reached the state, its caller's deadline has come or the caller has
  // left. False: RefuseNew ended the wait.
  awaitable<bool> WaitForTurn(CallPtr call, TurnPtr turn, WaitFor wait_for);
  // What was committed of a turn that is no longer in memory.
  awaitable<std::optional<FoundTurn>> LookUpTurn(TurnQuery query);
  awaitable<absl::StatusOr<SessionView>> SettledView(CallPtr call, SessionPtr session);

  Core core;
  std::vector<CallPtr> waiting;       // calls inside WaitForTurn
  std::unique_ptr<Recorder> janitor;  // takes leftover workers off the store

 private:
  // manager_start.cc
  awaitable<void> EndLeftover(WorkerRow worker);
  void RestoreTurn(const TurnRow& row);

  // manager_accept.cc
  struct Accepted {
    TurnPtr turn;                     // of this acpd's memory ...
    std::optional<FoundTurn> stored;  // ... or one that ended earlier
    bool deduplicated = false;
    bool ahead = false;  // other turns are before it
  };
  awaitable<absl::StatusOr<Accepted>> Accept(CallPtr call, ChatRequest request, bool setup_only);
  awaitable<absl::StatusOr<std::optional<Accepted>>> Deduplicate(CallPtr call,
                                                                 const ChatRequest& request);
  awaitable<absl::StatusOr<Accepted>> AcceptNew(CallPtr call, ChatRequest request, bool setup_only);
  // manager_find.cc
  absl::StatusOr<SessionPtr> SessionFor(const ChatRequest& request, const std::string& agent,
                                        const std::string& cwd);
  absl::StatusOr<std::string> AgentFor(const ChatRequest& request) const;
  absl::Status CheckRoom(const Session& session, const ChatRequest& request) const;
  absl::Status CheckCredentials(const Session* session, const ChatRequest& request) const;
  awaitable<absl::Status> CheckFolder(const ChatRequest& request, const AgentDefinition& agent,
                                      std::string session_cwd, std::string* cwd);
  void ForgetUntouched(const SessionPtr& session);
  SessionPtr MakeSession(const ChatRequest& request, const std::string& agent,
                         const std::string& cwd);
  // manager_chat.cc
  absl::StatusOr<ChatReply> Answer(const Accepted& accepted, WaitFor wait_for);

  // manager_cancel.cc
  absl::StatusOr<std::vector<TurnPtr>> CancelTargets(const CancelQuery& query,
                                                     CancelReply* reply) const;
  awaitable<void> EndAllTurns(CallPtr call, SessionPtr session, std::string by);
};

ChatReply ReplyOf(const Core& core, const TurnView& turn, bool deduplicated);

}  // namespace acpd::session

#endif  // ACPD_SESSION_MANAGER_IMPL_H_
