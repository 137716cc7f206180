#ifndef ACPD_TESTS_FAKES_AGENT_PROCESS_H_
#define ACPD_TESTS_FAKES_AGENT_PROCESS_H_

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/e2e/harness/process.h"

namespace acpd::fakes {

using nlohmann::json;

// An agent of the build, driven over its pipes as a client would. Not thread-safe.
class AgentProcess {
 public:
  AgentProcess(const std::string& program, const std::map<std::string, std::string>& env,
               const std::string& stderr_file = "");
  ~AgentProcess();

  void Write(const std::string& bytes);
  void Send(const json& message) { Write(message.dump() + "\n"); }
  void CloseStdin();

  // The bytes up to the next newline, which they do not hold; at the end of the output the rest.
  // nullopt: nothing more came, by the end of the output or of the patience.
  std::optional<std::string> ReadLine();
  // The next line as JSON; discarded when there is none or it is no JSON.
  json Read();

  // Sends a request and returns its answer; what came before it is in `heard`.
  json Call(const std::string& method, const json& params);
  // Sends session/prompt with this text and returns its id; ReadAnswer waits for the answer to it.
  int64_t SendPrompt(const std::string& session_id, const std::string& text);
  json ReadAnswer(int64_t id);
  json Prompt(const std::string& session_id, const std::string& text) {
    return ReadAnswer(SendPrompt(session_id, text));
  }
  // initialize and session/new; the session's id.
  std::string Open();
  void Cancel(const std::string& session_id);

  // The messages that came before the last answer, since the call before it.
  const std::vector<json>& heard() const { return heard_; }
  // The texts of the agent_message_chunk updates among them, joined.
  std::string Text() const;
  // The `sessionUpdate` kinds among them.
  std::vector<std::string> Kinds() const;

  e2e::Process& process() { return *process_; }

 private:
  int stdin_ = -1;
  int stdout_ = -1;
  std::string buffer_;
  int64_t last_id_ = 0;
  std::vector<json> heard_;
  std::optional<e2e::Process> process_;
};

// A prompt that brings its steps.
std::string Scripted(const json& steps);

}  // namespace acpd::fakes

#endif  // ACPD_TESTS_FAKES_AGENT_PROCESS_H_
