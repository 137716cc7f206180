// The session's mode and config options: what the agent says of them, what callers and the config
// want, and what is applied again after each set-up
// (https://agentclientprotocol.com/protocol/session-config-options, session-modes).
#include <algorithm>
#include <utility>

#include "acp/text.h"
#include "session/errors.h"
#include "session/session.h"

namespace acpd::session {
namespace {

using acp::ConfigOption;
using acp::OptionValue;
using std::chrono::steady_clock;

constexpr size_t kMaxCommandsJson = 256u << 10;

const ConfigOption* FindOption(const std::vector<ConfigOption>& options, std::string_view id) {
  const auto found = std::find_if(options.begin(), options.end(),
                                  [id](const ConfigOption& option) { return option.id == id; });
  return found == options.end() ? nullptr : &*found;
}

// The option that is the session's mode: it goes before the older `modes`.
const ConfigOption* ModeOption(const std::vector<ConfigOption>& options) {
  const auto found = std::find_if(options.begin(), options.end(), [](const ConfigOption& option) {
    return option.category == "mode" && !option.is_boolean;
  });
  return found == options.end() ? nullptr : &*found;
}

OptionValue ValueOf(const ConfigOption& option) {
  return {option.id, option.is_boolean, option.boolean, option.select};
}

bool Has(const ConfigOption& option, const OptionValue& value) {
  return option.is_boolean == value.is_boolean &&
         (value.is_boolean ? option.boolean == value.boolean : option.select == value.select);
}

bool IsOffered(const ConfigOption& option, const OptionValue& value) {
  if (option.is_boolean != value.is_boolean) return false;
  if (option.is_boolean || option.choices.empty()) return true;
  return std::any_of(
      option.choices.begin(), option.choices.end(),
      [&value](const ConfigOption::Choice& choice) { return choice.value == value.select; });
}

void Want(OptionValue value, std::vector<OptionValue>& wanted) {
  const auto same = std::find_if(wanted.begin(), wanted.end(), [&value](const OptionValue& other) {
    return other.config_id == value.config_id;
  });
  if (same == wanted.end()) {
    wanted.push_back(std::move(value));
  } else {
    *same = std::move(value);
  }
}

std::vector<ConfigOption> WithValue(std::vector<ConfigOption> options, const OptionValue& value) {
  for (ConfigOption& option : options) {
    if (option.id != value.config_id) continue;
    option.boolean = value.boolean;
    option.select = value.select;
  }
  return options;
}

std::string Words(const OptionValue& value) {
  if (value.is_boolean) return value.boolean ? "true" : "false";
  return "\"" + value.select + "\"";
}

std::string OfferedIds(const std::vector<ConfigOption>& options) {
  std::string ids;
  for (const ConfigOption& option : options) ids += (ids.empty() ? "" : ", ") + option.id;
  return ids.empty() ? "none" : std::string(CutText(ids, 512));
}

std::string OfferedValues(const ConfigOption& option) {
  if (option.is_boolean) return "true and false";
  std::string values;
  for (const auto& choice : option.choices) values += (values.empty() ? "" : ", ") + choice.value;
  return std::string(CutText(values, 512));
}

absl::Status NotSupported(const std::string& sentence) {
  return MakeError("NOT_SUPPORTED_BY_AGENT", sentence);
}

absl::Status CheckOffered(const std::vector<ConfigOption>& options, const OptionValue& value) {
  const ConfigOption* option = FindOption(options, value.config_id);
  if (option == nullptr) {
    return NotSupported("The agent has no option \"" + value.config_id +
                        "\"; it has: " + OfferedIds(options) + ".");
  }
  if (IsOffered(*option, value)) return absl::OkStatus();
  return NotSupported("The agent's option \"" + value.config_id + "\" cannot be " + Words(value) +
                      "; it offers: " + OfferedValues(*option) + ".");
}

absl::Status CheckMode(const std::vector<ModeView>& modes, const std::string& mode_id) {
  std::string ids;
  for (const ModeView& mode : modes) {
    if (mode.mode_id == mode_id) return absl::OkStatus();
    ids += (ids.empty() ? "" : ", ") + mode.mode_id;
  }
  return NotSupported("The agent has no mode \"" + mode_id + "\"; it has: " +
                      (ids.empty() ? "none" : std::string(CutText(ids, 512))) + ".");
}

}  // namespace

void Session::TakeOptions(const acp::SetupResult& setup) {
  modes_.clear();
  for (const acp::ModeInfo& mode : setup.modes)
    modes_.push_back({mode.id, mode.name, mode.description});
  row_.options = setup.options;
  if (!setup.current_mode_id.empty()) row_.mode_id = setup.current_mode_id;
  if (!setup.current_model_id.empty()) row_.model = setup.current_model_id;
}

void Session::SetOptions(std::vector<ConfigOption> options) {
  // The list is complete, but for the option that stands for `models`.
  const auto has_model =
      std::any_of(options.begin(), options.end(),
                  [](const ConfigOption& option) { return option.category == "model"; });
  for (const ConfigOption& before : row_.options) {
    if (before.legacy_model && !has_model) options.push_back(before);
  }
  std::vector<std::string> changed;
  if (options != row_.options) changed.push_back("config_options");
  for (const ConfigOption& option : options) {
    const ConfigOption* before = FindOption(row_.options, option.id);
    // What is there after a set-up is the agent's default, and nobody's choice.
    const bool chosen = before != nullptr && ValueOf(*before) != ValueOf(option) && !setting_up_;
    if (chosen) Want(ValueOf(option), row_.wanted_options);
    if (option.category == "mode" && !option.is_boolean && row_.mode_id != option.select) {
      if (chosen) row_.wanted_mode = option.select;
      row_.mode_id = option.select;
      changed.push_back("mode_id");
    }
    if (option.category == "model" && !option.is_boolean && row_.model != option.select) {
      row_.model = option.select;
      changed.push_back("model");
    }
  }
  row_.options = std::move(options);
  if (!changed.empty()) Announce(std::move(changed), changing_for_);
}

// A mode that is an option is wanted as one, too.
void Session::WantMode(const std::string& mode_id) {
  row_.wanted_mode = mode_id;
  if (const ConfigOption* option = ModeOption(row_.options))
    Want({option->id, false, false, mode_id}, row_.wanted_options);
}

void Session::SetCurrentMode(const std::string& mode_id) {
  if (mode_id.empty()) return;
  if (!setting_up_) WantMode(mode_id);
  if (mode_id == row_.mode_id) return;
  row_.mode_id = mode_id;
  Announce({"mode_id"}, changing_for_);
}

// A mode that the agent itself leaves (a plan was approved, say) is left for good.
void Session::TakeOptionUpdate(const acp::UpdateView& update) {
  if (update.kind == "current_mode_update") {
    SetCurrentMode(acp::ReadCurrentMode(update.json));
  } else if (update.kind == "config_option_update") {
    SetOptions(acp::ReadConfigOptions(acp::ConfigOptionsIn(update.json)));
  } else if (update.kind == "available_commands_update") {
    std::string commands = acp::ReadAvailableCommands(update.json);
    if (commands.size() > kMaxCommandsJson) commands.clear();
    if (commands == row_.commands_json) return;
    row_.commands_json = std::move(commands);
    Announce({"available_commands_json"}, "");
  }
}

void Session::Announce(std::vector<std::string> changed, const std::string& principal) {
  SessionChangedEvent event;
  event.session = View();
  event.changed = std::move(changed);
  event.principal = principal;
  recorder_.Append("", event);
  RecordRow();
}

void Session::WantConfigured() {
  const AgentDefinition* definition = agent();
  if (!definition) return;
  if (row_.wanted_mode.empty()) row_.wanted_mode = definition->initial_mode;
  for (const OptionValue& value : definition->config_options) {
    const bool wanted = std::any_of(
        row_.wanted_options.begin(), row_.wanted_options.end(),
        [&value](const OptionValue& other) { return other.config_id == value.config_id; });
    if (!wanted) row_.wanted_options.push_back(value);
  }
}

awaitable<void> Session::ApplyWanted() {
  const std::string mode_id = row_.wanted_mode;
  const std::vector<OptionValue> values = row_.wanted_options;
  std::vector<absl::Status> refused;
  if (!mode_id.empty() && mode_id != row_.mode_id) {
    const absl::Status status = co_await SetMode(mode_id, trace_);
    refused.push_back(status);
  }
  for (const OptionValue& value : values) {
    const ConfigOption* option = FindOption(row_.options, value.config_id);
    if (option != nullptr && Has(*option, value)) continue;
    const absl::Status status = co_await SetOption(value, trace_);
    refused.push_back(status);
  }
  for (const absl::Status& status : refused) {
    if (status.ok()) continue;
    OnNotice(Severity::kWarning, "OPTION_REFUSED",
             "What was set before could not be applied to the agent's session again. " +
                 std::string(status.message()));
  }
  // Where the agent refused them they are still wanted: the next start tries again.
  row_.wanted_mode = mode_id;
  row_.wanted_options = values;
}

awaitable<absl::Status> Session::ApplyAsked(TurnPtr turn) {
  const std::string mode_id = turn->request.mode_id;
  if (!mode_id.empty() && mode_id != row_.mode_id) {
    const absl::Status status = co_await SetMode(mode_id, trace_);
    if (!status.ok()) co_return status;
  }
  if (!mode_id.empty()) WantMode(mode_id);
  for (const OptionValue& value : turn->request.config_options) {
    if (!IsWanted(turn)) break;
    const ConfigOption* option = FindOption(row_.options, value.config_id);
    if (option == nullptr || !Has(*option, value)) {
      const absl::Status status = co_await SetOption(value, trace_);
      if (!status.ok()) co_return status;
    }
    Want(value, row_.wanted_options);
  }
  co_return absl::OkStatus();
}

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
  co_return NotSupported("The agent refused " + what + ": " + answer.error.message +
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
  const absl::Status offered = CheckMode(modes_, mode_id);
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
  // Some agents do not send the complete state that ACP wants.
  if (options.empty()) options = WithValue(row_.options, value);
  SetOptions(std::move(options));
  co_return absl::OkStatus();
}

// Without a worker the value is only checked against what the agent last offered.
absl::Status Session::KeepForLater(const SessionChange& change) {
  if (change.mode_id) {
    const ConfigOption* option = ModeOption(row_.options);
    if (option != nullptr) {
      const absl::Status offered =
          CheckOffered(row_.options, {option->id, false, false, *change.mode_id});
      if (!offered.ok()) return offered;
    }
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
