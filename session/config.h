#ifndef ACPD_SESSION_CONFIG_H_
#define ACPD_SESSION_CONFIG_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "session/types.h"

// The configuration as the domain sees it; server/config reads it from the file.
namespace acpd::session {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// One entry of `agent_servers`: how an ACP agent is started and treated.
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
  PermissionMode permission_mode = PermissionMode::kAsk;
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
  milliseconds idle_timeout = minutes(15);
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
  Limits limits;
  Retention retention;

  const AgentDefinition* Find(const std::string& name) const;
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_CONFIG_H_
