#ifndef ACPD_SESSION_AGENT_SERVICES_H_
#define ACPD_SESSION_AGENT_SERVICES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "acp/message.h"
#include "session/agent_files.h"
#include "session/agent_terminals.h"
#include "session/config.h"
#include "session/store.h"

namespace acpd::session {

class AgentWorker;

inline constexpr std::string_view kForeignSession =
    "This sessionId is not the one of the agent's session; use the id that session/new answered.";

inline constexpr std::string_view kTurnCancelled = "Request cancelled with its prompt turn";

// What an earlier acpd left of the services of one worker.
struct StoredServices {
  std::vector<AgentRequestRow> requests;
  std::vector<TerminalRow> terminals;
};

// What acpd does for an agent at its request: files (fs/*) and commands (terminal/*). Each request
// stands in the store from the record that consumes its line to the one with its answer, and is
// answered exactly once; after a restart those that are stored are served again, so that all that
// serves them can be repeated (LINK.md, rule 5). Not for questions to people. Loop thread only.
// Owned by the agent's worker, and goes with it to another session.
class AgentServices {
 public:
  // So many requests of an agent, and so many bytes of them, may be open.
  static constexpr size_t kMaxOpen = 1024;
  static constexpr size_t kMaxOpenBytes = 64u << 20;

  explicit AgentServices(AgentWorker& worker);

  // Takes a request whose method is one of ours. False: it is not.
  bool Take(const acp::Message& message);
  // The agent does not want the answer any more, by the id that it gave; it is answered -32800.
  // False: there is no such request here.
  bool Cancel(std::string_view agent_request_id);
  // That turn is being cancelled. An agent that first waits for a command's end would not get to
  // confirm it: waits for commands that nobody ends, from now on too, and files and commands that
  // have not begun are answered -32800 (https://agentclientprotocol.com/protocol/cancellation,
  // "internal"). What has begun is answered as it comes out, and what the agent asks to clean up is
  // done: to end its commands is its own. Recorded, not yet flushed.
  void CancelTurn(std::string_view turn_id);

  // At a start, before Resume: what was stored.
  void Restore(StoredServices stored);
  // The worker of an earlier acpd answers: what was restored is served.
  void Resume();
  // The worker belongs to another session now.
  void MoveTo(const std::string& session_id);
  // The agent and all that ran for it are gone: nothing is answered any more.
  void End();

  using RowPtr = std::shared_ptr<const AgentRequestRow>;
  RowPtr Find(uint64_t number) const;  // nullptr: it is not open any more
  std::vector<uint64_t> OpenNumbers() const;
  // Answers a request; one that is not open any more (cancelled) has its answer already.
  void Answer(uint64_t number, std::string line);
  void Fail(uint64_t number, int64_t code, std::string_view message);
  // Whether a request names the agent's own session; else it is answered.
  bool IsOurs(const AgentRequestRow& row, const std::string& session_id);
  // What an open request waits for shows a sign of life.
  void Renew(uint64_t number);

  AgentTerminals& terminals() { return terminals_; }

 private:
  struct Service;
  static const Service* FindService(std::string_view method);
  void Refuse(const acp::Message& message, int64_t code, std::string_view why);
  void TakeNew(const acp::Message& message, const Service& service);
  void Open(const RowPtr& row);
  void ServeTerminal(const RowPtr& row);
  bool RecordAnswer(uint64_t number, std::string line);

  AgentWorker& worker_;
  std::map<uint64_t, RowPtr> open_;
  size_t open_bytes_ = 0;
  AgentFiles files_;
  AgentTerminals terminals_;
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_AGENT_SERVICES_H_
