#ifndef ACPD_SESSION_TYPES_H_
#define ACPD_SESSION_TYPES_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "acp/content.h"
#include "acp/options.h"
#include "acp/setup.h"

// The domain's plain values. The enums have the numbers of proto/acpd/v1, so that server/convert.cc
// is a cast (and a test there holds them together). Times are the wall clock in microseconds since
// 1970; 0: not yet.
namespace acpd::session {

using std::chrono::milliseconds;
using WallTime = int64_t;
using Labels = std::map<std::string, std::string>;

enum class TurnState { kUnspecified, kQueued, kStarting, kRunning, kWaiting, kCancelling, kEnded };
enum class Outcome {
  kUnspecified,
  kCompleted,
  kTruncated,
  kRefused,
  kCancelled,
  kFailed,
  kInterrupted
};
enum class CancelOutcome {
  kUnspecified,
  kCancelled,
  kNotStarted,
  kForced,
  kNothingRunning,
  kAlreadyEnded,
  kPending
};
enum class OriginKind { kUnspecified, kNew, kLive, kResumed, kFallback, kForked };
enum class ResumeMethod { kUnspecified, kMeta, kSessionResume, kSessionLoad };
enum class ResumeMode { kUnspecified, kFallbackToNew, kFallbackWithTranscript, kRequire };
enum class BusyPolicy { kUnspecified, kQueue, kReject, kInterrupt };
enum class WaitFor { kUnspecified, kAccepted, kStarted, kFinished };
enum class PermissionMode { kUnspecified, kAsk, kAllow, kDeny };
enum class OptionKind { kUnspecified, kAllowOnce, kAllowAlways, kRejectOnce, kRejectAlways };
enum class SessionState { kUnspecified, kStarting, kIdle, kBusy, kDormant, kReplaced, kWaiting };
enum class QuestionOutcome { kUnspecified, kSelected, kCancelled, kAccepted, kDeclined };
enum class QuestionKind { kPermission, kForm, kUrl };
enum class ResolvedBy {
  kUnspecified,
  kCaller,
  kPolicy,
  kTimeout,
  kCancel,
  kAgent,
  kExit,
  kTurnEnd
};
enum class CloseReason { kUnspecified, kCaller, kIdle, kLimit, kShutdown };
enum class Severity { kUnspecified, kInfo, kWarning, kError };

struct Failure {
  std::string reason;   // a code of session/errors.h; empty: no failure
  std::string message;  // one sentence for a person
  int32_t agent_code = 0;
  std::string agent_data;
  bool retryable = false;
  milliseconds retry_after{0};

  bool operator==(const Failure&) const = default;
};

struct Usage {
  std::optional<uint64_t> input_tokens, output_tokens, cached_read_tokens, cached_write_tokens,
      thought_tokens, total_tokens, context_used, context_size;
  std::optional<double> cost;
  std::string currency;

  bool operator==(const Usage&) const = default;
};

struct SessionOrigin {
  OriginKind kind = OriginKind::kUnspecified;
  ResumeMethod method = ResumeMethod::kUnspecified;
  std::string requested_session_id;
  std::string reason;
  std::string detail;
  uint32_t attempts = 0;
  bool transcript_injected = false;

  bool operator==(const SessionOrigin&) const = default;
};

struct TurnResult {
  Outcome outcome = Outcome::kUnspecified;
  std::string stop_reason;
  Failure error;
  std::string text;
  std::string final_text;
  bool text_truncated = false;
  Usage usage;
  bool prompt_sent = false;
  std::string cancelled_by;
  std::string cancel_reason;

  bool operator==(const TurnResult&) const = default;
};

struct ModelProvider {
  std::string provider;
  std::string model;
  std::string api_key;  // in memory only: never stored, logged or returned
  std::string base_url;
  std::map<std::string, std::string> options;
  std::string api_key_ref;
  bool api_key_lost = false;  // read back from the store, which had not been given its api_key

  bool operator==(const ModelProvider&) const = default;
};

struct ResumePolicy {
  ResumeMode mode = ResumeMode::kUnspecified;
  std::optional<uint32_t> max_retries;
  bool preserve_mcp_servers = true;  // of the session that stands in
};

// What a session's set-up is given beside its folder; a Chat that changes it has the session set up
// anew.
struct SetupSettings {
  std::vector<acp::McpServer>
      mcp_servers;  // values of env and headers are templates (${secret:NAME})
  std::string system_prompt;
  std::string meta_json;
  std::vector<std::string> additional_directories;

  bool operator==(const SetupSettings&) const = default;
};

// A Chat (or CreateSession: no prompt) as asked for; the fields of ChatRequest whose features
// exist.
struct ChatRequest {
  std::string project_id;
  std::string session_id;
  std::string prompt;
  std::string request_id;
  std::string agent;
  ResumePolicy resume_policy;
  BusyPolicy busy_policy = BusyPolicy::kUnspecified;
  WaitFor wait_for = WaitFor::kUnspecified;
  std::optional<ModelProvider> model_provider;
  PermissionMode permission_mode = PermissionMode::kUnspecified;
  std::string cwd;
  milliseconds turn_timeout{0};      // 0: the agent's default
  milliseconds question_timeout{0};  // 0: the agent's default
  Labels labels;
  std::string agent_session_id;
  std::vector<acp::ContentBlock> content;  // behind `prompt`
  // Of the session; unset: as the session has it.
  std::optional<std::vector<acp::McpServer>> mcp_servers;
  std::optional<std::string> system_prompt, meta_json;
  std::optional<std::vector<std::string>> additional_directories;
  // MCP env, headers or `meta` came with it, and were not stored with it (store_mcp_secrets false):
  // read back from the store.
  bool setup_secrets_lost = false;
  std::string mode_id;                           // empty: as the session has it
  std::vector<acp::OptionValue> config_options;  // in order
  acp::TraceContext trace;
  std::string fork_of;  // only of ForkSession: the session to copy
  // The request as the codec wrote it for the store, without wait_for and secrets; session/ only
  // keeps it.
  std::string stored_bytes;
  // Canonical hash of every field but request_id, wait_for and api_key.
  std::string content_hash;
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_TYPES_H_
