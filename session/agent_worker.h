#ifndef ACPD_SESSION_AGENT_WORKER_H_
#define ACPD_SESSION_AGENT_WORKER_H_

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "acp/agent_connection.h"
#include "acp/types.h"
#include "session/agent_services.h"
#include "session/core.h"
#include "session/turn_watch.h"

namespace acpd::session {

// How much of an agent's stderr WorkerExited shows at most.
inline constexpr size_t kStderrTail = 64u << 10;

// How a request of ours ended.
struct AgentAnswer {
  enum class Kind { kResult, kError, kExited, kLost, kTimedOut };
  Kind kind = Kind::kTimedOut;
  std::string result;  // JSON
  acp::RpcError error;
  bool too_large = false;  // kError: the answer's line was over the cap
};

// What acpd's services to an agent go by.
struct ServiceScope {
  std::optional<std::string> agent_session_id;  // nullopt: a set-up is under way, any may be ours
  std::vector<std::string> roots;               // absolute folders; the first is the session's cwd
};

// What the owner of a worker (its session) gets to know of the agent, in wire order.
class AgentListener {
 public:
  virtual ~AgentListener() = default;
  virtual Recorder& recorder() = 0;
  virtual void OnUpdate(const acp::UpdateView& update) = 0;
  virtual void OnAgentRequest(const acp::Message& message) = 0;
  virtual void OnAgentNotification(const acp::Message& message) = 0;
  // The answer to the prompt with this id, at its place in the wire order.
  virtual void OnPromptAnswer(uint64_t id, const AgentAnswer& answer) = 0;
  // A line to ("out") or from ("in") the agent as it travels, for who logs it.
  virtual void OnWire(std::string_view direction, std::string_view line) {
    (void)direction, (void)line;
  }
  // What an agent says, without keys, for a log.
  virtual std::string HideSecrets(std::string_view text) const { return std::string(text); }
  virtual void OnNotice(Severity severity, std::string_view code, const std::string& text) = 0;
  // The agent and all it started are gone (once; after a loss, when what was left has been killed).
  virtual void OnGone() = 0;
  // An adopted agent answers again; `spec` is what it was launched with.
  virtual void OnAdopted(const acp::LaunchSpec&) {}
  virtual ServiceScope service_scope() const { return {}; }
  // The running turn; empty: none.
  virtual std::string_view CurrentTurnId() const { return {}; }
  virtual bool CancelsTurn(std::string_view) const { return false; }  // that one, if it runs
  // The agent waits for acpd with a request, by its number; or not any more. Told again when what
  // it waits for shows a sign of life.
  virtual void OnAgentWaits(uint64_t number, bool waits) { (void)number, (void)waits; }
  // True while what was handed over is not recorded yet: it is not acknowledged either, and with
  // much of it nothing more is read.
  virtual bool HoldsOutput() const { return false; }
  virtual size_t held_bytes() const { return 0; }
};

// The agent's answer to `initialize`. PROTOCOL_MISMATCH: it cannot be read, or the agent speaks
// another version of ACP.
absl::StatusOr<acp::InitializeResult> ReadInitialize(const std::string& result);

// Why a worker of an earlier acpd cannot be gone on with (LINK.md, rule 7), as the end of a
// sentence; empty: it can.
std::string MisfitOf(const WorkerRow& row, const acp::Hello& hello);

// What a worker that was killed leaves beside its row: its socket, or a spool that is of no use.
awaitable<void> RemoveWorkerFiles(Core& core, std::string socket_path);

// One agent process behind its acpd-worker, from the launch (or the adoption of one that an earlier
// acpd launched) to the last leftover: sends lines through the outbox (committed first, one
// outstanding at a time), matches answers, counts noise, and knows how it ended. It speaks no
// session logic. Loop thread only. Owned by its session; an owner that replaces another takes it
// over with SetListener.
// clang-format off
//   agent_worker.cc         what is sent, and answers    agent_worker_output.cc  what the agent says
//   agent_worker_start.cc   launch and adoption          agent_worker_end.cc     its end
//   agent_worker_services.cc  what acpd does for the agent
// clang-format on
class AgentWorker : public acp::AgentHandler, public std::enable_shared_from_this<AgentWorker> {
 public:
  // `slot` is held until nothing of the worker is left; without one it takes one of its own.
  AgentWorker(Core& core, const AgentDefinition& agent, AgentListener* listener,
              std::string session_id, WorkerSlots::SlotPtr slot = nullptr);
  // One that an earlier acpd left, as stored, with the lines that its agent has not had. It may be
  // used at once; what is sent waits for Attach.
  AgentWorker(Core& core, const AgentDefinition& agent, AgentListener* listener, WorkerRow row,
              std::vector<OutboxLine> outbox);
  ~AgentWorker() override;

