// The session's mode and config options: what the agent says of them, what callers and the config
// want, and what is applied again after each set-up (how one is changed: session_change.cc;
// https://agentclientprotocol.com/protocol/session-config-options, session-modes).
#include <algorithm>
#include <utility>

#include "session/option_values.h"
#include "session/session.h"

namespace acpd::session {
namespace {

using acp::ConfigOption;
using acp::OptionValue;

constexpr size_t kMaxCommandsJson = 256u << 10;

}  // namespace

// An answer to session/resume or session/load may say nothing of them. Then the lists stay as they
// were, but what the new agent has chosen in them is not known, and what is wanted is set again.
void Session::TakeOptions(const acp::SetupResult& setup, bool resumed) {
  if (setup.tells_modes || !resumed) row_.modes = setup.modes;
  if (setup.tells_options || !resumed) row_.options = setup.options;
  mode_told_ = (resumed && mode_told_) || !setup.current_mode_id.empty();
  options_told_ = (resumed && options_told_) || setup.tells_options;
  if (!setup.current_mode_id.empty()) row_.mode_id = setup.current_mode_id;
  if (!mode_told_) row_.mode_id.clear();
  if (!setup.current_model_id.empty()) row_.model = setup.current_model_id;
}

bool Session::HasMode(const std::string& mode_id) const {
  return mode_told_ && mode_id == row_.mode_id;
}

bool Session::HasOption(const OptionValue& value) const {
  const ConfigOption* option = FindOption(row_.options, value.config_id);
  return options_told_ && option != nullptr && Has(*option, value);
}

// What there is after a set-up is the agent's default, and what is replayed was once.
bool Session::IsChoice() const { return !setting_up_ && (!replaying_ || changing_); }

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
  const ConfigOption* const mode = ModeOption(options);
  const ConfigOption* const model = ModelOption(options);
  for (const ConfigOption& option : options) {
    const ConfigOption* before = FindOption(row_.options, option.id);
    const bool chosen = before != nullptr && ValueOf(*before) != ValueOf(option) && IsChoice();
    if (chosen) Want(ValueOf(option), row_.wanted_options);
    if (&option == mode && row_.mode_id != option.select) {
      if (chosen) row_.wanted_mode = option.select;
      row_.mode_id = option.select;
      changed.push_back("mode_id");
    }
    if (&option == model && row_.model != option.select) {
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
  if (IsChoice()) WantMode(mode_id);
  mode_told_ = true;
  if (mode_id == row_.mode_id) return;
  row_.mode_id = mode_id;
  Announce({"mode_id"}, changing_for_);
}

// A mode that the agent itself leaves (a plan was approved, say) is left for good.
void Session::TakeOptionUpdate(const acp::UpdateView& update) {
  if (update.kind == "current_mode_update") {
    SetCurrentMode(acp::ReadCurrentMode(update.json));
  } else if (update.kind == "config_option_update") {
    const std::string_view list = acp::ConfigOptionsIn(update.json);
    if (list.empty()) return;
    options_told_ = true;
    SetOptions(acp::ReadConfigOptions(list));
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
  if (!mode_id.empty() && !HasMode(mode_id)) {
    const absl::Status status = co_await SetMode(mode_id, trace_);
    refused.push_back(status);
  }
  for (const OptionValue& value : values) {
    if (HasOption(value)) continue;
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
  if (!mode_id.empty() && !HasMode(mode_id)) {
    const absl::Status status = co_await SetMode(mode_id, trace_);
    if (!status.ok()) co_return status;
  }
  if (!mode_id.empty()) WantMode(mode_id);
  for (const OptionValue& value : turn->request.config_options) {
    if (!IsWanted(turn)) break;
    if (!HasOption(value)) {
      const absl::Status status = co_await SetOption(value, trace_);
      if (!status.ok()) co_return status;
    }
    Want(value, row_.wanted_options);
  }
  co_return absl::OkStatus();
}

}  // namespace acpd::session
