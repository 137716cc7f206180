#include <cstdio>
#include <string>

#include "cli/commands.h"
#include "cli/event_words.h"
#include "cli/prompt_files.h"
#include "cli/text.h"

namespace acpd::cli {
namespace {

// Starting an agent takes up to its start_timeout.
constexpr std::chrono::seconds kProbeCall{120};

void PrintAgent(const Settings& settings, const acpd::v1::Agent& agent) {
  if (settings.json) {
    PrintJson(agent);
    return;
  }
  std::string command;
  for (const std::string& word : agent.command()) command += (command.empty() ? "" : " ") + word;
  const std::string state = !agent.available() ? "missing: " + Shown(agent.unavailable_reason())
                            : agent.auth_required() ? "needs a login"
                                                    : "available " + ShownLine(agent.version());
  std::printf("%-20s%s %s\n  %s\n", agent.name().c_str(), agent.is_default() ? " (default)" : "",
              state.c_str(), command.c_str());
}

}  // namespace

int ListSessions(const Settings& settings, const std::string& project) {
  const auto stub = Connect(settings);
  acpd::v1::ListSessionsRequest request;
  request.set_project_id(project);
  request.set_page_size(200);
  do {
    acpd::v1::ListSessionsResponse response;
    const auto context = NewContext(settings, kShortCall);
    const int code = Report(stub->ListSessions(context.get(), request, &response), *context);
    if (code != kOk) return code;
    for (const auto& session : response.sessions()) {
      if (settings.json) {
        PrintJson(session);
      } else {
        std::printf("%s  %-8s  %-20s  %-16s  %s\n", session.session_id().c_str(),
                    StateWord(session.state()).c_str(), session.project_id().c_str(),
                    session.agent().c_str(), ShownLine(session.title()).c_str());
      }
    }
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  return kOk;
}

int ListAgentSessions(const Settings& settings, const std::string& agent, const std::string& cwd) {
  const auto stub = Connect(settings);
  acpd::v1::ListAgentSessionsRequest request;
  request.set_agent(agent);
  request.set_cwd(FolderFrom(cwd));
  do {
    acpd::v1::ListAgentSessionsResponse response;
    const auto context = NewContext(settings, kProbeCall);
    const int code = Report(stub->ListAgentSessions(context.get(), request, &response), *context);
    if (code != kOk) return code;
    for (const auto& session : response.sessions()) {
      if (settings.json) {
        PrintJson(session);
      } else {
        std::printf("%s  %s  %s%s\n", ShownLine(session.agent_session_id()).c_str(),
                    ShownLine(session.cwd()).c_str(), ShownLine(session.title()).c_str(),
                    session.session_id().empty() ? "" : ("  = " + session.session_id()).c_str());
      }
    }
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  return kOk;
}

int ListAgents(const Settings& settings) {
  const auto stub = Connect(settings);
  acpd::v1::ListAgentsResponse response;
  const auto context = NewContext(settings, kShortCall);
  const int code =
      Report(stub->ListAgents(context.get(), acpd::v1::ListAgentsRequest(), &response), *context);
  if (code != kOk) return code;
  for (const auto& agent : response.agents()) PrintAgent(settings, agent);
  return kOk;
}

int ProbeAgent(const Settings& settings, const std::string& name) {
  const auto stub = Connect(settings);
  acpd::v1::ProbeAgentRequest request;
  request.set_agent(name);
  acpd::v1::Agent agent;
  const auto context = NewContext(settings, kProbeCall);
  const int code = Report(stub->ProbeAgent(context.get(), request, &agent), *context);
  if (code == kOk) PrintAgent(settings, agent);
  return code;
}

}  // namespace acpd::cli
