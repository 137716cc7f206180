#ifndef ACPD_SESSION_AGENT_TERMINALS_H_
#define ACPD_SESSION_AGENT_TERMINALS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acp/agent_requests.h"
#include "acp/asio.h"
#include "acp/terminal_frames.h"
#include "session/store.h"

namespace acpd::session {

class AgentServices;
class AgentWorker;
struct TerminalOutputEvent;

inline constexpr std::string_view kTerminalOutput = "terminal/output";
inline constexpr std::string_view kWaitForExit = "terminal/wait_for_exit";
inline constexpr std::string_view kKillTerminal = "terminal/kill";
inline constexpr std::string_view kReleaseTerminal = "terminal/release";

// The commands that an agent has run (https://agentclientprotocol.com/protocol/terminals): the
// worker runs them, so that they end with it; here are their ids, who waits for what, and what
// readers see of them (TerminalOutput). A terminal has the number of the request that made it, and
// the id "term-NUMBER". What of its output stands in the log is stored with each event: after a
// restart it is watched from there on. Loop thread only. Owned by the agent's AgentServices.
class AgentTerminals {
 public:
  using RowPtr = std::shared_ptr<const AgentRequestRow>;

  AgentTerminals(AgentWorker& worker, AgentServices& services)
      : worker_(worker), services_(services) {}
  ~AgentTerminals();

  // agent_terminals.cc: the requests. `again`: of an earlier acpd, which may have begun with it.
  void Create(const RowPtr& row, bool again);
  void Output(const RowPtr& row, const acp::TerminalRequest& request);
  // wait_for_exit, kill and release: all are answered when the command has exited. (A release only
  // then, so that the log has all of its output.)
  void AwaitExit(const RowPtr& row, const acp::TerminalRequest& request);
  void Cancel(uint64_t number);
  // Takes back the waits of a turn, but for commands that are being ended, and the commands that
  // have not begun; which requests these are.
  std::vector<uint64_t> TakeBack(std::string_view turn_id);
  // Whether a command runs, or is about to.
  bool running() const;
  // The record with the request is committed.
  void OnStored(uint64_t number);

  // agent_terminals_told.cc: what the worker tells.
  void Restore(std::vector<TerminalRow> rows);
  void Resume();
  void MoveTo(const std::string& session_id);
  void End();
  void OnState(const acp::TerminalState& state);
  void OnOutput(const acp::TerminalOutput& output);
  void OnSnapshot(const acp::TerminalSnapshot& snapshot);

 private:
  // A terminal/create that is not answered yet.
  struct Making {
    std::string command, turn_id;
    uint64_t output_limit = 0;
    std::optional<acp::TerminalSpec> spec;  // once it is checked
    bool stored = false;                    // its request is
    bool opened = false;                    // the worker was asked
    bool again = false;  // an earlier acpd may have asked it, the worker has yet to say so
  };
  struct Terminal {
    TerminalRow row;
    std::optional<acp::TerminalExit> exit;
    std::vector<RowPtr> waiting;                  // for its exit
    std::unique_ptr<asio::steady_timer> overdue;  // while it is being killed
    bool adopted = false;  // what the worker says right behind HELLO is not the last word
  };

  awaitable<void> Plan(std::shared_ptr<AgentWorker> keep, uint64_t number,
                       acp::CreateTerminalRequest request);
  void TryOpen(uint64_t number);
  static std::string IdOf(uint64_t number);
  Terminal* Find(std::string_view terminal_id);
  // nullptr: there is none, and the request is answered.
  Terminal* FindFor(const AgentRequestRow& row, const acp::TerminalRequest& request);
  void Kill(Terminal& terminal);
  void OnOverdue(uint64_t number);
  void AnswerWaiting(Terminal& terminal);
  bool TakeStart(Making& making, const acp::TerminalState& state);
  void Started(uint64_t number, Making making);
  void NotStarted(uint64_t number, const acp::TerminalState& state);
  void Exited(Terminal& terminal, acp::TerminalExit exit);
  void Record(const Terminal& terminal);
  void Append(const TerminalRow& row, TerminalOutputEvent event);

  AgentWorker& worker_;
  AgentServices& services_;
  std::map<uint64_t, Making> making_;
  std::map<uint64_t, Terminal> terminals_;
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_AGENT_TERMINALS_H_
