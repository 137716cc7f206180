#include <algorithm>
#include <cstdio>
#include <string>

#include "cli/commands.h"
#include "cli/event_printer.h"
#include "cli/open_questions.h"

namespace acpd::cli {
namespace {

// False: not exactly one scope is given.
bool SetScope(const WatchOptions& options, acpd::v1::SubscribeProgressRequest* request) {
  if (!options.session.empty()) request->set_session_id(options.session);
  if (!options.project.empty()) request->set_project_id(options.project);
  if (options.everything) request->set_everything(true);
  return !options.session.empty() + !options.project.empty() + options.everything == 1;
}

std::string ScopeArguments(const WatchOptions& options) {
  if (options.everything) return "--all";
  return options.session.empty() ? "--project " + options.project : "--session " + options.session;
}

}  // namespace

void PrintHowToGoOn(const Settings& settings, const grpc::Status& status,
                    const WatchOptions& options, uint64_t position) {
  if (settings.json || status.error_code() != grpc::StatusCode::UNAVAILABLE || position == 0)
    return;
  std::string command = "acpctl watch " + ScopeArguments(options);
  if (!options.until_turn.empty()) command += " --until-turn " + options.until_turn;
  for (const std::string& kind : options.kinds) command += " --kind " + kind;
  std::fprintf(stderr, "what follows, when acpd is back: %s --after %llu\n", command.c_str(),
               static_cast<unsigned long long>(position));
}

int Watch(const Settings& settings, const WatchOptions& options) {
  acpd::v1::SubscribeProgressRequest request;
  if (!SetScope(options, &request)) {
    std::fprintf(stderr, "acpctl: watch wants one of --session, --project and --all\n");
    return kUsage;
  }
  if (options.from_start || options.after) request.set_after_position(options.after.value_or(0));
  request.set_replay_only(options.replay_only);
  request.set_until_turn_id(options.until_turn);
  for (const std::string& kind : options.kinds) request.add_update_kinds(kind);
  const auto stub = Connect(settings);
  grpc::ClientContext context;
  const auto stream = stub->SubscribeProgress(&context, request);
  EventPrinter printer(settings, options.session.empty() ? EventPrinter::Scope::kSessions
                                                         : EventPrinter::Scope::kSession);
  OpenQuestions questions;
  acpd::v1::ProgressEvent event;
  uint64_t position = 0;
  while (OutputIsGood() && stream->Read(&event)) {
    position = std::max(position, event.position());
    printer.Print(event);
    questions.See(event);
    while (const auto question = questions.Take()) printer.PrintHowToAnswer(*question);
  }
  printer.EndText();
  if (OutputIsGood()) {
    const grpc::Status status = stream->Finish();
    const int code = Report(status, context);
    PrintHowToGoOn(settings, status, options, position);
    return code;
  }
  context.TryCancel();
  stream->Finish();
  return kOutputLost;
}

}  // namespace acpd::cli
