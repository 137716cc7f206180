#ifndef ACPD_ACP_AGENT_CONNECTION_H_
#define ACPD_ACP_AGENT_CONNECTION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "acp/asio.h"
#include "acp/line_splitter.h"
#include "acp/link_frames.h"
#include "acp/long_line_gate.h"
#include "acp/message.h"
#include "acp/terminal_frames.h"
#include "acp/worker_link.h"

namespace acpd::acp {

// What an agent says, in wire order, to whoever owns the connection (a session). All calls come on
// the loop; views are valid during the call only.
class AgentHandler {
 public:
  virtual ~AgentHandler() = default;

  virtual void OnHello(const Hello& hello) = 0;
  // Each line of the agent as it came, ahead of the call that it brings about; not those over the
  // cap.
  virtual void OnLine(std::string_view line) { (void)line; }
  virtual void OnUpdate(const UpdateView& update) = 0;  // session/update
  virtual void OnRequest(const Message& message) = 0;  // must be answered, unknown methods included
  virtual void OnNotification(const Message& message) = 0;
  virtual void OnAnswer(
      const Message& message) = 0;  // kResult or kError; its id may be unknown or not ours
  virtual void OnNoise(std::string_view line) = 0;        // not JSON, or no JSON-RPC
  virtual void OnOversize(const OversizeLine& line) = 0;  // over the cap, or nested too deeply
  // Everything before `offset` of the agent's stdout has been handed over: commit what came of it,
  // then Acknowledge(offset). `discard` is empty at a line border. Else a line over the cap is
  // being thrown away just there: it is what is known of that line so far (a few KiB of bytes at
  // most), to be stored with the offset and given to Start of the next connection.
  virtual void OnConsumed(uint64_t offset, std::string_view discard) = 0;
  virtual void OnStdinDone(uint64_t seq) = 0;
  virtual void OnStderr(std::string_view bytes) = 0;
  // The commands that the worker runs for the agent.
  virtual void OnTerminalState(const TerminalState& state) { (void)state; }
  virtual void OnTerminalOutput(const TerminalOutput& output) { (void)output; }
  virtual void OnTerminalSnapshot(TerminalSnapshot snapshot) { (void)snapshot; }
  // The last call, one of the two. The agent and its tree are gone:
  virtual void OnExit(const WorkerExit& exit) = 0;
  // or the worker is gone and what it left is unknown. Not called after Close.
  virtual void OnLost(const std::string& why) = 0;

  // Back-pressure: awaited before each read. Returns at once while there is room for more output.
  virtual awaitable<void> WaitForRoom() = 0;
  // Whether acpd reads what the agent says, or lets it wait: for room, or for its turn with a long
  // line.
  virtual void OnReading(bool reading) { (void)reading; }
};

// One agent behind its worker: reads the link, cuts lines, parses them (over 256 KiB on `pool`,
// while this link alone is not read) and calls the handler; sends whole lines. A chunk (at most 256
// KiB) is handled in one go, then the loop is yielded to. Loop thread only. The handler must
// outlive it or call Close first.
class AgentConnection : public std::enable_shared_from_this<AgentConnection> {
 public:
  struct Options {
    size_t max_line = 32u << 20;
    size_t max_depth = 128;
    std::shared_ptr<LongLineGate> long_lines =
        nullptr;  // shared by all connections; null: no bound
  };
  AgentConnection(asio::any_io_executor loop, asio::thread_pool& pool,
                  std::unique_ptr<WorkerLink> link, AgentHandler* handler, Options options);
  ~AgentConnection();

  // Sends ATTACH and starts reading. `discard` is what OnConsumed gave with `from_offset`: the line
  // over the cap ends as if there had been one connection. (What is no such text means a line of
  // which nothing is known.)
  void Start(uint64_t generation, uint64_t from_offset, std::string discard = {});
  // Hands over one line; at most one is outstanding until OnStdinDone(seq), further ones are the
  // caller's to keep.
  void SendLine(uint64_t seq, std::string_view line);
  void Acknowledge(uint64_t offset);
  void AcknowledgeExit();
  void Stop(milliseconds grace);
  // Terminals: what the worker does is said at the frames (terminal_frames.h). `limit` is of the
  // output that is kept, in bytes; a snapshot comes with the `tag` of its ReadTerminal.
  void OpenTerminal(uint64_t number, uint64_t limit, TerminalSpec spec);
  void WatchTerminal(uint64_t number, uint64_t from_offset);
  void ReadTerminal(uint64_t number, uint64_t tag);
  void KillTerminal(uint64_t number);
  void ReleaseTerminal(uint64_t number);
  // Lets go of the worker, which lives on. No handler call comes afterwards.
  void Close();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace acpd::acp

#endif  // ACPD_ACP_AGENT_CONNECTION_H_
