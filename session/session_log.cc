// What an operator reads in the log of a session: one line for each step, with all its ids.
#include <utility>

#include "session/secrets.h"
#include "session/session.h"

namespace acpd::session {
namespace {

constexpr size_t kMaxLogField = 16u << 10;

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
  // Agents say what they like, their keys too.
  const std::vector<std::string> secrets = Secrets();
  for (const auto& [name, value] : fields)
    all.emplace_back(name, session::HideSecrets(value, secrets, kMaxLogField));
  core_.Log(severity, session::HideSecrets(text, secrets, kMaxLogField), std::move(all));
}

std::vector<std::string> Session::Secrets() const {
  std::vector<std::string> secrets;
  for (const auto& [name, value] : core_.config().secrets) secrets.push_back(value);
  if (row_.model_provider) secrets.push_back(row_.model_provider->api_key);
  for (std::string& secret : SecretsIn(row_.setup)) secrets.push_back(std::move(secret));
  if (!core_.config().store_mcp_secrets) secrets.push_back(row_.setup.meta_json);
  const AgentDefinition* definition = agent();
  if (!definition) return secrets;
  const LaunchContext context = ContextWith(row_.model_provider);
  // An agent that cannot be launched like this has none of them.
  const absl::StatusOr<acp::LaunchSpec> spec = BuildLaunchSpec(*definition, context, "");
  if (!spec.ok()) return secrets;
  for (const auto& [name, value] : spec->env) {
    if (NamesSecret(name)) secrets.push_back(value);
  }
  return secrets;
}

std::string Session::HideSecrets(std::string_view text) const {
  return session::HideSecrets(text, Secrets(), kMaxLogField);
}

void Session::OnWire(std::string_view direction, std::string_view line) {
  if (!core_.wire_logged.contains(row_.session_id)) return;
  Log(Severity::kInfo, "wire", CurrentTurnId(),
      {{"direction", std::string(direction)},
       {"size", std::to_string(line.size())},
       {"line", HideSecrets(line)}});
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
