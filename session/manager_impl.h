#ifndef ACPD_SESSION_MANAGER_IMPL_H_
#define ACPD_SESSION_MANAGER_IMPL_H_

#include <functional>
#include <memory>
#include <optional>
#include <set>
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
  awaitable<void> Shutdown(milliseconds timeout, bool keep_workers);

  // manager_chat.cc
  awaitable<absl::StatusOr<ChatReply>> Chat(CallPtr call, ChatRequest request,
                                            std::function<void(const ChatReply&)> accepted);
  awaitable<absl::StatusOr<SessionView>> CreateSession(CallPtr call, ChatRequest setup);

  // manager_cancel.cc
  awaitable<absl::StatusOr<CancelReply>> Cancel(CallPtr call, CancelQuery query);
  awaitable<absl::StatusOr<RespondReply>> Respond(CallPtr call, RespondQuery query);

  // manager_close.cc
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

  // manager_options.cc
  awaitable<absl::StatusOr<SessionView>> SetSessionOption(CallPtr call, std::string session_id,
                                                          SessionChange change);
  // manager_fork.cc
  awaitable<absl::StatusOr<SessionView>> ForkSession(CallPtr call, std::string session_id,
                                                     ChatRequest setup);
  absl::Status CheckFork(const ChatRequest& request) const;
  // manager_ask_agent.cc: what an agent is asked without a session
  awaitable<absl::StatusOr<AgentSessionPage>> ListAgentSessions(CallPtr call, std::string agent,
                                                                std::string cwd,
                                                                std::string cursor);
  awaitable<absl::StatusOr<LoginView>> LoginAgent(CallPtr call, std::string agent,
                                                  std::string method_id);
  awaitable<absl::Status> LogoutAgent(CallPtr call, std::string agent);

  // manager_admin.cc
  ManagerCounts Counts() const;
  void SetDraining(bool draining);
  awaitable<absl::Status> WaitDrained(CallPtr call);
  absl::Status SetWireLog(const std::string& session_id, bool on);
  absl::Status Refusal() const;  // why no new turn is taken; OK: it is

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
  // Runs `work` to its end and waits for it as long as the call does. nullopt: the call's time is
  // up, its caller has left or RefuseNew ended the wait; the work goes on.
  awaitable<std::optional<absl::Status>> Outlast(CallPtr call, awaitable<absl::Status> work);
  // What was committed of a turn that is no longer in memory.
  awaitable<std::optional<FoundTurn>> LookUpTurn(TurnQuery query);
  // Waits for the commit that covers an answer, until the call's time is up; while the store does
  // not write, 2 s at most.
  awaitable<bool> SettleAnswer(CallPtr call, SessionPtr session);
  absl::Status StoreTrouble() const;  // why it was not settled
  awaitable<absl::StatusOr<SessionView>> SettledView(CallPtr call, SessionPtr session);

  Core core;
  std::vector<CallPtr> waiting;  // calls inside WaitForTurn, Outlast or WaitDrained
  class Probe;
  std::set<std::shared_ptr<Probe>> probing;  // until their workers are gone
  std::unique_ptr<Recorder> janitor;         // takes leftover workers off the store

 private:
  // manager_start.cc
  awaitable<void> EndLeftover(WorkerRow worker);
  awaitable<void> MakeSocketFolder();
  bool IsAdoptable(const WorkerRow& worker) const;
  std::vector<WorkerRow> Restore(LoadedState& state);
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
  awaitable<absl::StatusOr<Accepted>> Enqueue(CallPtr call, SessionPtr session, ChatRequest request,
                                              bool setup_only);
  // How the record of its acceptance was committed; nullopt: not yet.
  using Commitment = std::shared_ptr<std::optional<absl::Status>>;
  Commitment WhenCommitted(SessionPtr session, TurnPtr turn, bool made);
  // manager_find.cc
  absl::StatusOr<SessionPtr> SessionFor(const ChatRequest& request, const std::string& agent,
                                        const std::string& cwd);
  absl::StatusOr<std::string> AgentFor(const ChatRequest& request) const;
  absl::Status CheckRoom(const Session& session, const ChatRequest& request) const;
  absl::Status CheckCredentials(const Session* session, const ChatRequest& request) const;
  awaitable<absl::Status> CheckFolder(const ChatRequest& request, const AgentDefinition& agent,
                                      std::string session_cwd, std::string* cwd);
  void Unlist(const SessionPtr& session);
  SessionPtr MakeSession(const ChatRequest& request, const std::string& agent,
                         const std::string& cwd);
  // manager_chat.cc
  absl::StatusOr<ChatReply> Answer(const Accepted& accepted, WaitFor wait_for);

  // manager_cancel.cc
  awaitable<void> SettleEnds(CallPtr call);
  absl::StatusOr<std::vector<TurnPtr>> CancelTargets(const CancelQuery& query,
                                                     CancelReply* reply) const;
  awaitable<absl::StatusOr<Resolution>> Resolve(CallPtr call, SessionPtr session,
                                                RespondQuery query, std::string* turn_id);
  awaitable<absl::StatusOr<Resolution>> ResolvedBefore(CallPtr call, SessionPtr session,
                                                       RespondQuery query, std::string* turn_id);
  // manager_close.cc
  awaitable<void> EndAllTurns(CallPtr call, SessionPtr session);
  awaitable<absl::Status> CloseWork(CallPtr call, SessionPtr session);
  awaitable<absl::Status> DeleteWork(CallPtr call, SessionPtr session);
  // manager_agents.cc
  awaitable<absl::Status> AskNothing(std::shared_ptr<Probe> probe, SteadyTime deadline);
  // manager_probe.cc
  using ProbeErrand = std::function<awaitable<absl::Status>(std::shared_ptr<Probe>, SteadyTime)>;
  awaitable<absl::StatusOr<std::shared_ptr<Probe>>> RunProbe(CallPtr call, std::string name,
                                                             std::string cwd, ProbeErrand errand);
  awaitable<absl::Status> ProbeWork(std::shared_ptr<Probe> probe, const AgentDefinition* agent,
                                    std::string cwd, SteadyTime call_deadline, ProbeErrand errand);
  awaitable<absl::Status> AskProbed(std::shared_ptr<Probe> probe, const AgentDefinition* agent,
                                    std::string cwd, SteadyTime deadline);
  awaitable<void> EndProbe(std::shared_ptr<Probe> probe);
  // manager_ask_agent.cc
  awaitable<absl::Status> AskSessions(std::shared_ptr<Probe> probe, SteadyTime deadline,
                                      std::string cwd, std::string cursor);
  awaitable<absl::Status> AskLogin(std::shared_ptr<Probe> probe, SteadyTime deadline,
                                   std::string method_id);
  awaitable<absl::Status> AskLogout(std::shared_ptr<Probe> probe, SteadyTime deadline);
  // manager_queries.cc
  bool InScope(const TurnRow& turn, const LogScope& scope) const;
};

// Until when an answer waits for the commit that covers it. A commit takes some milliseconds: a
// call whose time is up can wait for it within the 200 ms that were kept back for the answer.
SteadyTime CommitDeadline(const CallPtr& call);

ChatReply ReplyOf(const Core& core, const TurnView& turn, bool deduplicated);

}  // namespace acpd::session

#endif  // ACPD_SESSION_MANAGER_IMPL_H_
