#ifndef ACPD_SESSION_CONFIG_H_
#define ACPD_SESSION_CONFIG_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "acp/options.h"
#include "session/types.h"

// The configuration as the domain sees it; server/config reads it from the file.
namespace acpd::session {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// One entry of `agent_servers`: how an ACP agent is started and treated.
// What of ACP acpd offers to an agent; what is off is not advertised.
struct AgentCapabilities {
  bool fs = true, terminal = true, elicitation = true;
  bool fs_read =
      true;  // with fs: reading, too; some agents cannot make a file where they read by us

  bool operator==(const AgentCapabilities&) const = default;
};

// Answers an agent's permission questions before anybody is asked; the first rule that matches
// decides. Empty conditions match everything; `title` and `path` are shell patterns (* ? []), where
// `*` also stands for `/`. A rule with a path matches when every file of the tool call (allow), or
// any (deny, ask), matches; relative patterns are below the session's cwd.
struct PermissionRule {
  std::string tool_kind, title, path;
  PermissionMode mode = PermissionMode::kAsk;

  bool operator==(const PermissionRule&) const = default;
};

struct AgentDefinition {
  std::string name;
  std::string command;
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;  // templates (session/launch.h)
  std::vector<std::string> inherit_env;
  std::string builtin;               // the built-in definition whose settings apply; empty: none
  std::string projects_root;         // empty: the daemon's
  std::vector<ResumeMethod> resume;  // in order; never empty
  std::vector<std::string> resume_missing_patterns;  // case-insensitive substrings
  std::string auth_method;
  // An agent that wants a login although its key stands in this variable of its environment: the
  // method that takes it from there, tried once when it says so. In order.
  std::vector<std::pair<std::string, std::string>> auth_by_variable;  // variable, method id
  PermissionMode permission_mode = PermissionMode::kAsk;
  std::vector<PermissionRule> permission_rules;
  AgentCapabilities capabilities;
  std::string initial_mode;                      // of its new sessions; empty: the agent's own
  std::vector<acp::OptionValue> config_options;  // of its new sessions
  // It destroys a session that is loaded in the very minute of the wall clock in which it was made:
  // a load waits for the next one.
  bool loads_in_later_minute = false;
  milliseconds start_timeout = seconds(60);
  milliseconds session_setup_timeout = seconds(120);
  milliseconds turn_timeout{0};  // 0: none
  // How long the agent of a running turn may say nothing until a Notice tells of it, and until the
  // turn ends; and what a tool call under way holds both off. 0: without end.
  milliseconds turn_silence = minutes(5);
  milliseconds turn_stall = minutes(30);
  milliseconds tool_silence = minutes(60);
  milliseconds cancel_grace = seconds(30);
  milliseconds stop_grace = seconds(5);
  milliseconds question_timeout = minutes(5);
  milliseconds idle_timeout = minutes(15);  // 96 times that while its agent has a command running
};

struct Limits {
  size_t max_workers = 64;
  size_t max_workers_per_project = 0;       // 0: half of max_workers
  milliseconds worker_wait = minutes(10);   // of a turn for a slot among them
  milliseconds start_backoff = seconds(1);  // after an agent's first failed start; 0: none
  milliseconds start_backoff_max = seconds(60);
  size_t max_queued_turns = 32;  // of one session
  size_t max_queued_total = 1000;
  size_t max_queued_bytes = 256u << 20;
  size_t max_line = 32u << 20;
  size_t max_depth = 128;
  size_t max_message_in = 32u << 20;
  milliseconds orphan_timeout = hours(1);
  milliseconds request_id_ttl = hours(24);
  size_t transcript_bytes =
      64u << 10;                    // of the record that MODE_FALLBACK_WITH_TRANSCRIPT passes on
  size_t max_file_read = 8u << 20;  // of one fs/read_text_file's answer
  size_t max_file_write = 16u << 20;
  size_t max_terminals = 32;              // of one session
  size_t max_terminal_output = 1u << 20;  // kept of one terminal, whatever the agent asks for
};

// How long events and ended turns are kept, and how many bytes of events; the oldest go first.
struct Retention {
  milliseconds max_age = hours(30 * 24);
  size_t max_session_bytes = size_t{1} << 30;  // of one session's events
  size_t max_total_bytes = size_t{20} << 30;   // of all events
};

struct Config {
  std::string state_dir;
  std::string runtime_dir;
  std::string projects_root;
  std::vector<std::string> allowed_roots;
  std::string default_agent;
  std::vector<AgentDefinition> agents;  // as written
  std::map<std::string, std::string> secrets;
  bool adopt_unknown_sessions = true;
  bool store_mcp_secrets = true;  // false: MCP env, headers and the callers' meta stay in memory
  Limits limits;
  Retention retention;

  const AgentDefinition* Find(const std::string& name) const;
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_CONFIG_H_
