// A session that begins as a copy of another one (ACP session/fork, unstable).
#include <functional>
#include <utility>

#include "session/errors.h"
#include "session/session.h"

namespace acpd::session {

// In a worker of its own: what the original's worker does is not disturbed, and it need not have
// one.
awaitable<absl::StatusOr<acp::SetupResult>> Session::ForkAgentSession() {
  if (worker_ && !worker_->initialize.fork) {
    co_return MakeError("NOT_SUPPORTED_BY_AGENT",
                        "The agent \"" + row_.agent +
                            "\" cannot fork sessions: it lacks sessionCapabilities.fork.");
  }
  const absl::StatusOr<acp::SessionSetup> setup = MakeSetup();
  if (!setup.ok()) co_return setup.status();
  std::function<std::string(uint64_t)> make_line = [this, &setup](uint64_t id) {
    return acp::ForkSessionLine(id, row_.fork_of, *setup);
  };
  const AgentAnswer answer = co_await AskSetup(std::move(make_line));
  if (answer.kind == AgentAnswer::Kind::kError && answer.error.code != acp::kAuthRequired) {
    co_return MakeError("NOT_SUPPORTED_BY_AGENT",
                        "The agent could not fork the session: " + answer.error.message +
                            (answer.error.data.empty() ? "" : " " + answer.error.data));
  }
  co_return ReadNewSession(answer, "session/fork");
}

}  // namespace acpd::session