  // What an earlier acpd left of its services; before Attach.
  void RestoreServices(StoredServices stored) { services_.Restore(std::move(stored)); }

  // Starts the process: the worker's row is committed before the spawn. Returns when HELLO has come
  // and the agent runs. AGENT_START_FAILED (FAILED_PRECONDITION: no such command; UNAVAILABLE: it
  // could not be run), START_TIMEOUT.
  awaitable<absl::Status> Start(acp::LaunchSpec spec, SteadyTime deadline);
  // Connects to the worker of an earlier acpd and goes on where that one stopped. A worker that is
  // gone, does not answer within `patience` or does not fit the store ends like any other: OnGone.
  // After LetGo it does nothing any more.
  awaitable<void> Attach(milliseconds patience);
  // Lets go of the worker and its agent, which live on: the next acpd attaches to them.
  void LetGo();

  uint64_t NextId() { return row_.next_request_id++; }
  // What is kept of a line. A set-up's holds secrets, and one that is under way begins anew after a
  // restart, so it never stands in the store.
  enum class Kept { kUntilTaken, kNever };
  // Sends a request and waits for its answer.
  awaitable<AgentAnswer> Call(uint64_t id, std::string line, SteadyTime deadline,
                              Kept kept = Kept::kUntilTaken);
  // Sends the prompt; its answer comes as OnPromptAnswer.
  void SendPrompt(uint64_t id, std::string line);
  // Puts a line into the pending record; it goes to the agent once that is committed.
  void SendLine(std::string line, Kept kept = Kept::kUntilTaken);

  // Ends the agent by the ladder of LINK.md and waits until its tree is gone; zero grace kills at
  // once. Never longer than the ladder and a margin: then what is left is killed by its mark.
  awaitable<void> Stop(milliseconds grace);
  void SetListener(AgentListener* listener, const std::string& session_id);

  bool alive() const { return !gone_ && !ended_; }
  bool gone() const { return gone_; }
  bool launched() const { return row_.worker_pid != 0; }  // there was a worker process
  bool lost() const { return lost_; }
  const std::string& id() const { return row_.worker_id; }
  const AgentDefinition& agent() const { return agent_; }
  // What its agent was launched with; nullptr until its worker has answered.
  const acp::LaunchSpec* spec() const { return hello_ ? &hello_->spec : nullptr; }
  const WorkerRow& row() const { return row_; }
  // What the owner wants the next acpd to know; it counts from RecordRow on.
  WorkerRow& mutable_row() { return row_; }
  void RecordRow();  // puts the row into the owner's pending record
  // It is being changed or ended: an acpd that is started meanwhile is not to go on with it.
  void RecordNotReady();
  WallTime started_at() const { return started_at_; }
  // "exit code 3; last words on stderr: ..."
  std::string ExitDetail() const;
  // The event that tells of the end.
  WorkerExitedEvent ExitedEvent() const;
  // Of the agent itself, or the end of one of its commands.
  SteadyTime last_activity() const { return last_activity_; }
  const ReadingClock& reading() const { return reading_; }
  SteadyTime last_heard() const { return last_heard_; }  // by that clock
  const WorkerSlots::SlotPtr& slot() const { return slot_; }
  SteadyTime last_prompt_answer() const { return last_prompt_answer_; }
  // agent_worker_services.cc: for the services, and theirs. The terminals' calls do nothing while
  // no worker is connected.
  AgentServices& services() { return services_; }
  Core& core() { return core_; }
  asio::any_io_executor loop() const { return core_.deps.loop; }
  Recorder& recorder() { return listener_->recorder(); }
  ServiceScope scope() const { return listener_->service_scope(); }
  std::string_view CurrentTurnId() const { return listener_->CurrentTurnId(); }
  bool CancelsTurn(std::string_view turn_id) const { return listener_->CancelsTurn(turn_id); }
  // `turn_id`, as long as that turn runs: events behind its end are not its own.
  std::string_view TurnIfCurrent(std::string_view turn_id) const;
  void Notice(Severity severity, std::string_view code, const std::string& text);
  void TellWaiting(uint64_t number, bool waits) { listener_->OnAgentWaits(number, waits); }
  void HeardOfTerminal(bool ended);
  void OpenTerminal(uint64_t number, uint64_t limit, acp::TerminalSpec spec);
  void WatchTerminal(uint64_t number, uint64_t from_offset);
  void ReadTerminal(uint64_t number, uint64_t tag);
  void KillTerminal(uint64_t number);
  void ReleaseTerminal(uint64_t number);

