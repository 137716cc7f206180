// Logging agents in and out.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/text.h"

namespace acpd::cli {
namespace {

// A login may have to start the agent, and then has 10 minutes for a person and a browser.
constexpr std::chrono::minutes kLoginCall{12};

void PrintMethods(const acpd::v1::LoginAgentResponse& response) {
  for (const auto& method : response.methods()) {
    std::printf("%-24s %-9s %s%s%s\n", ShownLine(method.method_id()).c_str(),
                ShownLine(method.type()).c_str(), ShownLine(method.name()).c_str(),
                method.description().empty() ? "" : " - ", ShownLine(method.description()).c_str());
  }
}

// In place of acpctl's own terminal; returns what the login's program ended with.
int RunInTerminal(const acpd::v1::TerminalLogin& login) {
  std::vector<std::string> words(login.command().begin(), login.command().end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    for (const auto& [name, value] : login.env()) setenv(name.c_str(), value.c_str(), 1);
    execvp(argv[0], argv.data());
    std::fprintf(stderr, "acpctl: %s cannot be started here; run it on acpd's machine\n", argv[0]);
    _exit(127);
  }
  // As a shell does: Ctrl-C is the login's.
  signal(SIGINT, SIG_IGN);
  signal(SIGQUIT, SIG_IGN);
  int status = 0;
  if (child < 0) return 127;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return 127;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int FinishInTerminal(const acpd::v1::TerminalLogin& login) {
  if (login.command().empty()) {
    std::fprintf(stderr, "acpctl: acpd named no command for this login; see the agent's manual\n");
    return kCallFailed;
  }
  std::string words;
  for (const std::string& word : login.command()) words += " " + ShownLine(word);
  std::fprintf(stderr, "running:%s\n", words.c_str());
  const int code = RunInTerminal(login);
  if (code == 0) {
    std::printf("logged in\n");
    return kOk;
  }
  std::fprintf(stderr, "acpctl: the login ended with exit code %d; run it again\n", code);
  return kTurnNotOk;
}

}  // namespace

int LoginAgent(const Settings& settings, const std::string& agent, std::string method_id) {
  const auto stub = ConnectAdmin(settings);
  acpd::v1::LoginAgentRequest request;
  request.set_agent(agent);
  request.set_method_id(method_id);
  acpd::v1::LoginAgentResponse response;
  const auto context = NewContext(settings, kLoginCall);
  const int code = Report(stub->LoginAgent(context.get(), request, &response), *context);
  if (code != kOk) return code;
  // The only way there is need not be named.
  if (method_id.empty() && response.methods_size() == 1 && !settings.json)
    return LoginAgent(settings, agent, response.methods(0).method_id());
  if (settings.json) {
    PrintJson(response);
  } else if (response.has_terminal()) {
    return FinishInTerminal(response.terminal());
  } else if (response.logged_in()) {
    std::printf("logged in\n");
  } else if (response.methods().empty()) {
    std::fprintf(stderr, "acpctl: the agent offers no way to log in; see its own manual\n");
    return kTurnNotOk;
  } else {
    PrintMethods(response);
    std::fprintf(stderr, "choose one: acpctl login %s --method ID\n", agent.c_str());
  }
  return kOk;
}

int LogoutAgent(const Settings& settings, const std::string& agent) {
  const auto stub = ConnectAdmin(settings);
  acpd::v1::LogoutAgentRequest request;
  request.set_agent(agent);
  acpd::v1::LogoutAgentResponse response;
  const auto context = NewContext(settings, kLoginCall);
  const int code = Report(stub->LogoutAgent(context.get(), request, &response), *context);
  if (code != kOk) return code;
  if (settings.json) {
    PrintJson(response);
  } else {
    std::printf("logged out\n");
  }
  return kOk;
}

}  // namespace acpd::cli
