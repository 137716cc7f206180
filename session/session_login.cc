// What an agent wants before it works: a login
// (https://agentclientprotocol.com/protocol/authentication).
#include <algorithm>
#include <utility>

#include "acp/agent_sessions.h"
#include "acp/text.h"
#include "session/errors.h"
#include "session/session.h"

namespace acpd::session {
namespace {

bool HasVariable(const acp::LaunchSpec* spec, const std::string& name) {
  return spec != nullptr &&
         std::any_of(spec->env.begin(), spec->env.end(), [&name](const auto& pair) {
           return pair.first == name && !pair.second.empty();
         });
}

std::string WaysIn(const std::string& agent, const std::vector<acp::AuthMethod>& methods) {
  std::string ids;
  for (const acp::AuthMethod& method : methods) {
    ids += (ids.empty() ? "" : ", ") + method.id + (method.type == "terminal" ? " (terminal)" : "");
  }
  if (ids.empty()) {
    return "It offers no method of its own: log it in by hand as acpd's user, or give it its key "
           "in "
           "`env` or model_provider; then send the Chat again.";
  }
  return "Log it in with `acpctl login " + agent + "` (methods: " + std::string(CutText(ids, 512)) +
         "), name one in its `auth_method`, or give it its key in `env` or model_provider; then "
         "send "
         "the Chat again.";
}

}  // namespace

absl::Status Session::LoginWanted(const std::string& agents_words) const {
  AgentFacts& facts = core_.facts[row_.agent];
  facts.auth_required = true;
  const std::string& methods =
      worker_ ? worker_->initialize.auth_methods_json : facts.initialize.auth_methods_json;
  return MakeError("AGENT_AUTH_REQUIRED", "The agent \"" + row_.agent +
                                              "\" wants a login: " + agents_words + ". " +
                                              WaysIn(row_.agent, acp::ReadAuthMethods(methods)));
}

// An agent that has its key in its environment may still have to be told to look there.
std::string Session::MethodByVariable() const {
  if (!worker_) return "";
  const std::vector<std::string>& offered = worker_->initialize.auth_method_ids;
  for (const auto& [variable, method] : worker_->agent().auth_by_variable) {
    const bool has_key = HasVariable(worker_->spec(), variable);
    const bool is_offered = std::find(offered.begin(), offered.end(), method) != offered.end();
    if (has_key && is_offered) return method;
  }
  return "";
}

awaitable<absl::Status> Session::AuthenticateWith(std::string method_id) {
  const std::shared_ptr<AgentWorker> worker = worker_;
  AgentAnswer answer;
  answer.kind = AgentAnswer::Kind::kExited;
  if (worker) {
    const uint64_t id = worker->NextId();
    const SteadyTime deadline = SetupDeadline();
    std::string line = acp::AuthenticateLine(id, method_id, trace_);
    answer = co_await worker->Call(id, std::move(line), deadline);
  }
  if (answer.kind == AgentAnswer::Kind::kResult) co_return absl::OkStatus();
  if (answer.kind != AgentAnswer::Kind::kError) {
    co_return SetupFailure(answer, "authenticate", "START_TIMEOUT");
  }
  co_return LoginWanted("it refused the method \"" + method_id + "\": " + answer.error.message);
}

}  // namespace acpd::session
