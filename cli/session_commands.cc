#include <algorithm>
#include <cstdio>
#include <string>

#include "cli/commands.h"

namespace acpd::cli {
namespace {

using acpd::v1::CancelResponse;

void PrintOutcomes(const CancelResponse& response) {
  for (const auto& turn : response.turns()) {
    std::printf("%s %s\n", turn.turn_id().c_str(),
                CancelResponse::Outcome_Name(turn.outcome()).c_str());
  }
  if (response.turns().empty())
    std::printf("%s\n", CancelResponse::Outcome_Name(response.outcome()).c_str());
}

// The outcome of all is PENDING only where none was cancelled.
bool IsPending(const CancelResponse& response) {
  const auto& turns = response.turns();
  return response.outcome() == CancelResponse::OUTCOME_PENDING ||
         std::any_of(turns.begin(), turns.end(), [](const CancelResponse::CancelledTurn& turn) {
           return turn.outcome() == CancelResponse::OUTCOME_PENDING;
         });
}

}  // namespace

int Cancel(const Settings& settings, const CancelOptions& options) {
  acpd::v1::CancelRequest request;
  request.set_session_id(options.session);
  request.set_project_id(options.project);
  request.set_turn_id(options.turn);
  request.set_everything(options.everything);
  request.set_include_queued(options.include_queued);
  request.set_reason(options.reason);
  if (options.now) request.mutable_grace();
  CancelResponse response;
  const auto stub = Connect(settings);
  const auto context = NewContext(settings, kStopCall);
  const int code = Report(stub->Cancel(context.get(), request, &response), *context);
  if (code != kOk) return code;
  if (settings.json) {
    PrintJson(response);
  } else {
    PrintOutcomes(response);
  }
  if (!IsPending(response)) return kOk;
  std::fprintf(stderr, "acpctl: not every turn has ended yet; the cancel goes on\n");
  return kTurnNotOk;
}

int CloseSession(const Settings& settings, const std::string& session_id, bool force) {
  acpd::v1::CloseSessionRequest request;
  request.set_session_id(session_id);
  request.set_force(force);
  acpd::v1::Session session;
  const auto stub = Connect(settings);
  const auto context = NewContext(settings, kStopCall);
  const int code = Report(stub->CloseSession(context.get(), request, &session), *context);
  if (code == kOk && settings.json) PrintJson(session);
  return code;
}

int DeleteSession(const Settings& settings, const std::string& session_id, bool force) {
  acpd::v1::DeleteSessionRequest request;
  request.set_session_id(session_id);
  request.set_force(force);
  acpd::v1::DeleteSessionResponse response;
  const auto stub = Connect(settings);
  const auto context = NewContext(settings, kStopCall);
  const int code = Report(stub->DeleteSession(context.get(), request, &response), *context);
  if (code == kOk && settings.json) PrintJson(response);
  return code;
}

int Respond(const Settings& settings, const RespondOptions& options) {
  acpd::v1::RespondRequest request;
  request.set_session_id(options.session);
  request.set_question_id(options.question);
  if (!options.option.empty()) {
    request.set_option_id(options.option);
  } else if (!options.accept.empty()) {
    request.set_accept_json(options.accept);
  } else {
    options.decline ? request.set_decline(true) : request.set_cancelled(true);
  }
  request.set_comment(options.comment);
  acpd::v1::RespondResponse response;
  const auto stub = Connect(settings);
  const auto context = NewContext(settings, kShortCall);
  const int code = Report(stub->Respond(context.get(), request, &response), *context);
  if (code == kOk && settings.json) PrintJson(response);
  return code;
}

}  // namespace acpd::cli
