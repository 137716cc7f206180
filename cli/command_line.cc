#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>

#include "cli/commands.h"

namespace acpd::cli {
namespace {

constexpr char kFooter[] =
    "Exit codes: 0 done, 1 the turn did not complete (cancel, drain: a turn has not ended yet;\n"
    "stop: acpd has not gone yet), 2 bad arguments, 3 acpd refused the call, 4 acpd cannot be\n"
    "reached, does not answer or is stopping, 5 the output could not be written, 130 the turn was\n"
    "cancelled.\n"
    "Of chat, watch and history, the agent's text goes to stdout, everything else to stderr.";
// More words than a command line can have.
constexpr int kMostWords = 1 << 24;

// The command that was chosen sets `run`.
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

// Verbatim. Where an option may have any number of values CLI11 takes "[a,b]" as several of them;
// so it is told a number, and that fewer will do.
void AddPrompt(CLI::App& chat, std::string* prompt) {
  const auto join = [prompt](const CLI::results_t& words) {
    prompt->clear();
    for (size_t i = 0; i < words.size(); ++i) *prompt += (i == 0 ? "" : " ") + words[i];
    return true;
  };
  chat.add_option("prompt", join, "The prompt; several words are joined by spaces")
      ->required()
      ->option_text("TEXT ... REQUIRED")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->expected(kMostWords, CLI::detail::expected_max_vector_size);
}

void AddChat(CLI::App& app, CommandLine& line) {
  ChatOptions& options = line.chat;
  CLI::App* chat =
      app.add_subcommand("chat", "Send a prompt and follow the turn; Ctrl-C cancels it");
  AddPrompt(*chat, &options.prompt);
  chat->add_option("-p,--project", options.project, "The project")->capture_default_str();
  chat->add_option("-s,--session", options.session,
                   "Continue this session; without it a new one is made");
  chat->add_option("-a,--agent", options.agent,
                   "The agent; without it the session's, else the default one");
  chat->add_option("--cwd", options.cwd, "The folder the agent works in; without it the project's");
  chat->add_option("-f,--file", options.files,
                   "Add this file: images and sounds as such, others with their contents");
  chat->add_option("--link", options.links,
                   "Add a link to this file, for the agent to look itself");
  chat->add_option("--mode", options.mode, "The session's mode, as the agent names it");
  chat->add_option("--model", options.model,
                   "The session's model, as the agent names it (its option \"model\")");
  chat->add_option("--option", options.values, "One of the agent's options, as ID=VALUE");
  chat->add_option("--provider-model", options.provider_model,
                   "The model, for agents whose config uses ${model.model}");
  chat->add_option("--request-id", options.request_id,
                   "The same id again attaches to the same turn");
  chat->add_option("--permissions", options.permissions,
                   "What happens to the agent's permission requests")
      ->check(CLI::IsMember({"ask", "allow", "deny"}));
  chat->add_flag("--require-resume", options.require_resume,
                 "Fail rather than go on in a new session");
  chat->add_flag("--with-transcript", options.transcript,
                 "If the old context is lost, give the new session acpd's record of it");
  chat->add_flag("--interrupt", options.interrupt, "Cancel the session's running turn first");
  chat->callback([&line] { line.run = [&line] { return Chat(line.settings, line.chat); }; });
}

void AddWatch(CLI::App& app, CommandLine& line) {
  WatchOptions& options = line.watch;
  CLI::App* watch = app.add_subcommand(
      "watch", "Show the events of a session, a project or everything as they come");
  watch->add_option("-s,--session", options.session, "This session");
  watch->add_option("-p,--project", options.project, "All sessions of this project");
  watch->add_flag("--all", options.everything, "All sessions");
  watch->add_flag("--from-start", options.from_start, "The stored past first");
  watch->add_option("--after", options.after,
                    "Only events behind this position (the cursor to keep)");
  watch->add_flag("--replay-only", options.replay_only, "End when the past has been shown");
  watch->add_option("--until-turn", options.until_turn, "End after this turn's end");
  watch->add_option("--kind", options.kinds, "Of the agent's updates only these ACP kinds");
  watch->callback([&line] { line.run = [&line] { return Watch(line.settings, line.watch); }; });
}

void AddHistory(CLI::App& app, CommandLine& line) {
  HistoryOptions& options = line.history;
  CLI::App* history = app.add_subcommand("history", "Show what happened in a session, and end");
  history->add_option("session", options.session, "The session itself, not what replaced it")
      ->required();
  history->add_option("--last", options.last, "Only so many events, the last ones")
      ->check(CLI::Range(1, 1'000'000));
  history->add_option("--kind", options.kinds, "Of the agent's updates only these ACP kinds");
  history->add_flag("--raw", options.raw,
                    "Each piece of a message as it came, instead of whole messages");
  history->callback(
      [&line] { line.run = [&line] { return ShowHistory(line.settings, line.history); }; });
}

void AddCancel(CLI::App& app, CommandLine& line) {
  CancelOptions& options = line.cancel;
  CLI::App* cancel = app.add_subcommand(
      "cancel",
      "Cancel a turn, a session's running turn, a project's turns or all; exit code 1: a "
      "turn has not ended yet, and the cancel goes on");
  cancel->add_option("-t,--turn", options.turn, "This turn, running or queued");
  cancel->add_option("-s,--session", options.session, "The running turn of this session");
  cancel->add_option("-p,--project", options.project, "Every turn of this project");
  cancel->add_flag("--all", options.everything, "Every turn");
  cancel->add_flag("--queued", options.include_queued, "With --session: the queued turns too");
  cancel->add_flag("--now", options.now, "Kill the agent at once instead of letting it confirm");
  cancel->add_option("--reason", options.reason, "Kept with the turn");
  cancel->callback([&line] { line.run = [&line] { return Cancel(line.settings, line.cancel); }; });
}

void AddSessionCommands(CLI::App& app, CommandLine& line) {
  CLI::App* close =
      app.add_subcommand("close", "Stop a session's agent; the next chat resumes the session");
  CLI::App* remove = app.add_subcommand("delete", "Forget a session and its history");
  for (CLI::App* command : {close, remove}) {
    command->add_option("session", line.session, "The session")->required();
    command->add_flag("--force", line.force, "Cancel its turns first");
  }
  close->callback([&line] {
    line.run = [&line] { return CloseSession(line.settings, line.session, line.force); };
  });
  remove->callback([&line] {
    line.run = [&line] { return DeleteSession(line.settings, line.session, line.force); };
  });

  CLI::App* respond = app.add_subcommand("respond", "Answer a question of an agent");
  respond->add_option("session", line.respond.session, "The session")->required();
  respond->add_option("question", line.respond.question, "The question")->required();
  CLI::Option* option = respond->add_option(
      "option", line.respond.option, "One of its options; without it the question is cancelled");
  CLI::Option* accept =
      respond
          ->add_option("--accept", line.respond.accept,
                       "Of an elicitation: the form's content as JSON; of a page \"{}\"")
          ->excludes(option);
  respond->add_flag("--decline", line.respond.decline, "Of an elicitation: decline it")
      ->excludes(option)
      ->excludes(accept);
  respond->add_option("--comment", line.respond.comment, "Kept with the answer");
  respond->callback(
      [&line] { line.run = [&line] { return Respond(line.settings, line.respond); }; });
}

void AddLists(CLI::App& app, CommandLine& line) {
  CLI::App* sessions = app.add_subcommand("sessions", "List the sessions, newest first");
  sessions->add_option("-p,--project", line.project, "Only those of this project");
  sessions->add_flag(
      "--agent-side", line.agent_side,
      "Those that an agent itself knows; chat --session ID --cwd FOLDER picks one up");
  sessions->add_option("-a,--agent", line.agent,
                       "With --agent-side: this agent; without it the default one");
  sessions->add_option("--cwd", line.cwd, "With --agent-side: only those of this folder");
  sessions->callback([&line] {
    line.run = [&line] {
      return line.agent_side ? ListAgentSessions(line.settings, line.agent, line.cwd)
                             : ListSessions(line.settings, line.project);
    };
  });

  CLI::App* agents = app.add_subcommand("agents", "List the configured agents");
  agents->add_option("--probe", line.probe, "Start this one once and show what it says of itself");
  agents->callback([&line] {
    line.run = [&line] {
      return line.probe.empty() ? ListAgents(line.settings) : ProbeAgent(line.settings, line.probe);
    };
  });
}

void AddOperation(CLI::App& app, CommandLine& line) {
  CLI::App* info = app.add_subcommand("info", "Show what acpd is doing, and its limits");
  info->callback([&line] { line.run = [&line] { return ShowInfo(line.settings); }; });

  CLI::App* drain = app.add_subcommand(
      "drain",
      "Have acpd take no new turns, and wait until none is left; exit code 1: some are. Draining "
      "goes on until `drain --off` or a restart");
  drain->add_flag("--off", line.off, "Take new turns again");
  drain->callback([&line] { line.run = [&line] { return Drain(line.settings, line.off); }; });

  CLI::App* stop =
      app.add_subcommand("stop",
                         "Stop acpd; its agents live on for the next one where the config's "
                         "shutdown.workers is \"keep\"");
  stop->add_flag("--workers", line.workers, "End all agents and their turns too");
  stop->callback(
      [&line] { line.run = [&line] { return StopDaemon(line.settings, line.workers); }; });

  CLI::App* wire_log = app.add_subcommand(
      "wirelog", "Write a session's traffic with its agent to acpd's log, keys hidden");
  wire_log->add_option("session", line.session, "The session")->required();
  wire_log->add_flag("--off", line.off, "No longer");
  wire_log->callback([&line] {
    line.run = [&line] { return SetWireLog(line.settings, line.session, line.off); };
  });
}

void AddChanges(CLI::App& app, CommandLine& line) {
  CLI::App* set = app.add_subcommand(
      "set", "Change a session's mode, options or title; without any, show what there is");
  set->add_option("session", line.set.session, "The session")->required();
  set->add_option("--mode", line.set.mode, "Its mode, as the agent names it");
  set->add_option("--option", line.set.values, "One of the agent's options, as ID=VALUE");
  CLI::Option* title = set->add_option("--title", line.title, "Its title");
  set->callback([&line, title] {
    if (title->count() > 0) line.set.title = line.title;
    line.run = [&line] { return SetOptions(line.settings, line.set); };
  });

  CLI::App* fork = app.add_subcommand(
      "fork", "Copy a session with its context, where the agent can, and print the copy's id");
  fork->add_option("session", line.session, "The session")->required();
  fork->callback(
      [&line] { line.run = [&line] { return ForkSession(line.settings, line.session); }; });
}

void AddLogins(CLI::App& app, CommandLine& line) {
  CLI::App* login = app.add_subcommand(
      "login",
      "Log an agent in; a login in a terminal has to be made on acpd's machine, as its user");
  CLI::App* logout = app.add_subcommand("logout", "Log an agent out");
  for (CLI::App* command : {login, logout})
    command->add_option("agent", line.agent, "The agent")->required();
  login->add_option("--method", line.method, "How; without it, show the ways there are");
  login->callback([&line] {
    line.run = [&line] { return LoginAgent(line.settings, line.agent, line.method); };
  });
  logout->callback(
      [&line] { line.run = [&line] { return LogoutAgent(line.settings, line.agent); }; });
}

// What was to be printed and got lost is no success.
int CheckOutput(int code) {
  if (OutputIsGood()) return code;
  std::fprintf(stderr, "acpctl: the output could not be written\n");
  return code == kOk ? kOutputLost : code;
}

}  // namespace

int RunCommandLine(int argc, const char* const* argv) {
  CommandLine line;
  const char* address = std::getenv("ACPD_ADDRESS");
  line.settings.address = address && *address ? address : "127.0.0.1:7420";
  CLI::App app("Talks to acpd, the daemon that runs AI coding agents", "acpctl");
  app.set_version_flag("--version", ACPD_VERSION);
  app.add_option("--address", line.settings.address,
                 "Where acpd listens: host:port or unix:/path (ACPD_ADDRESS)")
      ->capture_default_str()
      ->check([](const std::string& text) {
        return text.empty() ? "it is empty; say host:port or unix:/path" : std::string();
      });
  app.add_flag("--json", line.settings.json, "One JSON object a line, with the API's field names");
  app.add_option(
         "--timeout", line.settings.timeout_s,
         "Seconds that acpd has for an answer; without it 30, 120 where agents are started "
         "or stopped, a day for drain. Not for chat and watch, which follow the work to its end")
      ->check(CLI::Range(1, 24 * 3600));
  app.require_subcommand(1);
  app.fallthrough();
  app.footer(kFooter);
  AddChat(app, line);
  AddWatch(app, line);
  AddHistory(app, line);
  AddCancel(app, line);
  AddLists(app, line);
  AddSessionCommands(app, line);
  AddChanges(app, line);
  AddLogins(app, line);
  AddOperation(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return CheckOutput(app.exit(error) == 0 ? kOk : kUsage);
  }
  return CheckOutput(line.run());
}

}  // namespace acpd::cli
