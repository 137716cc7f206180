#include "tests/agents/real_agents.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace acpd::e2e {
namespace {

using enum Ability;

constexpr char kIgnoresMeta[] = "it knows no such `_meta` and gives a new session";
constexpr char kKeepsNothing[] = "the SDK's example keeps no session and has no session/load";
constexpr char kNoModel[] = "the SDK's example has no model";
constexpr char kWritesItself[] = "it writes files itself, whatever its client can do";

RealAgent ClaudeCodeAcp() {
  return {.name = "claude-code-acp",
          .program = "node_modules/@zed-industries/claude-code-acp/dist/index.js",
          .builtin = "claude-code-acp",
          .configure = ConfigureClaude,
          .resume_method = api::SessionOrigin::METHOD_META,
          .sessions_folder = ".claude/projects",
          .cannot = {{kResumeElsewhere, "it keeps its sessions by folder"}}};
}

RealAgent ClaudeAgentAcp() {
  return {.name = "claude-agent-acp",
          .program = "node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js",
          .builtin = "claude-agent-acp",
          .configure = ConfigureClaude,
          .resume_method = api::SessionOrigin::METHOD_META,
          .sessions_folder = ".claude/projects",
          .cannot = {{kWriteThroughClient, kWritesItself}}};
}

RealAgent CodexAcp() {
  return {.name = "codex-acp",
          .program = "node_modules/@zed-industries/codex-acp-linux-x64/bin/codex-acp",
          .builtin = "codex-acp",
          .configure = ConfigureCodex,
          .resume_method = api::SessionOrigin::METHOD_SESSION_RESUME,
          .sessions_folder = ".codex/sessions",
          .outcome_of_refusal = api::TurnResult::OUTCOME_CANCELLED,
          .cannot = {{kResumeByMeta, kIgnoresMeta}, {kWriteThroughClient, kWritesItself}}};
}

RealAgent CodexAcpTs() {
  return {.name = "codex-acp-ts",
          .program = "node_modules/@agentclientprotocol/codex-acp/dist/index.js",
          .builtin = "codex-acp",
          .configure = ConfigureCodexTs,
          .resume_method = api::SessionOrigin::METHOD_SESSION_RESUME,
          .sessions_folder = ".codex/sessions",
          .outcome_of_refusal = api::TurnResult::OUTCOME_CANCELLED,
          .tool_prompt = "TOOL ESCALATE",
          .adds_text = true,
          .cannot = {{kResumeByMeta, kIgnoresMeta},
                     {kWriteThroughClient, kWritesItself},
                     {kSayModelError, "it ends the turn well and tells the error as its answer"}}};
}

RealAgent GeminiCli() {
  return {.name = "gemini-cli",
          .program = "node_modules/@google/gemini-cli/bundle/gemini.js",
          .args = {"--acp", "--model", "gemini-2.5-flash"},
          .builtin = "gemini",
          .configure = ConfigureGemini,
          .resume_method = api::SessionOrigin::METHOD_SESSION_LOAD,
          .resumes_only_later = true,
          .sessions_folder = ".gemini/tmp",
          .cannot = {{kResumeByMeta, kIgnoresMeta},
                     {kResumeByResume, "it has no session/resume"},
                     {kResumeElsewhere, "it keeps its sessions by folder"}}};
}

RealAgent Opencode() {
  return {.name = "opencode",
          .program = "node_modules/opencode-linux-x64/bin/opencode",
          .args = {"acp"},
          .builtin = "opencode",
          .configure = ConfigureOpencode,
          .resume_method = api::SessionOrigin::METHOD_SESSION_RESUME,
          .sessions_folder = ".local/share/opencode",
          .cannot = {{kResumeByMeta, kIgnoresMeta},
                     {kNeedLogin, "it asks for no login: it has models of its own on offer"}}};
}

// The agent that the protocol's SDK has as an example: it says the same in each turn, which takes
// five seconds and has one question.
RealAgent SdkExample() {
  return {.name = "sdk-example",
          .program = "node_modules/@agentclientprotocol/sdk/dist/examples/agent.js",
          .configure = ConfigureNothing,
          .resume_method = api::SessionOrigin::METHOD_UNSPECIFIED,
          .reason_elsewhere = "RESUME_UNSUPPORTED",
          .tool_subject = "config.json",
          .tool_answer = "The changes have been applied.",
          .long_prompt = "go on",
          .long_answer_begins = "I'll help you with that.",
          .only_answer = "The changes have been applied.",
          .cannot = {{kRemember, "the SDK's example remembers nothing"},
                     {kResumeByMeta, kIgnoresMeta},
                     {kResumeByResume, kKeepsNothing},
                     {kResumeByLoad, kKeepsNothing},
                     {kResumeElsewhere, kKeepsNothing},
                     {kImages, "the SDK's example takes no images"},
                     {kMcpServers, "the SDK's example calls no tools"},
                     {kWriteThroughClient, "the SDK's example writes no files"},
                     {kAskModel, kNoModel},
                     {kSayModelError, kNoModel},
                     {kNeedLogin, kNoModel}}};
}

// What goes over the agent's pipes is kept. acpd does not see then what program it is.
void PutTapBefore(const RealAgent& agent, const AgentPlace& place, AgentSpec& spec) {
  spec.args.insert(spec.args.begin(), {agent.name, spec.command});
  spec.command = place.agents + "/tap";
  if (!agent.builtin.empty()) spec.extra["extends"] = agent.builtin;
}

}  // namespace

const std::vector<RealAgent>& RealAgents() {
  static const std::vector<RealAgent> agents = {ClaudeCodeAcp(), ClaudeAgentAcp(), CodexAcp(),
                                                CodexAcpTs(),    GeminiCli(),      Opencode(),
                                                SdkExample()};
  return agents;
}

const RealAgent& FindRealAgent(const std::string& name) {
  const std::vector<RealAgent>& agents = RealAgents();
  const auto found = std::find_if(agents.begin(), agents.end(),
                                  [&name](const RealAgent& agent) { return agent.name == name; });
  if (found == agents.end()) throw std::runtime_error("no real agent named " + name);
  return *found;
}

std::string ProgramOf(const RealAgent& agent, const std::string& agents) {
  return agents + "/" + agent.name + "/" + agent.program;
}

AgentSpec SpecOf(const RealAgent& agent, const AgentPlace& place) {
  AgentSpec spec{.command = ProgramOf(agent, place.agents), .args = agent.args, .env = {}};
  if (agent.program.ends_with(".js")) {
    spec.args.insert(spec.args.begin(), spec.command);
    spec.command = NodeProgram(place.agents);
  }
  spec.env = agent.configure(place);
  spec.env.merge(CommonEnvironment(place));
  // Its every turn asks, and nobody would answer.
  if (!agent.only_answer.empty()) spec.extra["permission_mode"] = "allow";
  if (std::getenv("ACPD_TEST_WIRE") != nullptr) PutTapBefore(agent, place, spec);
  return spec;
}

}  // namespace acpd::e2e
