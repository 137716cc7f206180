#include <cstdio>
#include <memory>
#include <string>

#include "cli/commands.h"

namespace acpd::cli {
namespace {

// Stopping an agent takes its grace, three times at the worst.
constexpr std::chrono::seconds kStopCall{120};

struct CancelOptions {
  std::string session, project, turn, reason;
  bool everything = false;
  bool include_queued = false;
  bool now = false;
};

int Cancel(const Settings& settings, const CancelOptions& options) {
  acpd::v1::CancelRequest request;
  request.set_session_id(options.session);
  request.set_project_id(options.project);
  request.set_turn_id(options.turn);
  request.set_everything(options.everything);
  request.set_include_queued(options.include_queued);
  request.set_reason(options.reason);
  if (options.now) request.mutable_grace();
  acpd::v1::CancelResponse response;
  const auto stub = Connect(settings);
  const auto context = NewContext(kStopCall);
  const int code = Report(stub->Cancel(context.get(), request, &response), *context);
  if (code != kOk) return code;
  if (settings.json) {
    PrintJson(response);
    return kOk;
  }
  using acpd::v1::CancelResponse;
  for (const auto& turn : response.turns()) {
    std::printf("%s %s\n", turn.turn_id().c_str(), CancelResponse::Outcome_Name(turn.outcome()).c_str());
  }
  if (response.turns().empty()) std::printf("%s\n", CancelResponse::Outcome_Name(response.outcome()).c_str());
  return kOk;
}

int Close(const Settings& settings, const std::string& session_id, bool force) {
  acpd::v1::CloseSessionRequest request;
  request.set_session_id(session_id);
  request.set_force(force);
  acpd::v1::Session session;
  const auto stub = Connect(settings);
  const auto context = NewContext(kStopCall);
  const int code = Report(stub->CloseSession(context.get(), request, &session), *context);
  if (code == kOk && settings.json) PrintJson(session);
  return code;
}

int Delete(const Settings& settings, const std::string& session_id, bool force) {
  acpd::v1::DeleteSessionRequest request;
  request.set_session_id(session_id);
  request.set_force(force);
  acpd::v1::DeleteSessionResponse response;
  const auto stub = Connect(settings);
  const auto context = NewContext(kStopCall);
  return Report(stub->DeleteSession(context.get(), request, &response), *context);
}

struct RespondOptions {
  std::string session, question, option, comment;
};

int Respond(const Settings& settings, const RespondOptions& options) {
  acpd::v1::RespondRequest request;
  request.set_session_id(options.session);
  request.set_question_id(options.question);
  request.set_option_id(options.option);
  if (options.option.empty()) request.set_cancelled(true);
  request.set_comment(options.comment);
  acpd::v1::RespondResponse response;
  const auto stub = Connect(settings);
  const auto context = NewContext(kShortCall);
  const int code = Report(stub->Respond(context.get(), request, &response), *context);
  if (code == kOk && settings.json) PrintJson(response);
  return code;
}

}  // namespace

void AddCancel(CLI::App& app, const Settings& settings, Run* run) {
  const auto options = std::make_shared<CancelOptions>();
  CLI::App* cancel = app.add_subcommand("cancel", "Cancel a turn, a session's running turn, a project's turns or all");
  cancel->add_option("-t,--turn", options->turn, "This turn, running or queued");
  cancel->add_option("-s,--session", options->session, "The running turn of this session");
  cancel->add_option("-p,--project", options->project, "Every turn of this project");
  cancel->add_flag("--all", options->everything, "Every turn");
  cancel->add_flag("--queued", options->include_queued, "With --session: the queued turns too");
  cancel->add_flag("--now", options->now, "Kill the agent at once instead of letting it confirm");
  cancel->add_option("--reason", options->reason, "Kept with the turn");
  cancel->callback([options, &settings, run] { *run = [options, &settings] { return Cancel(settings, *options); }; });
}

void AddSessionCommands(CLI::App& app, const Settings& settings, Run* run) {
  const auto session_id = std::make_shared<std::string>();
  const auto force = std::make_shared<bool>(false);
  CLI::App* close = app.add_subcommand("close", "Stop a session's agent; the next chat resumes the session");
  close->add_option("session", *session_id, "The session")->required();
  close->add_flag("--force", *force, "Cancel its turns first");
  close->callback(
      [=, &settings] { *run = [=, &settings] { return Close(settings, *session_id, *force); }; });

  CLI::App* remove = app.add_subcommand("delete", "Forget a session and its history");
  remove->add_option("session", *session_id, "The session")->required();
  remove->add_flag("--force", *force, "Cancel its turns first");
  remove->callback(
      [=, &settings] { *run = [=, &settings] { return Delete(settings, *session_id, *force); }; });

  const auto answer = std::make_shared<RespondOptions>();
  CLI::App* respond = app.add_subcommand("respond", "Answer a question of an agent");
  respond->add_option("session", answer->session, "The session")->required();
  respond->add_option("question", answer->question, "The question")->required();
  respond->add_option("option", answer->option, "One of its options; without it the question is cancelled");
  respond->add_option("--comment", answer->comment, "Kept with the answer");
  respond->callback([=, &settings] { *run = [=, &settings] { return Respond(settings, *answer); }; });
}

}  // namespace acpd::cli
