// What an operator reads in the log of a session: one line for each step, with all its ids.
#include <utility>

#include "session/session.h"

namespace acpd::session {
namespace {

const char* NameOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kCompleted:
      return "COMPLETED";
    case Outcome::kTruncated:
      return "TRUNCATED";
    case Outcome::kRefused:
      return "REFUSED";
    case Outcome::kCancelled:
      return "CANCELLED";
    case Outcome::kFailed:
      return "FAILED";
    case Outcome::kInterrupted:
      return "INTERRUPTED";
    case Outcome::kUnspecified:
      break;
  }
  return "UNSPECIFIED";
}

const char* NameOf(OriginKind kind) {
  switch (kind) {
    case OriginKind::kNew:
      return "NEW";
    case OriginKind::kLive:
      return "LIVE";
    case OriginKind::kResumed:
      return "RESUMED";
    case OriginKind::kFallback:
      return "FALLBACK";
    case OriginKind::kForked:
      return "FORKED";
    case OriginKind::kUnspecified:
      break;
  }
  return "UNSPECIFIED";
}

const char* NameOf(ResumeMethod method) {
  switch (method) {
    case ResumeMethod::kMeta:
      return "META";
    case ResumeMethod::kSessionResume:
      return "SESSION_RESUME";
    case ResumeMethod::kSessionLoad:
      return "SESSION_LOAD";
    case ResumeMethod::kUnspecified:
      break;
  }
  return "";
}

void AddIfAny(const char* name, const std::string& value, Session::LogFields& fields) {
  if (!value.empty()) fields.emplace_back(name, value);
}

}  // namespace

void Session::Log(Severity severity, std::string_view text, std::string_view turn_id,
                  LogFields fields) const {
  LogFields all = {{"project", row_.project_id}, {"session", row_.session_id}};
  AddIfAny("turn", std::string(turn_id), all);
  if (worker_) all.emplace_back("worker", worker_->id());
  for (auto& field : fields) all.push_back(std::move(field));
  core_.Log(severity, text, std::move(all));
}

void Session::LogTurnEnd(const Turn& turn) const {
  if (turn.row.setup_only) return;
  const TurnResult& result = turn.row.result;
  const bool failed = result.outcome == Outcome::kFailed || result.outcome == Outcome::kInterrupted;
  LogFields fields = {{"outcome", NameOf(result.outcome)}};
  AddIfAny("reason", result.error.reason, fields);
  AddIfAny("error", result.error.message, fields);
  AddIfAny("cancelled_by", result.cancelled_by, fields);
  const int64_t took = (turn.row.end_time - turn.row.accept_time) / 1000;
  fields.emplace_back("took_ms", std::to_string(took));
  Log(failed ? Severity::kWarning : Severity::kInfo, "turn ended", turn.row.turn_id,
      std::move(fields));
}

void Session::LogReady(const SessionOrigin& origin, std::string_view turn_id) const {
  LogFields fields = {{"agent", row_.agent}, {"origin", NameOf(origin.kind)}};
  AddIfAny("method", NameOf(origin.method), fields);
  AddIfAny("reason", origin.reason, fields);
  AddIfAny("agent_session", row_.agent_session_id, fields);
  Log(Severity::kInfo, "session ready", turn_id, std::move(fields));
}

}  // namespace acpd::session
