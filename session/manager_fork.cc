// ForkSession: a session that begins as a copy of another one.
#include <algorithm>
#include <utility>

#include "session/errors.h"
#include "session/manager_errors.h"
#include "session/manager_impl.h"

namespace acpd::session {
namespace {

// Some agents write their record of a turn after they have answered it; the copy is made from that.
constexpr milliseconds kRecordTime{1000};

}  // namespace

// Whether `request`, if it is a fork's, can be carried out now.
absl::Status SessionManager::Impl::CheckFork(const ChatRequest& request) const {
  if (request.fork_of.empty()) return absl::OkStatus();
  const absl::StatusOr<SessionPtr> original = FindCurrent(request.fork_of);
  if (!original.ok()) return original.status();
  const SessionRow& row = (*original)->row();
  if (!(*original)->UnfinishedTurns().empty()) {
    return MakeError("SESSION_BUSY",
                     "The session has a turn under way; wait for its end or cancel it, then fork.");
  }
  if (row.agent_session_id.empty() || (!row.prompt_sent && row.own_agent_session)) {
    return MakeError("NOT_SUPPORTED_BY_AGENT",
                     "The session was never prompted: there is nothing to copy. Start a new one.");
  }
  const auto facts = core.facts.find(row.agent);
  const bool known = facts != core.facts.end() && facts->second.initialize.protocol_version != 0;
  if (!known || facts->second.initialize.fork) return absl::OkStatus();
  return MakeError(
      "NOT_SUPPORTED_BY_AGENT",
      "The agent \"" + row.agent + "\" cannot fork sessions: it lacks sessionCapabilities.fork.");
}

// Whether it can be is asked where a new session is made: a repeated call gets what the first one
// made, whatever has become of the original.
awaitable<absl::StatusOr<SessionView>> SessionManager::Impl::ForkSession(CallPtr call,
                                                                         std::string session_id,
                                                                         ChatRequest setup) {
  if (core.refusing) co_return ShuttingDown();
  const absl::StatusOr<SessionPtr> found = FindSession(session_id);
  if (!found.ok()) co_return found.status();
  const SessionPtr original = *found;
  asio::steady_timer pause(core.deps.loop,
                           std::min(original->last_answer() + kRecordTime, call->deadline));
  boost::system::error_code ignored;
  co_await pause.async_wait(asio::redirect_error(use_awaitable, ignored));
  setup.session_id.clear();
  setup.fork_of = session_id;
  setup.project_id = original->row().project_id;
  setup.agent = original->row().agent;
  setup.cwd = original->row().cwd;
  absl::StatusOr<SessionView> view = co_await CreateSession(call, std::move(setup));
  if (!view.ok()) co_return OfSession(view.status(), session_id);
  co_return view;
}

}  // namespace acpd::session
