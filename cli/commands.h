#ifndef ACPD_CLI_COMMANDS_H_
#define ACPD_CLI_COMMANDS_H_

#include <CLI/CLI.hpp>

#include <functional>

#include "cli/connection.h"

namespace acpd::cli {

// Each adds its command(s) to `app`; the one that was chosen sets `run`, which returns the exit code.
using Run = std::function<int()>;
void AddChat(CLI::App& app, const Settings& settings, Run* run);
void AddWatch(CLI::App& app, const Settings& settings, Run* run);
void AddCancel(CLI::App& app, const Settings& settings, Run* run);
void AddSessionCommands(CLI::App& app, const Settings& settings, Run* run);  // close, delete, respond
void AddLists(CLI::App& app, const Settings& settings, Run* run);            // sessions, agents

}  // namespace acpd::cli

#endif  // ACPD_CLI_COMMANDS_H_
