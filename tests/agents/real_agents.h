#ifndef ACPD_TESTS_AGENTS_REAL_AGENTS_H_
#define ACPD_TESTS_AGENTS_REAL_AGENTS_H_

#include <map>
#include <string>
#include <vector>

#include "tests/agents/configure_agents.h"
#include "tests/e2e/harness/api.h"
#include "tests/e2e/harness/daemon.h"

// The real agents of the tests: how each is started against the fake model, and what of their ways
// differs.
namespace acpd::e2e {

// What not every agent can do.
enum class Ability {
  kRemember,            // it knows what was said before
  kResumeByMeta,        // session/new with `_meta`
  kResumeByResume,      // session/resume
  kResumeByLoad,        // session/load
  kResumeElsewhere,     // a session's resume from another folder
  kImages,              // in a prompt
  kMcpServers,          // it calls their tools
  kWriteThroughClient,  // it writes files by fs/write_text_file
  kAskModel,            // it has a model
  kSayModelError,       // a turn that the model refused ends with an error
  kNeedLogin,           // without credentials it asks for a login
};

struct RealAgent {
  std::string name;     // its folder below AgentPlace::agents, and its name in acpd's config
  std::string program;  // path below that folder; a script (.js) runs on the node installed there
  std::vector<std::string> args = {};
  // acpd's built-in settings for it; empty: none.
  std::string builtin = {};
  ConfigureAgent configure;
  // The way acpd is to resume its sessions; METHOD_UNSPECIFIED: none.
  api::SessionOrigin::Method resume_method;
  // It loses a session that is loaded in the very minute (of the wall clock) in which it was made.
  bool resumes_only_later = false;
  // Where it keeps its sessions, below its home; empty: nowhere.
  std::string sessions_folder = {};
  // Why it cannot resume a session in another folder.
  std::string reason_elsewhere = "SESSION_NOT_FOUND";
  // How a turn ends in which a permission was refused: some agents end it `cancelled` themselves.
  api::TurnResult::Outcome outcome_of_refusal = api::TurnResult::OUTCOME_COMPLETED;

  // A prompt that makes it use a tool for which it asks; what its question names, and what it says
  // when the tool was allowed and has run.
  std::string tool_prompt = "TOOL";
  std::string tool_subject = "acp-tool-proof.txt";
  std::string tool_answer = "TOOL DONE";
  // A prompt whose turn goes on for seconds, and what it has then said first.
  std::string long_prompt = "SLOW 600 100";
  std::string long_answer_begins = "chunk 3 ";
  // It says more than the model, in front of its answers.
  bool adds_text = false;
  // Without a model: what it answers to everything.
  std::string only_answer = {};

  // Why it cannot do what it cannot. acpd is then tested to say so.
  std::map<Ability, std::string> cannot = {};
};

// All of them.
const std::vector<RealAgent>& RealAgents();
// By its name; it must exist.
const RealAgent& FindRealAgent(const std::string& name);

// The agent's file that has to be installed.
std::string ProgramOf(const RealAgent& agent, const std::string& agents);
// The agent's entry of acpd's config; its files below the home are written. With ACPD_TEST_WIRE
// what goes over its stdin and stdout is kept (`tap`).
AgentSpec SpecOf(const RealAgent& agent, const AgentPlace& place);

}  // namespace acpd::e2e

#endif  // ACPD_TESTS_AGENTS_REAL_AGENTS_H_
