#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/turn_terminal.h"

namespace acpd::cli {
namespace {

struct ChatOptions {
  std::string project = "default";
  std::string session, agent, cwd, request_id, model, permissions;
  bool require_resume = false;
  bool interrupt = false;
  std::vector<std::string> prompt;
};

acpd::v1::ChatStreamRequest ToRequest(const ChatOptions& options) {
  acpd::v1::ChatStreamRequest stream;
  acpd::v1::ChatRequest& chat = *stream.mutable_chat();
  chat.set_project_id(options.project);
  chat.set_session_id(options.session);
  chat.set_agent(options.agent);
  chat.set_cwd(options.cwd);
  chat.set_request_id(options.request_id);
  std::string prompt;
  for (const std::string& word : options.prompt) prompt += (prompt.empty() ? "" : " ") + word;
  chat.set_prompt(prompt);
  if (!options.model.empty()) chat.mutable_model_provider()->set_model(options.model);
  if (options.permissions == "ask") chat.set_permission_mode(acpd::v1::PERMISSION_MODE_ASK);
  if (options.permissions == "allow") chat.set_permission_mode(acpd::v1::PERMISSION_MODE_ALLOW);
  if (options.permissions == "deny") chat.set_permission_mode(acpd::v1::PERMISSION_MODE_DENY);
  if (options.require_resume) chat.mutable_resume_policy()->set_mode(acpd::v1::ResumePolicy::MODE_REQUIRE);
  if (options.interrupt) chat.set_busy_policy(acpd::v1::BUSY_POLICY_INTERRUPT);
  return stream;
}

}  // namespace

void AddChat(CLI::App& app, const Settings& settings, Run* run) {
  const auto options = std::make_shared<ChatOptions>();
  CLI::App* chat = app.add_subcommand("chat", "Send a prompt and follow the turn; Ctrl-C cancels it");
  chat->add_option("prompt", options->prompt, "The prompt; several words are joined by spaces")->required();
  chat->add_option("-p,--project", options->project, "The project")->capture_default_str();
  chat->add_option("-s,--session", options->session, "Continue this session; without it a new one is made");
  chat->add_option("-a,--agent", options->agent, "The agent; without it the session's, else the default one");
  chat->add_option("--cwd", options->cwd, "The folder the agent works in; without it the project's");
  chat->add_option("--model", options->model, "The model, for agents whose config uses ${model.model}");
  chat->add_option("--request-id", options->request_id, "Sending the same id again attaches to the same turn");
  chat->add_option("--permissions", options->permissions, "What happens to the agent's permission requests")
      ->check(CLI::IsMember({"ask", "allow", "deny"}));
  chat->add_flag("--require-resume", options->require_resume, "Fail rather than go on in a new session");
  chat->add_flag("--interrupt", options->interrupt, "Cancel the session's running turn first");
  chat->callback([options, &settings, run] {
    *run = [options, &settings] {
      const auto stub = Connect(settings);
      TurnTerminal terminal(settings, stub.get());
      return terminal.Follow(ToRequest(*options));
    };
  });
}

}  // namespace acpd::cli
