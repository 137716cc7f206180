#include "acp/options.h"

#include "acp/field_reader.h"
#include "acp/json_value.h"
#include "acp/lines.h"

namespace acpd::acp {
namespace {

using Choice = ConfigOption::Choice;

void AddChoice(const JsonObject& object, std::string_view value_name, const std::string& group,
               std::vector<Choice>& choices) {
  std::optional<std::string> value = object.Get(value_name).String();
  if (!value) return;
  Choice choice;
  choice.name = object.StringOr("name", *value);
  choice.description = object.StringOr("description");
  choice.value = std::move(*value);
  choice.group = group;
  choices.push_back(std::move(choice));
}

// A list of choices, of groups of choices, or of both.
std::vector<Choice> ReadChoices(const JsonValue& list) {
  std::vector<Choice> choices;
  for (const JsonValue& item : list.Items()) {
    const JsonObject object = item.Members();
    const JsonValue of_group = object.Get("options");
    if (!of_group.IsArray()) {
      AddChoice(object, "value", "", choices);
      continue;
    }
    const std::string group = object.StringOr("name", object.StringOr("group"));
    for (const JsonValue& inner : of_group.Items()) {
      AddChoice(inner.Members(), "value", group, choices);
    }
  }
  return choices;
}

// The type and the value; false: it has none that we know. Agents that know only selects may leave
// their type out.
bool ReadValue(const JsonObject& object, ConfigOption& option) {
  const std::string type = object.StringOr("type", "select");
  const JsonValue current = object.Get("currentValue");
  if (type == "boolean") {
    const std::optional<bool> value = current.Bool();
    option.is_boolean = true;
    option.boolean = value.value_or(false);
    return value.has_value();
  }
  std::optional<std::string> value = current.String();
  if (type != "select" || !value) return false;
  option.select = std::move(*value);
  option.choices = ReadChoices(object.Get("options"));
  return true;
}

}  // namespace

std::vector<ConfigOption> ReadConfigOptions(std::string_view array_json) {
  std::vector<ConfigOption> options;
  const std::optional<JsonValue> array = JsonValue::Parse(array_json);
  if (!array) return options;
  for (const JsonValue& item : array->Items()) {
    const JsonObject object = item.Members();
    std::optional<std::string> id = object.Get("id").String();
    ConfigOption option;
    if (!id || !ReadValue(object, option)) continue;
    option.name = object.StringOr("name", *id);
    option.description = object.StringOr("description");
    option.category = object.StringOr("category");
    option.id = std::move(*id);
    options.push_back(std::move(option));
  }
  return options;
}

std::string_view ConfigOptionsIn(std::string_view object_json) {
  const JsonValue options = AnyObject(object_json).Get("configOptions");
  return options.IsArray() ? options.raw() : std::string_view();
}

ConfigOption ReadLegacyModels(std::string_view setup_result_json) {
  const JsonObject models = AnyObject(setup_result_json).Get("models").Members();
  std::optional<std::string> current = models.Get("currentModelId").String();
  if (!current) return {};
  ConfigOption option;
  option.id = option.category = "model";
  option.name = "Model";
  option.legacy_model = true;
  option.select = std::move(*current);
  for (const JsonValue& item : models.Get("availableModels").Items()) {
    AddChoice(item.Members(), "modelId", "", option.choices);
  }
  return option;
}

std::string ReadAvailableCommands(std::string_view update_json) {
  const JsonValue commands = AnyObject(update_json).Get("availableCommands");
  return commands.IsArray() ? std::string(commands.raw()) : std::string();
}

std::string SetModeLine(uint64_t id, std::string_view session_id, std::string_view mode_id,
                        const TraceContext& trace) {
  LineJson params = {{"sessionId", session_id}, {"modeId", mode_id}};
  return RequestLine(id, "session/set_mode", Traced(std::move(params), trace));
}

std::string SetConfigOptionLine(uint64_t id, std::string_view session_id, const OptionValue& value,
                                const TraceContext& trace) {
  LineJson params = {{"sessionId", session_id}, {"configId", value.config_id}};
  if (value.is_boolean) {
    params["type"] = "boolean";
    params["value"] = value.boolean;
  } else {
    params["value"] = value.select;
  }
  return RequestLine(id, "session/set_config_option", Traced(std::move(params), trace));
}

std::string SetModelLine(uint64_t id, std::string_view session_id, std::string_view model_id,
                         const TraceContext& trace) {
  LineJson params = {{"sessionId", session_id}, {"modelId", model_id}};
  return RequestLine(id, "session/set_model", Traced(std::move(params), trace));
}

}  // namespace acpd::acp
