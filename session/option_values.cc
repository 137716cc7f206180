#include "session/option_values.h"

#include <algorithm>
#include <utility>

#include "acp/text.h"
#include "session/errors.h"

namespace acpd::session {
namespace {

using acp::ConfigOption;
using acp::OptionValue;

// An agent may make up options without end.
constexpr size_t kMostWanted = 256;

// Of several of one category the first counts.
const ConfigOption* FirstSelect(const std::vector<ConfigOption>& options,
                                std::string_view category) {
  const auto found =
      std::find_if(options.begin(), options.end(), [category](const ConfigOption& option) {
        return option.category == category && !option.is_boolean;
      });
  return found == options.end() ? nullptr : &*found;
}

bool OffersValue(const ConfigOption& option, const OptionValue& value) {
  if (option.is_boolean != value.is_boolean) return false;
  if (option.is_boolean || option.choices.empty()) return true;
  return std::any_of(
      option.choices.begin(), option.choices.end(),
      [&value](const ConfigOption::Choice& choice) { return choice.value == value.select; });
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

absl::Status NotOffered(const std::string& sentence) {
  return MakeError("NOT_SUPPORTED_BY_AGENT", sentence);
}

}  // namespace

const ConfigOption* FindOption(const std::vector<ConfigOption>& options, std::string_view id) {
  const auto found = std::find_if(options.begin(), options.end(),
                                  [id](const ConfigOption& option) { return option.id == id; });
  return found == options.end() ? nullptr : &*found;
}

const ConfigOption* ModeOption(const std::vector<ConfigOption>& options) {
  return FirstSelect(options, "mode");
}

const ConfigOption* ModelOption(const std::vector<ConfigOption>& options) {
  return FirstSelect(options, "model");
}

OptionValue ValueOf(const ConfigOption& option) {
  return {option.id, option.is_boolean, option.boolean, option.select};
}

bool Has(const ConfigOption& option, const OptionValue& value) {
  return option.is_boolean == value.is_boolean &&
         (value.is_boolean ? option.boolean == value.boolean : option.select == value.select);
}

void Want(OptionValue value, std::vector<OptionValue>& wanted) {
  const auto same = std::find_if(wanted.begin(), wanted.end(), [&value](const OptionValue& other) {
    return other.config_id == value.config_id;
  });
  if (same == wanted.end()) {
    if (wanted.size() >= kMostWanted) wanted.erase(wanted.begin());
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

absl::Status CheckOffered(const std::vector<ConfigOption>& options, const OptionValue& value) {
  const ConfigOption* option = FindOption(options, value.config_id);
  if (option == nullptr) {
    return NotOffered("The agent has no option \"" + value.config_id +
                      "\"; it has: " + OfferedIds(options) + ".");
  }
  if (OffersValue(*option, value)) return absl::OkStatus();
  return NotOffered("The agent's option \"" + value.config_id + "\" cannot be " + Words(value) +
                    "; it offers: " + OfferedValues(*option) + ".");
}

absl::Status CheckMode(const std::vector<acp::ModeInfo>& modes, const std::string& mode_id) {
  std::string ids;
  for (const acp::ModeInfo& mode : modes) {
    if (mode.id == mode_id) return absl::OkStatus();
    ids += (ids.empty() ? "" : ", ") + mode.id;
  }
  return NotOffered("The agent has no mode \"" + mode_id +
                    "\"; it has: " + (ids.empty() ? "none" : std::string(CutText(ids, 512))) + ".");
}

}  // namespace acpd::session
