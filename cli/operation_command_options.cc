// How agents, login, logout, info, drain, stop and wirelog are read from the command line.
#include "cli/command_line_parts.h"

namespace acpd::cli {
namespace {

constexpr char kAgentsExamples[] =
    "Examples:\n"
    "  acpctl agents\n"
    "  acpctl agents --probe claude";
constexpr char kLoginExamples[] =
    "Examples:\n"
    "  acpctl login codex                    shows the ways; the only one is taken at once, "
    "without --json\n"
    "  acpctl login codex --method api-key\n"
    "`auth_method` in acpd's config logs in at each start of the agent.";
constexpr char kLogoutExamples[] =
    "Example:\n"
    "  acpctl logout codex";
constexpr char kDrainExamples[] =
    "Examples:\n"
    "  acpctl drain --timeout 600\n"
    "  acpctl drain --off";
constexpr char kStopExamples[] =
    "Example:\n"
    "  acpctl stop --workers";
constexpr char kWireLogExamples[] =
    "Examples:\n"
    "  acpctl wirelog SESSION\n"
    "  acpctl wirelog SESSION --off";

void AddAgents(CLI::App& app, CommandLine& line) {
  CLI::App* agents = app.add_subcommand("agents", "List the configured agents");
  Filled(agents->add_option("--probe", line.probe,
                            "Start this one once and show what it says of itself"));
  agents->footer(kAgentsExamples);
  agents->callback([&line] {
    line.run = [&line] {
      return line.probe.empty() ? ListAgents(line.settings) : ProbeAgent(line.settings, line.probe);
    };
  });
}

void AddLogins(CLI::App& app, CommandLine& line) {
  CLI::App* login = app.add_subcommand(
      "login",
      "Log an agent in; a login in a terminal has to be made on acpd's machine, as its user");
  CLI::App* logout = app.add_subcommand("logout", "Log an agent out, where it can");
  for (CLI::App* command : {login, logout})
    Filled(command->add_option("agent", line.agent, "The agent, as `acpctl agents` names it"))
        ->required();
  Filled(login->add_option("--method", line.method, "How; without it, show the ways there are"));
  login->footer(kLoginExamples);
  logout->footer(kLogoutExamples);
  login->callback([&line] {
    line.run = [&line] { return LoginAgent(line.settings, line.agent, line.method); };
  });
  logout->callback(
      [&line] { line.run = [&line] { return LogoutAgent(line.settings, line.agent); }; });
}

void AddDaemon(CLI::App& app, CommandLine& line) {
  CLI::App* info = app.add_subcommand("info", "Show what acpd is doing, and its limits");
  info->footer("Example:\n  acpctl --json info");
  info->callback([&line] { line.run = [&line] { return ShowInfo(line.settings); }; });

  CLI::App* drain = app.add_subcommand(
      "drain",
      "Have acpd take no new turns, and wait until none is left; exit code 1: some are. Draining "
      "goes on until `drain --off` or a restart");
  drain->add_flag("--off", line.off, "Take new turns again");
  drain->footer(kDrainExamples);
  drain->callback([&line] { line.run = [&line] { return Drain(line.settings, line.off); }; });

  CLI::App* stop =
      app.add_subcommand("stop",
                         "Stop acpd; its agents live on for the next one where the config's "
                         "shutdown.workers is \"keep\"");
  stop->add_flag("--workers", line.workers, "End all agents and their turns too");
  stop->footer(kStopExamples);
  stop->callback(
      [&line] { line.run = [&line] { return StopDaemon(line.settings, line.workers); }; });
}

void AddWireLog(CLI::App& app, CommandLine& line) {
  CLI::App* wire_log = app.add_subcommand(
      "wirelog", "Write a session's traffic with its agent to acpd's log, keys hidden");
  Filled(wire_log->add_option("session", line.session, "The session"))->required();
  wire_log->add_flag("--off", line.off, "No longer");
  wire_log->footer(kWireLogExamples);
  wire_log->callback([&line] {
    line.run = [&line] { return SetWireLog(line.settings, line.session, line.off); };
  });
}

}  // namespace

void AddOperationCommands(CLI::App& app, CommandLine& line) {
  AddAgents(app, line);
  AddLogins(app, line);
  AddDaemon(app, line);
  AddWireLog(app, line);
}

}  // namespace acpd::cli
