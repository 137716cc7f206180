#ifndef ACPD_SESSION_AGENT_PROBE_H_
#define ACPD_SESSION_AGENT_PROBE_H_

#include <memory>
#include <optional>
#include <string>

#include "acp/types.h"
#include "session/agent_worker.h"
#include "session/manager_impl.h"

namespace acpd::session {

// An agent that is started to be asked something, without a session: the listener of its worker,
// with only a record for the worker's row. Loop thread only. Held by its errand's coroutine and by
// the manager, until the worker is gone.
class SessionManager::Impl::Probe : public AgentListener {
 public:
  Probe(Core& core, const std::string& id) : recorder_(core, id, "", 0) {}
  Recorder& recorder() override { return recorder_; }
  void OnUpdate(const acp::UpdateView&) override {}
  void OnAgentRequest(const acp::Message& message) override {
    worker->SendLine(
        acp::ErrorLine(message.id, acp::kMethodNotFound, "acpd only probes this agent"));
  }
  void OnAgentNotification(const acp::Message&) override {}
  void OnPromptAnswer(uint64_t, const AgentAnswer&) override {}
  void OnNotice(Severity, std::string_view, const std::string&) override {}
  void OnGone() override {}

  std::shared_ptr<AgentWorker> worker;
  acp::TraceContext trace;              // of the call that has it asked
  std::optional<absl::Status> verdict;  // known before the agent has been stopped again
  // What was asked and answered.
  AgentSessionPage sessions;
  LoginView login;

 private:
  Recorder recorder_;
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_AGENT_PROBE_H_
