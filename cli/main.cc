// acpctl: acpd at the command line.
#include <cstdio>
#include <cstdlib>

#include "cli/commands.h"

namespace {

constexpr char kFooter[] =
    "Exit codes: 0 done, 1 the turn did not complete, 2 bad arguments, 3 acpd refused the call,\n"
    "4 acpd cannot be reached, 130 the turn was cancelled.\n"
    "The agent's text goes to stdout, everything else to stderr.";

}  // namespace

int main(int argc, char** argv) {
  acpd::cli::Settings settings;
  const char* address = std::getenv("ACPD_ADDRESS");
  settings.address = address && *address ? address : "127.0.0.1:7420";
  acpd::cli::Run run;

  CLI::App app("Talks to acpd, the daemon that runs AI coding agents", "acpctl");
  app.set_version_flag("--version", ACPD_VERSION);
  app.add_option("--address", settings.address, "Where acpd listens: host:port or unix:/path (ACPD_ADDRESS)")
      ->capture_default_str();
  app.add_flag("--json", settings.json, "One JSON object a line, with the API's field names");
  app.require_subcommand(1);
  app.fallthrough();
  app.footer(kFooter);
  acpd::cli::AddChat(app, settings, &run);
  acpd::cli::AddWatch(app, settings, &run);
  acpd::cli::AddCancel(app, settings, &run);
  acpd::cli::AddLists(app, settings, &run);
  acpd::cli::AddSessionCommands(app, settings, &run);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? acpd::cli::kOk : acpd::cli::kUsage;
  }
  return run();
}
