// Where a session is: in front of every handler, so that another node can be the answer one day.
#include "session/errors.h"
#include "session/manager_errors.h"
#include "session/manager_impl.h"

namespace acpd::session {
std::string Core::SocketFolder() const {
  return config().runtime_dir + "/" + deps.store->store_id().substr(0, 12);
}

std::string Core::SocketPath(const std::string& worker_id) const {
  // Short: the path of a unix socket has at most 107 bytes.
  std::string name;
  for (const char c : worker_id) {
    if (c != '-') name.push_back(c);
  }
  return SocketFolder() + "/" + name;
}

absl::StatusOr<SessionPtr> SessionManager::Impl::FindSession(const std::string& session_id) const {
  const auto it = core.sessions.find(session_id);
  if (it == core.sessions.end() || !it->second->known()) return NoSuchSession(session_id);
  return it->second;
}

absl::StatusOr<SessionPtr> SessionManager::Impl::FollowSession(
    const std::string& session_id, const std::string& project_id) const {
  auto it = core.sessions.find(session_id);
  while (it != core.sessions.end() && !it->second->row().replaced_by.empty()) {
    it = core.sessions.find(it->second->row().replaced_by);
  }
  if (it == core.sessions.end()) return NoSuchSession(session_id);
  const SessionRow& row = it->second->row();
  if (!project_id.empty() && row.project_id != project_id) return NoSuchSession(session_id);
  if (!row.ready_once && it->second->UnfinishedTurns().empty()) return NoSuchSession(session_id);
  return it->second;
}

absl::StatusOr<SessionPtr> SessionManager::Impl::FindCurrent(const std::string& session_id) const {
  absl::StatusOr<SessionPtr> session = FindSession(session_id);
  if (!session.ok()) return session;
  if (!(*session)->row().replaced_by.empty()) {
    const absl::Status replaced =
        MakeError("SESSION_REPLACED", "The session was replaced; its successor is " +
                                          (*session)->row().replaced_by + ".");
    return OfSession(replaced, session_id);
  }
  return session;
}

}  // namespace acpd::session
