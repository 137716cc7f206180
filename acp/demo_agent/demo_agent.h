#ifndef ACPD_ACP_DEMO_AGENT_DEMO_AGENT_H_
#define ACPD_ACP_DEMO_AGENT_DEMO_AGENT_H_

#include <chrono>
#include <map>
#include <string>

#include "acp/demo_agent/conversation.h"
#include "acp/demo_agent/line_io.h"
#include "acp/demo_agent/messages.h"
#include "acp/demo_agent/sessions.h"

namespace acpd::demo {

// A small ACP v1 agent without a model (https://agentclientprotocol.com/protocol): see AnswerTo for
// what it can say. It shows what clients have to handle: streamed text, a plan, a tool call, a
// permission, cancel, load, resume, close and delete. One thread: poll on stdin, with the next
// chunk's time as time-out. Owned by main.
class DemoAgent {
 public:
  // `state_folder` keeps the sessions.
  explicit DemoAgent(const std::string& state_folder) : sessions_(state_folder), input_(0) {}

  // Serves stdin and stdout until one of them has ended.
  void Run();

 private:
  using Clock = std::chrono::steady_clock;

  // A session/prompt that has no answer yet.
  struct Turn {
    json request_id;
    std::string said;
    Answer answer;
    int chunks_said = 0;
    Clock::time_point next_chunk;
    int ask_id = 0;  // of the open permission request; 0: none
  };
  using Turns = std::map<std::string, Turn>;  // by session id

  int PollTimeout() const;  // milliseconds; -1: no chunk is due
  void OnLine(const std::string& line);
  void OnRequest(const std::string& method, const json& id, const json& params);
  void OnAnswer(const json& message);

  void Initialize(const json& id);
  void NewSession(const json& id);
  void TakeUp(const json& id, const json& params, bool replay);
  void CloseSession(const json& id, const json& params);
  void DeleteSession(const json& id, const json& params);
  void Prompt(const json& id, const json& params);
  void Cancel(const std::string& session_id);

  void SayDueChunks();
  void Ask(const std::string& session_id, Turn* turn);
  void Say(const std::string& session_id, Turn* turn, const std::string& text);
  // Saves the exchange, then answers the prompt and forgets the turn.
  void EndTurn(Turns::iterator turn, const std::string& stop_reason);
  void Send(const json& message);

  Sessions sessions_;
  LineReader input_;
  Turns turns_;
  int last_ask_id_ = 0;
  bool output_gone_ = false;
};

}  // namespace acpd::demo

#endif  // ACPD_ACP_DEMO_AGENT_DEMO_AGENT_H_
