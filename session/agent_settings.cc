#include "session/agent_settings.h"

#include <array>
#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "session/pack.h"

namespace acpd::session {
namespace {

// The durations by the names of their config keys.
template <class Agent, class Visitor>
void VisitDurations(Agent& agent, Visitor&& visit) {
  visit("start_timeout", agent.start_timeout);
  visit("session_setup_timeout", agent.session_setup_timeout);
  visit("turn_timeout", agent.turn_timeout);
  visit("turn_silence", agent.turn_silence);
  visit("turn_stall", agent.turn_stall);
  visit("tool_silence", agent.tool_silence);
  visit("cancel_grace", agent.cancel_grace);
  visit("stop_grace", agent.stop_grace);
  visit("question_timeout", agent.question_timeout);
  visit("idle_timeout", agent.idle_timeout);
}

int64_t ReadNumber(const std::string& text) {
  int64_t number = 0;
  return absl::SimpleAtoi(text, &number) ? number : 0;
}

std::string PackMethods(const std::vector<ResumeMethod>& methods) {
  std::vector<std::string> items;
  for (const ResumeMethod method : methods)
    items.push_back(std::to_string(static_cast<int>(method)));
  return Pack(items);
}

// What acpd offers, by name.
template <class Capabilities>
auto OffersOf(Capabilities& offers) {
  return std::array<std::pair<const char*, decltype(&offers.fs)>, 4>{
      {{"fs", &offers.fs},
       {"fs_read", &offers.fs_read},
       {"terminal", &offers.terminal},
       {"elicitation", &offers.elicitation}}};
}

constexpr size_t kFieldsOfRule = 4;

std::string PackRules(const std::vector<PermissionRule>& rules) {
  std::vector<std::string> fields;
  for (const PermissionRule& rule : rules) {
    fields.insert(fields.end(), {rule.tool_kind, rule.title, rule.path,
                                 std::to_string(static_cast<int>(rule.mode))});
  }
  return Pack(fields);
}

std::vector<PermissionRule> UnpackRules(const std::string& packed) {
  const auto fields = Unpack(packed);
  std::vector<PermissionRule> rules;
  if (!fields || fields->size() % kFieldsOfRule != 0) return rules;
  for (size_t i = 0; i < fields->size(); i += kFieldsOfRule) {
    rules.push_back({(*fields)[i], (*fields)[i + 1], (*fields)[i + 2],
                     static_cast<PermissionMode>(ReadNumber((*fields)[i + 3]))});
  }
  return rules;
}

}  // namespace

std::string PackSettings(const AgentDefinition& agent) {
  std::map<std::string, std::string> items;
  VisitDurations(agent, [&items](const char* name, milliseconds value) {
    items[name] = std::to_string(value.count());
  });
  items["resume"] = PackMethods(agent.resume);
  items["resume_missing_patterns"] = Pack(agent.resume_missing_patterns);
  items["permission_mode"] = std::to_string(static_cast<int>(agent.permission_mode));
  items["auth_method"] = agent.auth_method;
  items["builtin"] = agent.builtin;
  items["loads_in_later_minute"] = agent.loads_in_later_minute ? "1" : "";
  for (const auto& [key, on] : OffersOf(agent.capabilities)) items[key] = *on ? "1" : "0";
  items["permission_rules"] = PackRules(agent.permission_rules);
  return PackMap(items);
}

AgentDefinition UnpackSettings(const std::string& name, std::string_view packed) {
  AgentDefinition agent;
  agent.name = name;
  auto items = UnpackMap(packed);
  if (!items) return agent;
  VisitDurations(agent, [&items](const char* key, milliseconds& value) {
    if (items->count(key)) value = milliseconds(ReadNumber((*items)[key]));
  });
  if (const auto methods = Unpack((*items)["resume"])) {
    for (const std::string& method : *methods)
      agent.resume.push_back(static_cast<ResumeMethod>(ReadNumber(method)));
  }
  if (auto patterns = Unpack((*items)["resume_missing_patterns"]))
    agent.resume_missing_patterns = *std::move(patterns);
  agent.permission_mode = static_cast<PermissionMode>(ReadNumber((*items)["permission_mode"]));
  agent.auth_method = (*items)["auth_method"];
  agent.builtin = (*items)["builtin"];
  agent.loads_in_later_minute = !(*items)["loads_in_later_minute"].empty();
  for (const auto& [key, on] : OffersOf(agent.capabilities)) *on = (*items)[key] != "0";
  agent.permission_rules = UnpackRules((*items)["permission_rules"]);
  return agent;
}

}  // namespace acpd::session
