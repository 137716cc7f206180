#include "tests/chaos/agent_check.h"

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace acpd::chaos {
namespace {

using nlohmann::json;

constexpr char kOnce[] = "I1 prompts, answers and cancels reach an agent once";

// One agent process, as far as it has read.
struct AgentProcess {
  std::set<std::string> requests, answers;  // ids
  std::map<std::string, int> cancels;       // by session, since its last prompt
};

class AgentLogReader {
 public:
  explicit AgentLogReader(Tally* tally) : tally_(tally) {}

  void Read(const std::string& path) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      const json entry = json::parse(line, nullptr, false);
      if (!entry.is_object()) {  // the agent was killed while it wrote
        tally_->Count("cut lines in the agents' log");
        continue;
      }
      TakeEntry(entry);
    }
  }
  const std::map<std::string, int>& prompts() const { return prompts_; }

 private:
  void TakeEntry(const json& entry) {
    const int pid = entry.value("pid", 0);
    const std::string event = entry.value("event", "");
    if (event == "start") {
      agents_[pid] = {};  // a pid may come again
      tally_->Count("agents started");
    } else if (event == "in") {
      const json message = json::parse(entry.value("line", ""), nullptr, false);
      if (message.is_object()) TakeMessage(pid, message);
    }
  }

  void TakeMessage(int pid, const json& message) {
    AgentProcess& agent = agents_[pid];
    const std::string id = message.value("id", json()).dump();
    const std::string method = message.value("method", "");
    const json params = message.value("params", json::object());
    if (method.empty()) {
      if (!agent.answers.insert(id).second) Doubled(pid, "the answer to request " + id);
    } else if (message.contains("id") && !agent.requests.insert(id).second) {
      Doubled(pid, "request " + id + ", " + method);
    }
    if (method == "session/cancel") {
      const std::string session = params.value("sessionId", "");
      if (++agent.cancels[session] > 1) Doubled(pid, "session/cancel of " + session);
    } else if (method == "session/prompt") {
      agent.cancels.erase(params.value("sessionId", ""));
      TakePrompt(pid, params);
    }
  }

  void TakePrompt(int pid, const json& params) {
    tally_->Count("prompts that reached an agent");
    const json blocks = params.value("prompt", json::array());
    if (blocks.empty()) return;
    const std::string key = KeyOfPrompt(blocks[0].value("text", ""));
    if (++prompts_[key] > 1) Doubled(pid, "the prompt of " + key);
  }

  void Doubled(int pid, const std::string& what) {
    tally_->Violation(kOnce, what + " came again, to agent " + std::to_string(pid));
  }

  Tally* tally_;
  std::map<int, AgentProcess> agents_;
  std::map<std::string, int> prompts_;  // deliveries by key
};

}  // namespace

void CheckAgents(const std::string& agent_log, const LogCheck& log, Tally* tally) {
  AgentLogReader reader(tally);
  reader.Read(agent_log);
  std::map<std::string, bool> sent;  // by key, of all its turns
  for (const auto& [turn_id, turn] : log.turns()) {
    if (turn.ended == 0 || log.IsGone(turn.session_id)) continue;
    sent[turn.key] = sent[turn.key] || turn.result.prompt_sent();
    const bool completed = turn.result.outcome() == e2e::api::TurnResult::OUTCOME_COMPLETED;
    if (completed && !reader.prompts().contains(turn.key)) {
      tally->Violation(kOnce, "turn " + turn_id + " (" + turn.key +
                                  ") is COMPLETED and no agent has got its prompt");
    }
  }
  for (const auto& [key, was_sent] : sent) {
    if (was_sent || !reader.prompts().contains(key)) continue;
    tally->Violation(kOnce,
                     "the prompt of " + key + " reached an agent; its turn says it was not sent");
  }
}

}  // namespace acpd::chaos
