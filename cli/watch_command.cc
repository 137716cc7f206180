#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/event_printer.h"

namespace acpd::cli {
namespace {

struct WatchOptions {
  std::string session, project;
  bool everything = false;
  bool from_start = false;
  bool replay_only = false;
  uint64_t after = 0;
  bool has_after = false;
  std::string until_turn;
  std::vector<std::string> kinds;
};

int Watch(const Settings& settings, const WatchOptions& options) {
  acpd::v1::SubscribeProgressRequest request;
  if (!options.session.empty()) {
    request.set_session_id(options.session);
  } else if (!options.project.empty()) {
    request.set_project_id(options.project);
  } else if (options.everything) {
    request.set_everything(true);
  } else {
    std::fprintf(stderr, "acpctl: watch wants --session, --project or --all\n");
    return kUsage;
  }
  if (options.from_start || options.has_after) request.set_after_position(options.after);
  request.set_replay_only(options.replay_only);
  request.set_until_turn_id(options.until_turn);
  for (const std::string& kind : options.kinds) request.add_update_kinds(kind);
  const auto stub = Connect(settings);
  grpc::ClientContext context;
  const auto stream = stub->SubscribeProgress(&context, request);
  EventPrinter printer(settings.json, options.session.empty());
  acpd::v1::ProgressEvent event;
  while (stream->Read(&event)) printer.Print(event);
  printer.EndText();
  return Report(stream->Finish(), context);
}

}  // namespace

void AddWatch(CLI::App& app, const Settings& settings, Run* run) {
  const auto options = std::make_shared<WatchOptions>();
  CLI::App* watch = app.add_subcommand("watch", "Show the events of a session, a project or everything as they come");
  watch->add_option("-s,--session", options->session, "This session");
  watch->add_option("-p,--project", options->project, "All sessions of this project");
  watch->add_flag("--all", options->everything, "All sessions");
  watch->add_flag("--from-start", options->from_start, "The stored past first");
  CLI::Option* after =
      watch->add_option("--after", options->after, "Only events behind this position (the cursor to keep)");
  watch->add_flag("--replay-only", options->replay_only, "End when the past has been shown");
  watch->add_option("--until-turn", options->until_turn, "End after this turn's end");
  watch->add_option("--kind", options->kinds, "Of the agent's updates only these ACP kinds");
  watch->callback([options, after, &settings, run] {
    options->has_after = after->count() > 0;
    *run = [options, &settings] { return Watch(settings, *options); };
  });
}

}  // namespace acpd::cli
