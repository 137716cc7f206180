// SetSessionOption.
#include <utility>

#include "session/errors.h"
#include "session/manager_errors.h"
#include "session/manager_impl.h"
#include "session/names.h"

namespace acpd::session {

awaitable<absl::StatusOr<SessionView>> SessionManager::Impl::SetSessionOption(
    CallPtr call, std::string session_id, SessionChange change) {
  if (core.refusing) co_return ShuttingDown();
  const absl::StatusOr<SessionPtr> found = FindCurrent(session_id);
  if (!found.ok()) co_return found.status();
  const SessionPtr session = *found;
  if (change.labels && !AreLabels(*change.labels)) {
    co_return OfSession(MakeError("INVALID_REQUEST",
                                  "A session has at most 64 labels, of 16 KiB in all; send fewer."),
                        session_id);
  }
  awaitable<absl::Status> work = session->Change(std::move(change), call->principal);
  const std::optional<absl::Status> outcome = co_await Outlast(call, std::move(work));
  if (outcome && !outcome->ok()) co_return OfSession(*outcome, session_id);
  if (!outcome && core.refusing) co_return OfSession(ShuttingDown(), session_id);
  if (!outcome) {
    const absl::Status late = MakeError(
        "START_TIMEOUT",
        "The agent has not answered yet; ask GetSession later whether it took the value.");
    co_return OfSession(late, session_id);
  }
  absl::StatusOr<SessionView> view = co_await SettledView(call, session);
  co_return view;
}

}  // namespace acpd::session
