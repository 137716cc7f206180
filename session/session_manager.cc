#include "session/session_manager.h"

#include <utility>

#include "session/manager_impl.h"

namespace acpd::session {

SessionManager::SessionManager(Dependencies dependencies)
    : impl_(std::make_unique<Impl>(std::move(dependencies))) {}
SessionManager::~SessionManager() = default;

awaitable<void> SessionManager::Start(LoadedState state) { return impl_->Start(std::move(state)); }

awaitable<void> SessionManager::Shutdown(milliseconds timeout, bool keep_workers) {
  return impl_->Shutdown(timeout, keep_workers);
}

void SessionManager::RefuseNew() {
  impl_->core.refusing = true;
  for (const CallPtr& call : impl_->waiting) {
    if (call->waiting_on) call->waiting_on->Notify();
  }
}

ManagerCounts SessionManager::Counts() const { return impl_->Counts(); }
void SessionManager::SetDraining(bool draining) { impl_->SetDraining(draining); }
awaitable<absl::Status> SessionManager::WaitDrained(CallPtr call) {
  return impl_->WaitDrained(std::move(call));
}
absl::Status SessionManager::CheckSession(const std::string& session_id) const {
  return impl_->FindSession(session_id).status();
}
absl::Status SessionManager::SetWireLog(const std::string& session_id, bool on) {
  return impl_->SetWireLog(session_id, on);
}

void SessionManager::Leave(const CallPtr& call) {
  call->gone = true;
  if (call->waiting_on) call->waiting_on->Notify();
}

awaitable<absl::StatusOr<ChatReply>> SessionManager::Chat(
    CallPtr call, ChatRequest request, std::function<void(const ChatReply&)> accepted) {
  return impl_->Chat(std::move(call), std::move(request), std::move(accepted));
}
awaitable<absl::StatusOr<SessionView>> SessionManager::CreateSession(CallPtr call,
                                                                     ChatRequest setup) {
  return impl_->CreateSession(std::move(call), std::move(setup));
}
awaitable<absl::StatusOr<CancelReply>> SessionManager::Cancel(CallPtr call, CancelQuery query) {
  return impl_->Cancel(std::move(call), std::move(query));
}
awaitable<absl::StatusOr<RespondReply>> SessionManager::Respond(CallPtr call, RespondQuery query) {
  return impl_->Respond(std::move(call), std::move(query));
}
awaitable<absl::StatusOr<TurnView>> SessionManager::GetTurn(CallPtr call, TurnQuery query,
                                                            WaitFor wait_for) {
  return impl_->GetTurn(std::move(call), std::move(query), wait_for);
}
awaitable<absl::StatusOr<TurnPage>> SessionManager::ListTurns(CallPtr call, TurnListQuery query) {
  return impl_->ListTurns(std::move(call), std::move(query));
}
awaitable<absl::StatusOr<SessionView>> SessionManager::GetSession(CallPtr call,
                                                                  std::string session_id) {
  return impl_->GetSession(std::move(call), std::move(session_id));
}
awaitable<absl::StatusOr<SessionPage>> SessionManager::ListSessions(CallPtr call,
                                                                    ListSessionsQuery query) {
  return impl_->ListSessions(std::move(call), std::move(query));
}
awaitable<absl::StatusOr<SessionView>> SessionManager::CloseSession(CallPtr call,
                                                                    std::string session_id,
                                                                    bool force) {
  return impl_->CloseSession(std::move(call), std::move(session_id), force);
}
awaitable<absl::Status> SessionManager::DeleteSession(CallPtr call, std::string session_id,
                                                      bool force) {
  return impl_->DeleteSession(std::move(call), std::move(session_id), force);
}
awaitable<absl::StatusOr<std::vector<AgentView>>> SessionManager::ListAgents(CallPtr call) {
  return impl_->ListAgents(std::move(call));
}
awaitable<absl::StatusOr<AgentView>> SessionManager::ProbeAgent(CallPtr call, std::string agent) {
  return impl_->ProbeAgent(std::move(call), std::move(agent));
}
awaitable<absl::StatusOr<SessionView>> SessionManager::SetSessionOption(CallPtr call,
                                                                        std::string session_id,
                                                                        SessionChange change) {
  return impl_->SetSessionOption(std::move(call), std::move(session_id), std::move(change));
}
awaitable<absl::StatusOr<SessionView>> SessionManager::ForkSession(CallPtr call,
                                                                   std::string session_id,
                                                                   ChatRequest setup) {
  return impl_->ForkSession(std::move(call), std::move(session_id), std::move(setup));
}
awaitable<absl::StatusOr<AgentSessionPage>> SessionManager::ListAgentSessions(CallPtr call,
                                                                              std::string agent,
                                                                              std::string cwd,
                                                                              std::string cursor) {
  return impl_->ListAgentSessions(std::move(call), std::move(agent), std::move(cwd),
                                  std::move(cursor));
}
awaitable<absl::StatusOr<LoginView>> SessionManager::LoginAgent(CallPtr call, std::string agent,
                                                                std::string method_id) {
  return impl_->LoginAgent(std::move(call), std::move(agent), std::move(method_id));
}
awaitable<absl::Status> SessionManager::LogoutAgent(CallPtr call, std::string agent) {
  return impl_->LogoutAgent(std::move(call), std::move(agent));
}
awaitable<absl::StatusOr<SubscriptionPlan>> SessionManager::PlanSubscription(
    CallPtr call, SubscriptionQuery query) {
  return impl_->PlanSubscription(std::move(call), std::move(query));
}

}  // namespace acpd::session
