#ifndef ACPD_CLI_COMMANDS_H_
#define ACPD_CLI_COMMANDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/connection.h"

namespace acpd::cli {

// Each command takes what the command line says (command_line.cc) and returns the exit code.

struct ChatOptions {
  std::string project = "default";
  std::string session, agent, cwd, request_id, model, provider_model, mode, permissions, prompt;
  std::vector<std::string> files, links;
  std::vector<std::string> values;  // ID=VALUE of config options
  bool require_resume = false;
  bool transcript = false;
  bool interrupt = false;
};
int Chat(const Settings& settings, const ChatOptions& options);

struct WatchOptions {
  std::string session, project;
  bool everything = false;
  bool from_start = false;
  bool replay_only = false;
  std::optional<uint64_t> after;
  std::string until_turn;
  std::vector<std::string> kinds;
};
int Watch(const Settings& settings, const WatchOptions& options);
// How a stream that was cut off at `position` is taken up again when acpd is back, as a command.
// Nothing where `status` does not say that acpd has gone, or with `json`.
void PrintHowToGoOn(const Settings& settings, const grpc::Status& status,
                    const WatchOptions& options, uint64_t position);

struct HistoryOptions {
  std::string session;
  uint32_t last = 0;  // 0: all
  std::vector<std::string> kinds;
  bool raw = false;  // chunks as they came
};
int ShowHistory(const Settings& settings, const HistoryOptions& options);

struct CancelOptions {
  std::string session, project, turn, reason;
  bool everything = false;
  bool include_queued = false;
  bool now = false;
};
int Cancel(const Settings& settings, const CancelOptions& options);

struct RespondOptions {
  std::string session, question, option, comment;
  std::string accept;  // JSON
  bool decline = false;
};
int Respond(const Settings& settings, const RespondOptions& options);

int CloseSession(const Settings& settings, const std::string& session_id, bool force);
int DeleteSession(const Settings& settings, const std::string& session_id, bool force);
int ListSessions(const Settings& settings, const std::string& project);
// Those that the agent itself knows; empty: the default agent's, of every folder.
int ListAgentSessions(const Settings& settings, const std::string& agent, const std::string& cwd);

struct SetOptionsOptions {
  std::string session, mode;
  std::vector<std::string> values;  // ID=VALUE
  std::optional<std::string> title;
};
int SetOptions(const Settings& settings, const SetOptionsOptions& options);
int ForkSession(const Settings& settings, const std::string& session_id);

int LoginAgent(const Settings& settings, const std::string& agent, std::string method_id);
int LogoutAgent(const Settings& settings, const std::string& agent);

int ListAgents(const Settings& settings);
int ProbeAgent(const Settings& settings, const std::string& agent);

int ShowInfo(const Settings& settings);
// `off`: take new turns again.
int Drain(const Settings& settings, bool off);
// `workers`: the agents end too, whatever acpd's config says.
int StopDaemon(const Settings& settings, bool workers);
int SetWireLog(const Settings& settings, const std::string& session_id, bool off);

}  // namespace acpd::cli

#endif  // ACPD_CLI_COMMANDS_H_
