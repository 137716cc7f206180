// One change of a session that a caller asks for: its title, its labels, its mode or a config
// option; the last two at the agent, or kept for its next start
// (https://agentclientprotocol.com/protocol/session-config-options, session-modes).
#include <utility>

#include "session/errors.h"
#include "session/option_values.h"
#include "session/session.h"

namespace acpd::session {
namespace {

using acp::ConfigOption;
using acp::OptionValue;

}  // namespace

// Asks the agent for a change; `result` is what it answers.
awaitable<absl::Status> Session::AskChange(uint64_t id, std::string line, std::string what,
                                           std::string* result) {
  const std::shared_ptr<AgentWorker> worker = worker_;
  const SteadyTime deadline = SetupDeadline();
  AgentAnswer answer = co_await worker->Call(id, std::move(line), deadline);
  switch (answer.kind) {
    case AgentAnswer::Kind::kResult:
      *result = std::move(answer.result);
      co_return absl::OkStatus();
    case AgentAnswer::Kind::kTimedOut:
      co_return MakeError("START_TIMEOUT",
                          "The agent did not answer in session_setup_timeout "
                          "whether it takes " +
                              what + "; try again.");
    case AgentAnswer::Kind::kExited:
    case AgentAnswer::Kind::kLost:
      co_return MakeError("AGENT_EXITED",
                          "The agent ended before it had taken " + what + "; try again.");
    case AgentAnswer::Kind::kError:
      break;
  }
  if (answer.error.code == acp::kAuthRequired) co_return LoginWanted(answer.error.message);
  co_return MakeError("NOT_SUPPORTED_BY_AGENT",
                      "The agent refused " + what + ": " + answer.error.message +
                          (answer.error.data.empty() ? "" : " " + answer.error.data));
}

awaitable<absl::Status> Session::SetMode(std::string mode_id, acp::TraceContext trace) {
  if (const ConfigOption* option = ModeOption(row_.options)) {
    OptionValue value;
    value.config_id = option->id;
    value.select = mode_id;
    const absl::Status status = co_await SetOption(std::move(value), std::move(trace));
    if (status.ok()) WantMode(mode_id);
    co_return status;
  }
  const absl::Status offered = CheckMode(row_.modes, mode_id);
  if (!offered.ok()) co_return offered;
  const std::shared_ptr<AgentWorker> worker = worker_;
  if (!worker) co_return MakeError("AGENT_EXITED", "The agent has ended; try again.");
  const uint64_t id = worker->NextId();
  std::string line = acp::SetModeLine(id, row_.agent_session_id, mode_id, trace);
  std::string result;
  const absl::Status status =
      co_await AskChange(id, std::move(line), "the mode \"" + mode_id + "\"", &result);
  if (!status.ok()) co_return status;
  row_.wanted_mode = mode_id;
  SetCurrentMode(mode_id);
  co_return absl::OkStatus();
}

awaitable<absl::Status> Session::SetOption(OptionValue value, acp::TraceContext trace) {
  const absl::Status offered = CheckOffered(row_.options, value);
  if (!offered.ok()) co_return offered;
  const std::shared_ptr<AgentWorker> worker = worker_;
  if (!worker) co_return MakeError("AGENT_EXITED", "The agent has ended; try again.");
  const bool legacy = FindOption(row_.options, value.config_id)->legacy_model;
  const uint64_t id = worker->NextId();
  std::string line = legacy ? acp::SetModelLine(id, row_.agent_session_id, value.select, trace)
                            : acp::SetConfigOptionLine(id, row_.agent_session_id, value, trace);
  const std::string what = Words(value) + " for its option \"" + value.config_id + "\"";
  std::string result;
  const absl::Status status = co_await AskChange(id, std::move(line), what, &result);
  if (!status.ok()) co_return status;
  Want(value, row_.wanted_options);
  std::vector<ConfigOption> options = acp::ReadConfigOptions(acp::ConfigOptionsIn(result));
  options_told_ |= !options.empty();
  // Some agents do not send the complete state that ACP wants.
  if (options.empty()) options = WithValue(row_.options, value);
  SetOptions(std::move(options));
  co_return absl::OkStatus();
}

// Without a worker the value is only checked against what the agent last offered.
absl::Status Session::KeepForLater(const SessionChange& change) {
  if (change.mode_id) {
    absl::Status offered;
    if (const ConfigOption* option = ModeOption(row_.options)) {
      offered = CheckOffered(row_.options, {option->id, false, false, *change.mode_id});
    } else if (!row_.modes.empty()) {
      offered = CheckMode(row_.modes, *change.mode_id);
    }
    if (!offered.ok()) return offered;
    WantMode(*change.mode_id);
    row_.mode_id = *change.mode_id;
    Announce({"mode_id"}, changing_for_);
    return absl::OkStatus();
  }
  if (!row_.options.empty()) {
    const absl::Status offered = CheckOffered(row_.options, *change.option);
    if (!offered.ok()) return offered;
  }
  Want(*change.option, row_.wanted_options);
  SetOptions(WithValue(row_.options, *change.option));
  return absl::OkStatus();
}

awaitable<absl::Status> Session::Change(SessionChange change, std::string principal) {
  const auto self = shared_from_this();
  if (change.title) {
    row_.title = *change.title;
    Announce({"title"}, principal);
  } else if (change.labels) {
    row_.labels = *change.labels;
    Announce({"labels"}, principal);
  }
  if (change.title || change.labels) {
    recorder_.Flush();
    co_return absl::OkStatus();
  }
  // What a set-up applies is not changed under its hands; and one change after the other.
  const SteadyTime deadline = SetupDeadline();
  while (setting_up_ || closing_ || held_back_ || changing_) {
    const bool notified = co_await changed_.Wait(deadline);
    if (!notified) {
      co_return MakeError("START_TIMEOUT",
                          "The session is still being set up; send the call again.");
    }
  }
  absl::Status status = CheckStands();
  if (!status.ok()) co_return status;
  changing_ = true;
  changing_for_ = principal;
  if (!worker_ || !worker_->alive()) {
    status = KeepForLater(change);
  } else if (change.mode_id) {
    status = co_await SetMode(*change.mode_id, change.trace);
  } else {
    status = co_await SetOption(*change.option, change.trace);
  }
  changing_ = false;
  changing_for_.clear();
  changed_.Notify();
  const absl::Status stands = CheckStands();
  if (!stands.ok()) co_return stands;
  RecordRow();
  recorder_.Flush();
  co_return status;
}

// Nothing more is logged to a session that was replaced or deleted.
absl::Status Session::CheckStands() const {
  if (row_.deleted) {
    return MakeError("SESSION_NOT_FOUND", "The session was deleted meanwhile; use another one.");
  }
  if (row_.replaced_by.empty()) return absl::OkStatus();
  return MakeError("SESSION_REPLACED", "The session was replaced by " + row_.replaced_by +
                                           " meanwhile; send the call there.");
}

}  // namespace acpd::session
