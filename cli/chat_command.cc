#include <string>

#include "cli/commands.h"
#include "cli/interrupts.h"
#include "cli/turn_terminal.h"

namespace acpd::cli {
namespace {

acpd::v1::ChatStreamRequest ToRequest(const ChatOptions& options) {
  acpd::v1::ChatStreamRequest stream;
  acpd::v1::ChatRequest& chat = *stream.mutable_chat();
  chat.set_project_id(options.project);
  chat.set_session_id(options.session);
  chat.set_agent(options.agent);
  chat.set_cwd(options.cwd);
  chat.set_request_id(options.request_id);
  chat.set_prompt(options.prompt);
  if (!options.model.empty()) chat.mutable_model_provider()->set_model(options.model);
  if (options.permissions == "ask") chat.set_permission_mode(acpd::v1::PERMISSION_MODE_ASK);
  if (options.permissions == "allow") chat.set_permission_mode(acpd::v1::PERMISSION_MODE_ALLOW);
  if (options.permissions == "deny") chat.set_permission_mode(acpd::v1::PERMISSION_MODE_DENY);
  if (options.require_resume)
    chat.mutable_resume_policy()->set_mode(acpd::v1::ResumePolicy::MODE_REQUIRE);
  if (options.interrupt) chat.set_busy_policy(acpd::v1::BUSY_POLICY_INTERRUPT);
  return stream;
}

}  // namespace

int Chat(const Settings& settings, const ChatOptions& options) {
  Interrupts interrupts;  // first: see there
  const auto stub = Connect(settings);
  TurnTerminal terminal(settings, &interrupts, stub.get());
  return terminal.Follow(ToRequest(options));
}

}  // namespace acpd::cli
