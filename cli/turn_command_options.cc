// How chat, watch, history, cancel and respond are read from the command line.
#include "cli/command_line_parts.h"

namespace acpd::cli {
namespace {

// More words than a command line can have.
constexpr int kMostWords = 1 << 24;

constexpr char kChatExamples[] =
    "Examples:\n"
    "  acpctl chat -p shop \"fix the door\"             a new session of the project shop\n"
    "  acpctl chat -s SESSION \"and the window\"        goes on in a session\n"
    "  acpctl chat -f plan.png --link src \"build it\"  with a file's contents and a link\n"
    "  acpctl chat --mode plan --model opus \"how?\"    `acpctl set SESSION` shows what there is\n"
    "At a terminal it asks what the agent asks; elsewhere it names the command that answers.\n"
    "Exit codes: see acpctl --help.";
constexpr char kWatchExamples[] =
    "Examples:\n"
    "  acpctl watch --all\n"
    "  acpctl watch -s SESSION --from-start --replay-only";
constexpr char kHistoryExamples[] =
    "Examples:\n"
    "  acpctl history SESSION\n"
    "  acpctl history SESSION --last 20\n"
    "  acpctl history SESSION --kind tool_call --kind tool_call_update\n"
    "  acpctl --json history SESSION --raw";
constexpr char kCancelExamples[] =
    "Examples:\n"
    "  acpctl cancel -t TURN\n"
    "  acpctl cancel -s SESSION --queued\n"
    "  acpctl cancel --all --now";
constexpr char kRespondExamples[] =
    "Examples:\n"
    "  acpctl respond SESSION QUESTION allow                       a permission: one of its "
    "options\n"
    "  acpctl respond SESSION QUESTION --accept '{\"colour\":\"red\"}'  a form\n"
    "  acpctl respond SESSION QUESTION --accept '{}'               a page: it was opened\n"
    "  acpctl respond SESSION QUESTION --decline\n"
    "  acpctl respond SESSION QUESTION                             cancels the question";

// Verbatim. Where an option may have any number of values CLI11 takes "[a,b]" as several of them;
// so it is told a number, and that fewer will do.
CLI::Option* AddPrompt(CLI::App& chat, std::string* prompt) {
  const auto join = [prompt](const CLI::results_t& words) {
    prompt->clear();
    for (size_t i = 0; i < words.size(); ++i) *prompt += (i == 0 ? "" : " ") + words[i];
    return true;
  };
  return chat
      .add_option("prompt", join,
                  "The prompt; several words are joined by spaces. Needed where no file is added")
      ->option_text("TEXT ...")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->expected(kMostWords, CLI::detail::expected_max_vector_size);
}

void AddPlace(CLI::App& chat, ChatOptions& options) {
  Filled(chat.add_option("-p,--project", options.project, "The project"))->capture_default_str();
  Filled(chat.add_option("-s,--session", options.session,
                         "Continue this session; without it a new one is made"));
  Filled(chat.add_option("-a,--agent", options.agent,
                         "The agent; without it the session's, else the default one"));
  Filled(chat.add_option("--cwd", options.cwd,
                         "The folder the agent works in, on acpd's machine; without it the "
                         "project's. A relative one is taken from here"))
      ->type_name("FOLDER");
}

void AddContent(CLI::App& chat, ChatOptions& options) {
  Repeatable(chat.add_option("-f,--file", options.files,
                             "Add this file: images and sounds as such, others with their "
                             "contents; up to 30 MiB in all as sent (what is no text grows by a "
                             "third)"))
      ->type_name("FILE");
  Repeatable(chat.add_option("--link", options.links,
                             "Add a link to this file or folder, for the agent to look itself"))
      ->type_name("FILE");
}

void AddSettings(CLI::App& chat, ChatOptions& options) {
  Filled(chat.add_option("--mode", options.mode,
                         "The session's mode from this prompt on, as the agent names it"));
  Filled(chat.add_option("--model", options.model,
                         "The session's model from this prompt on, as the agent names it (its "
                         "option \"model\")"));
  IdValues(chat.add_option("--option", options.values,
                           "One of the agent's options from this prompt on, e.g. "
                           "thought_level=high"));
  Filled(chat.add_option("--provider-model", options.provider_model,
                         "The model, for agents whose config uses ${model.model}"));
  chat.add_option("--permissions", options.permissions,
                  "What happens to the agent's permission requests; without it what acpd's config "
                  "says")
      ->check(CLI::IsMember({"ask", "allow", "deny"}));
}

void AddChat(CLI::App& app, CommandLine& line) {
  ChatOptions& options = line.chat;
  CLI::App* chat =
      app.add_subcommand("chat", "Send a prompt and follow the turn; Ctrl-C cancels it");
  const CLI::Option* prompt = AddPrompt(*chat, &options.prompt);
  AddPlace(*chat, options);
  AddContent(*chat, options);
  AddSettings(*chat, options);
  Filled(chat->add_option("--request-id", options.request_id,
                          "The same id again attaches to the same turn"));
  CLI::Option* require = chat->add_flag("--require-resume", options.require_resume,
                                        "Fail rather than go on in a new session");
  chat->add_flag("--with-transcript", options.transcript,
                 "If the old context is lost, give the new session acpd's record of it")
      ->excludes(require);
  chat->add_flag("--interrupt", options.interrupt, "Cancel the session's running turn first");
  chat->footer(kChatExamples);
  chat->callback([&line, prompt] {
    const bool nothing = prompt->count() == 0 && line.chat.files.empty() && line.chat.links.empty();
    if (nothing) throw CLI::RequiredError("A prompt, --file or --link");
    line.run = [&line] { return Chat(line.settings, line.chat); };
  });
}

void AddWatch(CLI::App& app, CommandLine& line) {
  WatchOptions& options = line.watch;
  CLI::App* watch = app.add_subcommand(
      "watch", "Show the events of a session, a project or everything as they come");
  Filled(watch->add_option("-s,--session", options.session, "This session"));
  Filled(watch->add_option("-p,--project", options.project, "All sessions of this project"));
  watch->add_flag("--all", options.everything, "All sessions");
  watch->add_flag("--from-start", options.from_start, "The stored past first");
  watch->add_option("--after", options.after,
                    "Only events behind this position (the cursor to keep)");
  watch->add_flag("--replay-only", options.replay_only, "End when the past has been shown");
  Filled(watch->add_option("--until-turn", options.until_turn, "End after this turn's end"));
  Repeatable(watch->add_option("--kind", options.kinds,
                               "Of the agent's updates only these ACP kinds, e.g. tool_call"));
  watch->footer(kWatchExamples);
  watch->callback([&line] { line.run = [&line] { return Watch(line.settings, line.watch); }; });
}

void AddHistory(CLI::App& app, CommandLine& line) {
  HistoryOptions& options = line.history;
  CLI::App* history = app.add_subcommand("history", "Show what happened in a session, and end");
  Filled(
      history->add_option("session", options.session, "The session itself, not what replaced it"))
      ->required();
  history->add_option("--last", options.last, "Only so many events, the last ones")
      ->check(CLI::Range(1, 1'000'000));
  Repeatable(history->add_option("--kind", options.kinds,
                                 "Of the agent's updates only these ACP kinds, e.g. tool_call"));
  history->add_flag("--raw", options.raw,
                    "Each piece of a message as it came, instead of whole messages");
  history->footer(kHistoryExamples);
  history->callback(
      [&line] { line.run = [&line] { return ShowHistory(line.settings, line.history); }; });
}

void AddCancel(CLI::App& app, CommandLine& line) {
  CancelOptions& options = line.cancel;
  CLI::App* cancel = app.add_subcommand(
      "cancel",
      "Cancel a turn, a session's running turn, a project's turns or all; exit code 1: a "
      "turn has not ended yet, and the cancel goes on");
  Filled(cancel->add_option("-t,--turn", options.turn, "This turn, running or queued"));
  CLI::Option* session = Filled(
      cancel->add_option("-s,--session", options.session, "The running turn of this session"));
  Filled(cancel->add_option("-p,--project", options.project, "Every turn of this project"));
  cancel->add_flag("--all", options.everything, "Every turn");
  cancel->add_flag("--queued", options.include_queued, "With --session: the queued turns too")
      ->needs(session);
  cancel->add_flag("--now", options.now, "Kill the agent at once instead of letting it confirm");
  cancel->add_option("--reason", options.reason, "Kept with the turn");
  cancel->footer(kCancelExamples);
  cancel->callback([&line] { line.run = [&line] { return Cancel(line.settings, line.cancel); }; });
}

void AddRespond(CLI::App& app, CommandLine& line) {
  RespondOptions& options = line.respond;
  CLI::App* respond = app.add_subcommand("respond", "Answer a question of an agent");
  Filled(respond->add_option("session", options.session, "The session"))->required();
  Filled(respond->add_option("question", options.question, "The question"))->required();
  CLI::Option* option =
      Filled(respond->add_option("option", options.option,
                                 "Of a permission: one of its options; without any answer the "
                                 "question is cancelled"));
  CLI::Option* accept =
      Filled(respond->add_option("--accept", options.accept,
                                 "Of an elicitation: the form's content as JSON; of a page \"{}\""))
          ->excludes(option);
  respond->add_flag("--decline", options.decline, "Of an elicitation: decline it")
      ->excludes(option)
      ->excludes(accept);
  respond->add_option("--comment", options.comment, "Kept with the answer");
  respond->footer(kRespondExamples);
  respond->callback(
      [&line] { line.run = [&line] { return Respond(line.settings, line.respond); }; });
}

}  // namespace

void AddTurnCommands(CLI::App& app, CommandLine& line) {
  AddChat(app, line);
  AddWatch(app, line);
  AddHistory(app, line);
  AddCancel(app, line);
  AddRespond(app, line);
}

}  // namespace acpd::cli
