#ifndef ACPD_SESSION_BUILTIN_AGENTS_H_
#define ACPD_SESSION_BUILTIN_AGENTS_H_

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "session/config.h"

namespace acpd::session {

// What acpd knows of an agent without being told: how it is started, how it resumes, where it takes
// its model's key from. A definition in the config takes these settings by `extends`, or because
// its command is this agent's program. One table, never changed at run time; its values are views
// into it. Thread-safe.
struct BuiltinAgent {
  std::string_view name;  // in the config: `extends`, and the agent's name without a config
  std::string_view command;
  std::vector<std::string_view> args;
  std::vector<std::string_view>
      programs;  // base names of its command, npm packages without their scope
  std::vector<ResumeMethod> resume;
  std::vector<std::string_view> missing_patterns;  // beyond session/resume_answers.h
  std::vector<std::pair<std::string_view, std::string_view>> env;  // templates
  std::vector<std::pair<std::string_view, std::string_view>>
      auth_by_variable{};              // AgentDefinition::auth_by_variable
  bool loads_in_later_minute = false;  // as AgentDefinition has it
  bool fs_read = true;                 // AgentCapabilities::fs_read
};

std::span<const BuiltinAgent> BuiltinAgents();

// By its name or by one of its programs ("gemini-cli"); nullptr: none.
const BuiltinAgent* FindBuiltin(std::string_view name);

// By what is started: the base name of `command`, or for npx and the like its package, for node and
// the like its script.
const BuiltinAgent* BuiltinForCommand(const std::string& command,
                                      const std::vector<std::string>& args);

// A whole definition with the built-in's settings and our defaults for the rest.
AgentDefinition MakeDefinition(const BuiltinAgent& builtin);

// The resume methods of an agent that says nothing of them.
std::vector<ResumeMethod> DefaultResumeOrder();

}  // namespace acpd::session

#endif  // ACPD_SESSION_BUILTIN_AGENTS_H_
