#ifndef ACPD_TESTS_FAKES_AGENT_H_
#define ACPD_TESTS_FAKES_AGENT_H_

#include <chrono>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "acp/demo_agent/line_io.h"
#include "acp/demo_agent/messages.h"
#include "acp/demo_agent/sessions.h"
#include "tests/fakes/agent_barriers.h"
#include "tests/fakes/agent_log.h"
#include "tests/fakes/agent_wire.h"
#include "tests/fakes/script.h"

namespace acpd::fakes {

using Clock = std::chrono::steady_clock;

// A step list being worked off: a request of the client, a notification, or the start of the
// process.
struct Run {
  json id;  // the request's; discarded for a notification and the start
  std::string method;
  json params;
  std::string session_id;  // for session/new the one that it will give out
  Steps steps;
  size_t next = 0;
  int part = 0;             // calls made for the present step
  Clock::time_point until;  // sleep_ms
  bool on_barrier = false;
  json asked_id;                 // of the last request to the client
  json options = json::array();  // that were offered with it
  bool answered = false;         // or nothing to answer
  bool silent = false;           // no default answer at the end
  bool defaulted = false;        // the default steps were added
  json on_cancel = "cancelled";
  std::string said;     // to be remembered as the agent's words
  size_t exchange = 0;  // of the session's history: this prompt's
};

// A scripted ACP agent: a good one that does whatever its script says instead (script.h,
// verb_table.cc). All that it does is told in steps, its good behaviour included (defaults.h). One
// thread: poll on stdin; steps that wait are tried again at each turn of the loop, so it hears a
// cancel while it sleeps, bursts or stands at a barrier. Owned by main.
class FakeAgent {
 public:
  explicit FakeAgent(Script script);

  // Until stdin ends (and is not ignored). Returns the exit code.
  int Serve();

  // For verbs and defaults.
  void Send(const json& message) { SendBytes(demo::Line(message)); }
  void SendBytes(const std::string& bytes);
  // A success of session/new, load or resume opens the session, whatever the script made of it.
  void Answer(Run* run, const json& result);
  void AnswerError(Run* run, const json& error);
  // Keeps what a prompt's run has said in its session's history.
  void RememberAnswer(const Run& run);
  // Puts steps in place of what is left of the run.
  void Replace(Run* run, Steps steps);
  // The answer to the request with this id; nullopt while there is none. `result` or `error` stands
  // in it.
  std::optional<json> AnswerTo(const json& id) const;
  void Asked(const json& id) { answers_[id.dump()] = std::nullopt; }
  // Cancels the session's running prompts as their `on_cancel` says.
  void CancelPrompts(const std::string& session_id);

  Script& script() { return script_; }
  AgentLog& log() { return log_; }
  AgentBarriers& barriers() { return barriers_; }
  demo::Sessions& sessions() { return sessions_; }
  json NextId() { return ++last_id_; }
  void IgnoreEof() { ignore_eof_ = true; }
  // Lives on without its stdin.
  void StopReading() {
    reading_ = false;
    ignore_eof_ = true;
  }
  bool authenticated() const { return authenticated_; }
  void Authenticated() { authenticated_ = true; }

 private:
  void OnLine(const std::string& line);
  void StartRun(const std::string& method, const json& message);
  void TakePrompt(Run* run);
  void OpenOrCreate(const std::string& session_id);
  // Works all runs off as far as they go; true: some want to be called again at once.
  bool AdvanceRuns();
  bool Advance(Run* run);
  int PollTimeout(bool again) const;
  void Read();

  Script script_;
  AgentLog log_;
  AgentWire wire_;
  AgentBarriers barriers_;
  demo::Sessions sessions_;
  demo::LineReader input_;
  std::list<Run> runs_;  // verbs keep pointers to theirs
  std::map<std::string, std::optional<json>>
      answers_;  // by the id's JSON text, so that 1 and "1" differ
  int64_t last_id_ = 0;
  int last_session_ = 0;
  bool reading_ = true;
  bool ignore_eof_ = false;
  bool authenticated_ = false;
};

}  // namespace acpd::fakes

#endif  // ACPD_TESTS_FAKES_AGENT_H_
