// What acpd does for the agent at its request: between the services, the link to the worker and the
// owner.
#include <utility>

#include "session/agent_worker.h"

namespace acpd::session {

using std::chrono::steady_clock;

std::string_view AgentWorker::TurnIfCurrent(std::string_view turn_id) const {
  return turn_id == listener_->CurrentTurnId() ? turn_id : std::string_view();
}

void AgentWorker::Notice(Severity severity, std::string_view code, const std::string& text) {
  listener_->OnNotice(severity, code, text);
}

// A turn whose command writes is not silent. Without a turn a forgotten one would keep its worker
// for ever: then only its end counts, which the agent may want to see.
void AgentWorker::HeardOfTerminal(bool ended) {
  const SteadyTime now = steady_clock::now();
  last_heard_ = reading_.At(now);
  if (ended) last_activity_ = now;
}

void AgentWorker::OpenTerminal(uint64_t number, uint64_t limit, acp::TerminalSpec spec) {
  if (connection_) connection_->OpenTerminal(number, limit, std::move(spec));
}

void AgentWorker::WatchTerminal(uint64_t number, uint64_t from_offset) {
  if (connection_) connection_->WatchTerminal(number, from_offset);
}

void AgentWorker::ReadTerminal(uint64_t number, uint64_t tag) {
  if (connection_) connection_->ReadTerminal(number, tag);
}

void AgentWorker::KillTerminal(uint64_t number) {
  if (connection_) connection_->KillTerminal(number);
}

void AgentWorker::ReleaseTerminal(uint64_t number) {
  if (connection_) connection_->ReleaseTerminal(number);
}

void AgentWorker::OnTerminalState(const acp::TerminalState& state) {
  services_.terminals().OnState(state);
}

void AgentWorker::OnTerminalOutput(const acp::TerminalOutput& output) {
  services_.terminals().OnOutput(output);
}

void AgentWorker::OnTerminalSnapshot(acp::TerminalSnapshot snapshot) {
  services_.terminals().OnSnapshot(snapshot);
}

}  // namespace acpd::session
