#ifndef ACPD_CLI_COMMAND_LINE_PARTS_H_
#define ACPD_CLI_COMMAND_LINE_PARTS_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "cli/commands.h"

namespace acpd::cli {

// What the command line is read into; the command that was chosen sets `run`.
struct CommandLine {
  Settings settings;
  std::function<int()> run;
  ChatOptions chat;
  WatchOptions watch;
  HistoryOptions history;
  CancelOptions cancel;
  RespondOptions respond;
  SetOptionsOptions set;
  std::string session, project, probe, agent, method, cwd, title;
  bool agent_side = false;
  bool force = false, off = false, workers = false;
};

// chat, watch, history, cancel and respond.
void AddTurnCommands(CLI::App& app, CommandLine& line);
// sessions, close, delete, set and fork.
void AddSessionCommands(CLI::App& app, CommandLine& line);
// agents, login, logout, info, drain, stop and wirelog.
void AddOperationCommands(CLI::App& app, CommandLine& line);

// An option that was given without a value: most often a shell's variable that is not set. What it
// would mean is not what was wanted.
CLI::Option* Filled(CLI::Option* option);
// One value each time it is given: the next word is no value of it.
CLI::Option* Repeatable(CLI::Option* option);
// Of "ID=VALUE".
CLI::Option* IdValues(CLI::Option* option);

}  // namespace acpd::cli

#endif  // ACPD_CLI_COMMAND_LINE_PARTS_H_