  // Records how far the agent's output has been handed over; the commit acknowledges it.
  void RecordConsumed();
  // Tells of skipped stdout lines since the last time, in one Notice.
  void ReportNoise();

  acp::InitializeResult initialize;

 private:
  struct Pending {
    std::optional<AgentAnswer> answer;
    bool prompt = false;
  };

  // acp::AgentHandler
  void OnLine(std::string_view line) override { listener_->OnWire("in", line); }
  void OnHello(const acp::Hello& hello) override;
  void OnUpdate(const acp::UpdateView& update) override;
  void OnRequest(const acp::Message& message) override;
  void OnNotification(const acp::Message& message) override;
  void OnAnswer(const acp::Message& message) override;
  void OnNoise(std::string_view line) override;
  void OnOversize(const acp::OversizeLine& line) override;
  void OnConsumed(uint64_t offset, std::string_view discard) override;
  void OnStdinDone(uint64_t seq) override;
  void OnStderr(std::string_view bytes) override;
  void OnTerminalState(const acp::TerminalState& state) override;
  void OnTerminalOutput(const acp::TerminalOutput& output) override;
  void OnTerminalSnapshot(acp::TerminalSnapshot snapshot) override;
  void OnExit(const acp::WorkerExit& exit) override;
  void OnLost(const std::string& why) override;
  awaitable<void> WaitForRoom() override;
  void OnReading(bool reading) override;

  void Heard();  // the agent said something
  void Settle(uint64_t id, AgentAnswer answer);
  void PumpOutbox();
  void CheckOutbox();
  // Ends the agent at once, with a Notice that says why.
  void GiveUpOn(std::string_view code, const std::string& text);
  awaitable<void> CleanUpLost(std::string why);
  void Finish();
  void ForgetRows(Record& record) const;
  void Connect(std::unique_ptr<acp::WorkerLink> link);
  absl::Status StartFailure(const acp::Hello& hello) const;
  void GiveUpAdopting(const std::string& why);
  void GoOn(const acp::Hello& hello);

  Core& core_;
  const AgentDefinition agent_;
  AgentListener* listener_;
  WorkerRow row_;
  const bool adopted_ = false;
  uint64_t recorded_offset_ = 0;  // what of row_'s is recorded: held output is not
  std::string recorded_discard_;
  WallTime started_at_ = 0;
  std::shared_ptr<acp::AgentConnection> connection_;
  std::optional<acp::Hello> hello_;
  std::map<uint64_t, Pending> pending_;
  std::deque<std::pair<uint64_t, std::string>> outbox_;  // committed, not yet handed to the worker
  size_t outbox_bytes_ = 0;
  bool line_outstanding_ = false;
  bool ended_ = false;  // exit or loss was seen
  bool lost_ = false;
  bool gone_ = false;       // nothing of it is left
  bool launching_ = false;  // the launcher is at work
  bool let_go_ = false;
  bool stopping_ = false;
  std::optional<acp::WorkerExit> exit_;
  std::string lost_why_, stderr_tail_;
  uint64_t noise_ = 0, noise_in_row_ = 0;
  std::string noise_sample_;
  SteadyTime last_activity_{}, last_prompt_answer_{};
  ReadingClock reading_;
  SteadyTime last_heard_{};
  WorkerSlots::SlotPtr slot_;
  Signal changed_;
  AgentServices services_{*this};
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_AGENT_WORKER_H_
