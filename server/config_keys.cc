#include "server/config_keys.h"

#include "server/address.h"
#include "server/config_agent_options.h"
#include "server/config_agents.h"
#include "server/config_values.h"
#include "server/strings.h"

namespace acpd::server {
namespace {

using session::AgentCapabilities;
using session::AgentDefinition;
using session::Limits;
using session::Retention;

constexpr int64_t kMs = 1, kSecond = 1000, kMinute = 60 * kSecond, kHour = 60 * kMinute,
                  kDay = 24 * kHour;
constexpr int64_t kKiB = 1 << 10, kMiB = 1 << 20, kGiB = 1 << 30;

absl::Status ReadLimits(const JsonNode& node, const std::string& path, DaemonConfig* out) {
  return ReadObject(LimitsKeys(), node, path, &out->limits);
}

absl::Status ReadRetention(const JsonNode& node, const std::string& path, DaemonConfig* out) {
  return ReadObject(RetentionKeys(), node, path, &out->retention);
}

absl::Status ReadShutdown(const JsonNode& node, const std::string& path, DaemonConfig* out) {
  return ReadObject(ShutdownKeys(), node, path, out);
}

absl::Status ReadWorkers(const JsonNode& node, const std::string& path, DaemonConfig* out) {
  return ReadChoice<Workers>(node, path, {{"keep", Workers::kKeep}, {"stop", Workers::kStop}},
                             &out->shutdown_workers);
}

absl::Status ReadLog(const JsonNode& node, const std::string& path, DaemonConfig* out) {
  return ReadObject(LogKeys(), node, path, out);
}

absl::Status ReadLogLevel(const JsonNode& node, const std::string& path, DaemonConfig* out) {
  return ReadChoice<LogLevel>(node, path,
                              {{"debug", LogLevel::kDebug},
                               {"info", LogLevel::kInfo},
                               {"warning", LogLevel::kWarning},
                               {"error", LogLevel::kError}},
                              &out->log_level);
}

absl::Status ReadListen(const JsonNode& node, const std::string& path, DaemonConfig* out) {
  if (absl::Status read = ReadList(node, path, KeyType::kTextList, &out->listen); !read.ok())
    return read;
  if (out->listen.empty()) return Expected(node, path, "at least one address");
  for (size_t i = 0; i < out->listen.size(); ++i) {
    const auto address = ParseListenAddress(out->listen[i]);
    if (!address.ok()) return ErrorAt(node.items[i].line, Cat(path, "[", i, "]"), address.status());
  }
  return absl::OkStatus();
}

absl::Status ReadSecrets(const JsonNode& node, const std::string& path, DaemonConfig* out) {
  if (node.kind != JsonNode::Kind::kObject)
    return Expected(node, path, "an object of names and values");
  for (const JsonNode& item : node.items) {
    if (item.key.empty()) return ErrorAt(item.key_line, path, "expected a name that is not empty");
    const std::string item_path = Join(path, item.key);
    // What stands here is never repeated in a message.
    if (item.kind != JsonNode::Kind::kString)
      return ErrorAt(item.line, item_path, "expected a string");
    absl::Status read = ReadText(item, item_path, TextKind::kPlain, &out->secrets[item.key]);
    if (!read.ok()) return read;
  }
  return absl::OkStatus();
}

}  // namespace

const std::vector<Key<DaemonConfig>>& TopKeys() {
  static const auto& keys = *new std::vector<Key<DaemonConfig>>{
      {"listen", KeyType::kCustom, ReadListen},
      {"allow_insecure", KeyType::kBool, &DaemonConfig::allow_insecure},
      {"state_dir", KeyType::kPath, &DaemonConfig::state_dir},
      {"runtime_dir", KeyType::kPath, &DaemonConfig::runtime_dir},
      {"projects_root", KeyType::kPath, &DaemonConfig::projects_root},
      {"allowed_roots", KeyType::kPathList, &DaemonConfig::allowed_roots},
      {"default_agent", KeyType::kText, &DaemonConfig::default_agent},
      {"agent_servers", KeyType::kCustom, ReadAgents},
      {"secrets", KeyType::kCustom, ReadSecrets},
      {"adopt_unknown_sessions", KeyType::kBool, &DaemonConfig::adopt_unknown_sessions},
      {"store_mcp_secrets", KeyType::kBool, &DaemonConfig::store_mcp_secrets},
      {"limits", KeyType::kCustom, ReadLimits},
      {"retention", KeyType::kCustom, ReadRetention},
      {"shutdown", KeyType::kCustom, ReadShutdown},
      {"log", KeyType::kCustom, ReadLog},
  };
  return keys;
}

const std::vector<Key<DaemonConfig>>& ShutdownKeys() {
  static const auto& keys = *new std::vector<Key<DaemonConfig>>{
      {"workers", KeyType::kCustom, ReadWorkers},
      {"timeout", KeyType::kDuration, &DaemonConfig::shutdown_timeout, 100 * kMs, kHour},
  };
  return keys;
}

const std::vector<Key<DaemonConfig>>& LogKeys() {
  static const auto& keys = *new std::vector<Key<DaemonConfig>>{
      {"level", KeyType::kCustom, ReadLogLevel},
  };
  return keys;
}

const std::vector<Key<Limits>>& LimitsKeys() {
  static const auto& keys = *new std::vector<Key<Limits>>{
      {"max_workers", KeyType::kCount, &Limits::max_workers, 1, 10'000},
      {"max_workers_per_project", KeyType::kCount, &Limits::max_workers_per_project, 0, 10'000},
      {"worker_wait", KeyType::kDuration, &Limits::worker_wait, 10 * kMs, kDay},
      {"start_backoff", KeyType::kDuration, &Limits::start_backoff, 0, kHour},
      {"start_backoff_max", KeyType::kDuration, &Limits::start_backoff_max, 0, kHour},
      {"max_queued_turns", KeyType::kCount, &Limits::max_queued_turns, 1, 100'000},
      {"max_queued_total", KeyType::kCount, &Limits::max_queued_total, 1, 1'000'000},
      {"max_queued_bytes", KeyType::kSize, &Limits::max_queued_bytes, kKiB, 64 * kGiB},
      {"max_line", KeyType::kSize, &Limits::max_line, kKiB, 256 * kMiB},
      {"max_depth", KeyType::kCount, &Limits::max_depth, 8, 1024},
      {"max_message_in", KeyType::kSize, &Limits::max_message_in, 4 * kKiB, kGiB},
      {"orphan_timeout", KeyType::kDuration, &Limits::orphan_timeout, kSecond, 30 * kDay},
      {"request_id_ttl", KeyType::kDuration, &Limits::request_id_ttl, kSecond, 365 * kDay},
      {"transcript_bytes", KeyType::kSize, &Limits::transcript_bytes, kKiB, 8 * kMiB},
      {"max_file_read", KeyType::kSize, &Limits::max_file_read, kKiB, 64 * kMiB},
      {"max_file_write", KeyType::kSize, &Limits::max_file_write, kKiB, 64 * kMiB},
      {"max_terminals", KeyType::kCount, &Limits::max_terminals, 1, 64},
      {"max_terminal_output", KeyType::kSize, &Limits::max_terminal_output, kKiB, 4 * kMiB},
  };
  return keys;
}

const std::vector<Key<Retention>>& RetentionKeys() {
  static const auto& keys = *new std::vector<Key<Retention>>{
      {"max_age", KeyType::kDuration, &Retention::max_age, kMinute, 3650 * kDay},
      {"max_session_bytes", KeyType::kSize, &Retention::max_session_bytes, 64 * kKiB, 1024 * kGiB},
      {"max_total_bytes", KeyType::kSize, &Retention::max_total_bytes, kMiB, 1024 * kGiB},
  };
  return keys;
}

const std::vector<Key<AgentDefinition>>& AgentKeys() {
  static const auto& keys = *new std::vector<Key<AgentDefinition>>{
      {"command", KeyType::kTemplate, &AgentDefinition::command},
      {"args", KeyType::kTemplateList, &AgentDefinition::args},
      {"env", KeyType::kCustom, ReadAgentEnv},
      {"inherit_env", KeyType::kCustom, ReadInheritEnv},
      {"extends", KeyType::kCustom, ReadExtends},
      {"projects_root", KeyType::kPath, &AgentDefinition::projects_root},
      {"resume", KeyType::kCustom, ReadResume},
      {"resume_missing_patterns", KeyType::kTextList, &AgentDefinition::resume_missing_patterns},
      {"loads_in_later_minute", KeyType::kBool, &AgentDefinition::loads_in_later_minute},
      {"auth_method", KeyType::kText, &AgentDefinition::auth_method},
      {"auth_by_variable", KeyType::kCustom, ReadAuthByVariable},
      {"permission_mode", KeyType::kCustom, ReadPermissionMode},
      {"permission_rules", KeyType::kCustom, ReadPermissionRules},
      {"capabilities", KeyType::kCustom, ReadCapabilities},
      {"initial_mode", KeyType::kText, &AgentDefinition::initial_mode},
      {"config_options", KeyType::kCustom, ReadConfigOptions},
      {"start_timeout", KeyType::kDuration, &AgentDefinition::start_timeout, 10 * kMs, kHour},
      {"session_setup_timeout", KeyType::kDuration, &AgentDefinition::session_setup_timeout,
       10 * kMs, kHour},
      {"turn_timeout", KeyType::kDuration, &AgentDefinition::turn_timeout, 0, 30 * kDay},
      {"turn_silence", KeyType::kDuration, &AgentDefinition::turn_silence, 0, 30 * kDay},
      {"turn_stall", KeyType::kDuration, &AgentDefinition::turn_stall, 0, 30 * kDay},
      {"tool_silence", KeyType::kDuration, &AgentDefinition::tool_silence, 0, 30 * kDay},
      {"cancel_grace", KeyType::kDuration, &AgentDefinition::cancel_grace, 0, kHour},
      {"stop_grace", KeyType::kDuration, &AgentDefinition::stop_grace, 10 * kMs, 10 * kMinute},
      {"question_timeout", KeyType::kDuration, &AgentDefinition::question_timeout, 10 * kMs,
       30 * kDay},
      {"idle_timeout", KeyType::kDuration, &AgentDefinition::idle_timeout, 10 * kMs, 30 * kDay},
  };
  return keys;
}

const std::vector<Key<AgentCapabilities>>& CapabilityKeys() {
  static const auto& keys = *new std::vector<Key<AgentCapabilities>>{
      {"fs", KeyType::kBool, &AgentCapabilities::fs},
      {"fs_read", KeyType::kBool, &AgentCapabilities::fs_read},
      {"terminal", KeyType::kBool, &AgentCapabilities::terminal},
      {"elicitation", KeyType::kBool, &AgentCapabilities::elicitation},
  };
  return keys;
}

}  // namespace acpd::server
