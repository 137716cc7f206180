#include <cstdio>
#include <string>

#include "cli/commands.h"
#include "cli/event_printer.h"

namespace acpd::cli {
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
  if (options.from_start || options.after) request.set_after_position(options.after.value_or(0));
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

}  // namespace acpd::cli
