// How sessions, close, delete, set and fork are read from the command line.
#include "cli/command_line_parts.h"

namespace acpd::cli {
namespace {

constexpr char kSessionsExamples[] =
    "Examples:\n"
    "  acpctl sessions -p shop\n"
    "  acpctl sessions --agent-side -a claude --cwd /srv/shop   what the agent itself knows\n"
    "  acpctl chat -s ID --cwd FOLDER \"go on\"                   picks one of those up";
constexpr char kSetExamples[] =
    "Examples:\n"
    "  acpctl set SESSION                                  shows what there is to set\n"
    "  acpctl set SESSION --mode plan --option model=opus\n"
    "  acpctl set SESSION --title \"The door\"\n"
    "They are set in this order, up to the first that is refused.";
constexpr char kForkExamples[] =
    "Example:\n"
    "  acpctl chat -s \"$(acpctl fork SESSION)\" \"try it the other way\"";

void AddSessions(CLI::App& app, CommandLine& line) {
  CLI::App* sessions = app.add_subcommand("sessions", "List the sessions, newest first");
  CLI::Option* project =
      Filled(sessions->add_option("-p,--project", line.project, "Only those of this project"));
  CLI::Option* agent_side =
      sessions
          ->add_flag("--agent-side", line.agent_side,
                     "Those that an agent itself knows: its id, folder and title")
          ->excludes(project);
  Filled(sessions->add_option("-a,--agent", line.agent,
                              "With --agent-side: this agent; without it the default one"))
      ->needs(agent_side);
  Filled(sessions->add_option("--cwd", line.cwd, "With --agent-side: only those of this folder"))
      ->needs(agent_side);
  sessions->footer(kSessionsExamples);
  sessions->callback([&line] {
    line.run = [&line] {
      return line.agent_side ? ListAgentSessions(line.settings, line.agent, line.cwd)
                             : ListSessions(line.settings, line.project);
    };
  });
}

void AddEnds(CLI::App& app, CommandLine& line) {
  CLI::App* close =
      app.add_subcommand("close", "Stop a session's agent; the next chat resumes the session");
  CLI::App* remove = app.add_subcommand("delete", "Forget a session and its history");
  for (CLI::App* command : {close, remove}) {
    Filled(command->add_option("session", line.session, "The session"))->required();
    command->add_flag("--force", line.force, "Cancel its turns first");
    command->footer("Example:\n  acpctl " + command->get_name() + " SESSION --force");
  }
  close->callback([&line] {
    line.run = [&line] { return CloseSession(line.settings, line.session, line.force); };
  });
  remove->callback([&line] {
    line.run = [&line] { return DeleteSession(line.settings, line.session, line.force); };
  });
}

void AddSet(CLI::App& app, CommandLine& line) {
  CLI::App* set = app.add_subcommand(
      "set", "Change a session's mode, options or title; without any, show what there is");
  Filled(set->add_option("session", line.set.session, "The session"))->required();
  Filled(set->add_option("--mode", line.set.mode, "Its mode, as the agent names it"));
  IdValues(
      set->add_option("--option", line.set.values, "One of the agent's options, e.g. model=opus"));
  CLI::Option* title = set->add_option("--title", line.title, "Its title");
  set->footer(kSetExamples);
  set->callback([&line, title] {
    if (title->count() > 0) line.set.title = line.title;
    line.run = [&line] { return SetOptions(line.settings, line.set); };
  });
}

void AddFork(CLI::App& app, CommandLine& line) {
  CLI::App* fork = app.add_subcommand(
      "fork",
      "Copy a session with its context, where the agent can, and print the copy's id; the session "
      "itself stays as it is");
  Filled(fork->add_option("session", line.session, "The session"))->required();
  fork->footer(kForkExamples);
  fork->callback(
      [&line] { line.run = [&line] { return ForkSession(line.settings, line.session); }; });
}

}  // namespace

void AddSessionCommands(CLI::App& app, CommandLine& line) {
  AddSessions(app, line);
  AddEnds(app, line);
  AddSet(app, line);
  AddFork(app, line);
}

}  // namespace acpd::cli
