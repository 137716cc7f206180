#include "cli/command_line.h"

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "cli/command_line_parts.h"
#include "cli/text.h"

namespace acpd::cli {
namespace {

constexpr char kFooter[] =
    "`acpctl COMMAND --help` has examples.\n"
    "Exit codes: 0 done, 1 the turn did not complete (cancel, drain: a turn has not ended yet;\n"
    "stop: acpd has not gone yet; login: it did not work), 2 bad arguments, 3 acpd refused the "
    "call, 4 acpd cannot be\n"
    "reached, does not answer or is stopping, 5 the output could not be written, 130 the turn was\n"
    "cancelled.\n"
    "Of chat, watch and history, the agent's text goes to stdout, everything else to stderr.";

void AddCommon(CLI::App& app, Settings& settings) {
  app.add_option("--address", settings.address,
                 "Where acpd listens: host:port or unix:/path (ACPD_ADDRESS)")
      ->capture_default_str()
      ->check([](const std::string& text) {
        return text.empty() ? "it is empty; say host:port or unix:/path" : std::string();
      });
  app.add_flag("--json", settings.json, "One JSON object a line, with the API's field names");
  app.add_option(
         "--timeout", settings.timeout_s,
         "Seconds that acpd has for an answer; without it 30, 120 where agents are started "
         "or stopped, 720 for logins, a day for drain. Not for chat and watch, which follow the "
         "work to its end")
      ->check(CLI::Range(1, 24 * 3600));
}

// What cannot be sent, as API fields are UTF-8.
bool ArgumentsAreText(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    if (IsUtf8(argv[i])) continue;
    std::fprintf(stderr, "acpctl: argument %d is no text in UTF-8\n", i);
    return false;
  }
  return true;
}

// What was to be printed and got lost is no success.
int CheckOutput(int code) {
  if (OutputIsGood()) return code;
  std::fprintf(stderr, "acpctl: the output could not be written\n");
  return code == kOk ? kOutputLost : code;
}

}  // namespace

CLI::Option* Filled(CLI::Option* option) {
  return option->check([](const std::string& text) {
    return text.empty() ? "it is empty; give a value or leave it out" : std::string();
  });
}

CLI::Option* Repeatable(CLI::Option* option) { return Filled(option->allow_extra_args(false)); }

CLI::Option* IdValues(CLI::Option* option) {
  return option->type_name("ID=VALUE")->allow_extra_args(false)->check([](const std::string& text) {
    const size_t equals = text.find('=');
    const bool good = equals != std::string::npos && equals > 0;
    return good ? std::string() : "\"" + text + "\" is no ID=VALUE, such as model=opus";
  });
}

int RunCommandLine(int argc, const char* const* argv) {
  if (!ArgumentsAreText(argc, argv)) return kUsage;
  CommandLine line;
  const char* address = std::getenv("ACPD_ADDRESS");
  line.settings.address = address && *address ? address : "127.0.0.1:7420";
  CLI::App app("Talks to acpd, the daemon that runs AI coding agents", "acpctl");
  app.set_version_flag("--version", ACPD_VERSION);
  AddCommon(app, line.settings);
  app.require_subcommand(1);
  app.fallthrough();
  app.footer(kFooter);
  AddTurnCommands(app, line);
  AddSessionCommands(app, line);
  AddOperationCommands(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return CheckOutput(app.exit(error) == 0 ? kOk : kUsage);
  }
  return CheckOutput(line.run());
}

}  // namespace acpd::cli
