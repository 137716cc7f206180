#include <cstdio>
#include <set>
#include <string>
#include <utility>

#include "cli/commands.h"
#include "cli/interrupts.h"
#include "cli/option_values.h"
#include "cli/prompt_files.h"
#include "cli/turn_terminal.h"

namespace acpd::cli {
namespace {

// Empty, or what is wrong with the options of the agent.
std::string FillOptions(const ChatOptions& options, acpd::v1::ChatRequest* chat) {
  std::vector<std::string> values = options.values;
  if (!options.model.empty()) values.insert(values.begin(), "model=" + options.model);
  std::set<std::string> ids;
  for (const std::string& word : values) {
    acpd::v1::ConfigOptionValue value = ReadOptionValue(word, {});
    if (!ids.insert(value.config_id()).second)
      return "the option \"" + value.config_id() + "\" is given twice; give it once";
    *chat->add_config_options() = std::move(value);
  }
  return "";
}

// Empty, or what is wrong with the files.
std::string FillFiles(const ChatOptions& options, acpd::v1::ChatRequest* chat) {
  for (const std::string& path : options.files) {
    if (std::string wrong = AddFile(path, false, chat); !wrong.empty()) return wrong;
  }
  for (const std::string& path : options.links) {
    if (std::string wrong = AddFile(path, true, chat); !wrong.empty()) return wrong;
  }
  return "";
}

// Empty, or what is wrong with the command line.
std::string FillRequest(const ChatOptions& options, acpd::v1::ChatStreamRequest* stream) {
  acpd::v1::ChatRequest& chat = *stream->mutable_chat();
  chat.set_project_id(options.project);
  chat.set_session_id(options.session);
  chat.set_agent(options.agent);
  chat.set_cwd(FolderFrom(options.cwd));
  chat.set_request_id(options.request_id);
  chat.set_prompt(options.prompt);
  if (!options.provider_model.empty())
    chat.mutable_model_provider()->set_model(options.provider_model);
  chat.set_mode_id(options.mode);
  if (std::string wrong = FillOptions(options, &chat); !wrong.empty()) return wrong;
  if (std::string wrong = FillFiles(options, &chat); !wrong.empty()) return wrong;
  if (options.permissions == "ask") chat.set_permission_mode(acpd::v1::PERMISSION_MODE_ASK);
  if (options.permissions == "allow") chat.set_permission_mode(acpd::v1::PERMISSION_MODE_ALLOW);
  if (options.permissions == "deny") chat.set_permission_mode(acpd::v1::PERMISSION_MODE_DENY);
  if (options.require_resume)
    chat.mutable_resume_policy()->set_mode(acpd::v1::ResumePolicy::MODE_REQUIRE);
  if (options.transcript) {
    chat.mutable_resume_policy()->set_mode(acpd::v1::ResumePolicy::MODE_FALLBACK_WITH_TRANSCRIPT);
  }
  if (options.interrupt) chat.set_busy_policy(acpd::v1::BUSY_POLICY_INTERRUPT);
  return "";
}

}  // namespace

int Chat(const Settings& settings, const ChatOptions& options) {
  Interrupts interrupts;  // first: see there
  acpd::v1::ChatStreamRequest request;
  if (const std::string wrong = FillRequest(options, &request); !wrong.empty()) {
    std::fprintf(stderr, "acpctl: %s\n", wrong.c_str());
    return kUsage;
  }
  const auto stub = Connect(settings);
  TurnTerminal terminal(settings, &interrupts, stub.get());
  return terminal.Follow(request);
}

}  // namespace acpd::cli
