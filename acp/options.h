#ifndef ACPD_ACP_OPTIONS_H_
#define ACPD_ACP_OPTIONS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "acp/content.h"

// A session's modes and config options
// (https://agentclientprotocol.com/protocol/session-config-options, session-modes). No threads.
namespace acpd::acp {

struct ConfigOption {
  struct Choice {
    std::string value, name, description, group;
    bool operator==(const Choice&) const = default;
  };
  std::string id, name, description;
  std::string category;  // mode, model, model_config, thought_level, other, or the agent's own word
  bool is_boolean = false;
  bool boolean = false;         // its value, if is_boolean
  std::string select;           // its value otherwise
  std::vector<Choice> choices;  // of a select, groups flattened, in order
  // It stands for the `models` of an agent that still sends them (no part of ACP any more): it is
  // set by session/set_model.
  bool legacy_model = false;

  bool operator==(const ConfigOption&) const = default;
};

// A value that somebody wants.
struct OptionValue {
  std::string config_id;
  bool is_boolean = false;
  bool boolean = false;
  std::string select;

  bool operator==(const OptionValue&) const = default;
};

// `configOptions` of a set-up's answer, of config_option_update or of set_config_option's answer.
// Options of unknown type and those that cannot be read are left out; their order is kept.
std::vector<ConfigOption> ReadConfigOptions(std::string_view array_json);
// `configOptions` in an update or answer object; empty text: there are none in it.
std::string_view ConfigOptionsIn(std::string_view object_json);
// The option that stands for `models` {currentModelId, availableModels[{modelId, name,
// description}]} of a set-up's answer; without id: there are none.
ConfigOption ReadLegacyModels(std::string_view setup_result_json);
// `availableCommands` of available_commands_update, verbatim; empty: none.
std::string ReadAvailableCommands(std::string_view update_json);

std::string SetModeLine(uint64_t id, std::string_view session_id, std::string_view mode_id,
                        const TraceContext& trace = {});
std::string SetConfigOptionLine(uint64_t id, std::string_view session_id, const OptionValue& value,
                                const TraceContext& trace = {});
// session/set_model, which agents with `models` know.
std::string SetModelLine(uint64_t id, std::string_view session_id, std::string_view model_id,
                         const TraceContext& trace = {});

}  // namespace acpd::acp

#endif  // ACPD_ACP_OPTIONS_H_
