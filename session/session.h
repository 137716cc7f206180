#ifndef ACPD_SESSION_SESSION_H_
#define ACPD_SESSION_SESSION_H_

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "session/agent_worker.h"
#include "session/core.h"
#include "session/launch.h"
#include "session/permission_rules.h"
#include "session/resume_answers.h"
#include "session/setup_settings.h"
#include "session/turn.h"

namespace acpd::session {

// What somebody answers. A permission takes an option (nullopt: cancelled), an elicitation an
// outcome, with `content` where it is accepted.
struct Answer {
  QuestionOutcome outcome = QuestionOutcome::kCancelled;
  std::optional<std::string> option_id;
  std::string content;  // JSON
};

// An open question of the agent.
struct Question {
  explicit Question(asio::any_io_executor executor) : timer(std::move(executor)) {}
  QuestionRow row;
  std::vector<QuestionOption> options;
  asio::steady_timer timer;
};

// One conversation with one agent in one project. It takes its turns one at a time, makes itself
// ready for each (worker, resume, fallback), and writes everything it does to its log. The parts
// stand in files of their own:
// clang-format off
//   session.cc            rows, views, records      session_questions.cc  permissions
//   session_run.cc        the turns' loop           session_cancel.cc     cancel with its barrier
//   session_setup.cc      worker, initialize        session_close.cc      idle, close, delete, shutdown
//   session_resume.cc     resume ladder             session_log.cc        lines for the operator
//   session_fallback.cc   a new session instead     session_prompt.cc     what a turn asks of the ready session
//   session_slots.cc      a worker's slot, back-off  session_watch.cc     a turn's limits of time
//   session_agent.cc      what the agent says       session_adopt.cc      an earlier acpd's worker and turn
//   session_options.cc    mode and config options   session_elicitation.cc  questions with a form or a page
//   session_change.cc     changes of these          session_transcript.cc   the record of a lost conversation
//   session_fork.cc       a copy of another one     session_login.cc        what an agent wants before it works
// clang-format on
// Loop thread only. Held by the index of sessions and by its own coroutines.
class Session : public AgentListener, public std::enable_shared_from_this<Session> {
 public:
  static SessionPtr Make(Core& core, SessionRow row, uint64_t newest_seq);
  ~Session() override;

  // Whatever `turn` needs to know stands in it; the caller has checked it. Events and rows are
  // recorded, not yet flushed.
  void Accept(const TurnPtr& turn, bool interrupt);
  // A turn found in the store at the start.
  void Restore(const TurnPtr& turn);
  // At the start: a turn that ran when acpd stopped, and its worker with the lines that its agent
  // has not had; its open questions. Nothing waits: calls may come already.
  void RestoreRunning(const TurnPtr& turn);
  void RestoreWorker(WorkerRow row, std::vector<OutboxLine> outbox, StoredServices services);
  void RestoreQuestion(QuestionRow row);
  // Until what an earlier acpd left of this session is settled its queue waits.
  void HoldBack() { held_back_ = true; }
  bool held_back() const { return held_back_; }
  // Attaches to the restored worker and goes on with its turn; or it ends, if that fails.
  awaitable<void> TakeOver();
  // It failed by a defect: the worker is ended, and the queue does not wait for ever.
  void GiveUpTakeOver();
  // What an earlier acpd left has ended: so does a turn that ran in it, and the queue goes on.
  void GoOnAfresh();
  // Starts working on the queue, unless that is under way.
  void Pump();

  // Cancels `turn` (queued, starting or running). It ends later, unless it had not started.
  void Cancel(const TurnPtr& turn, const std::string& by, const std::string& reason,
              std::optional<milliseconds> grace, const acp::TraceContext& trace = {});
  // The store refused the record of its acceptance: it goes as though it had never come.
  void Undo(const TurnPtr& turn, const absl::Status& why);
  // Answers an open question for a caller. INVALID_ANSWER where the answer does not fit it.
  absl::StatusOr<Resolution> Respond(const std::string& question_id, const Answer& answer,
                                     const std::string& principal, const std::string& comment);
  const Question* FindQuestion(const std::string& question_id) const;

  // Stops the worker, if there is one, and waits until its tree is gone; `kill`: at once, without
  // the agent's say. No turn may be running.
  awaitable<void> CloseWorker(CloseReason reason, bool kill = false);
  awaitable<void> CloseForCaller(acp::TraceContext trace);  // as CloseReason::kCaller
  // The daemon stops. A starting turn goes back to the queue, and a set-up under way ends. A worker
  // that is ready is let go of with its turn, to be taken over by the next acpd; or, not to be
  // kept, its turn is cancelled and it is stopped.
  awaitable<void> ShutDown(SteadyTime deadline, bool keep_worker);
  // Changes one thing of the session, at its agent where that is at work, else at the next start.
  // NOT_SUPPORTED_BY_AGENT, AGENT_EXITED.
  awaitable<absl::Status> Change(SessionChange change, std::string principal);
  // Waits until no turn is being worked on, a set-up that was under way included.
  awaitable<void> WaitForRest(SteadyTime deadline);
  // A running turn of an earlier acpd, whose worker is gone: INTERRUPTED.
  void EndLost(const TurnPtr& turn);
  // Asks the agent to delete its own record of the session, where it runs and can.
  awaitable<void> DeleteAgentSide(acp::TraceContext trace);
  // Ends for good: the record that forgets it. The worker is gone already.
  void Delete(const std::string& principal);

  // Whether the start that `request` would need is held back, since the last ones failed.
  absl::Status CheckStart(const ChatRequest& request) const;
  // Since when it has had nothing to do, and its worker could be closed; nullopt: it could not.
  std::optional<SteadyTime> IdleSince() const;
  // Whether its agent has a command running; such a worker is kept longer.
  bool RunsCommand() const;
  bool closing() const { return closing_; }
  void CloseToMakeRoom() { SpawnClose(CloseReason::kLimit); }

  SessionView View() const;
  SessionState State() const;
  std::vector<TurnPtr> UnfinishedTurns() const;  // in order; the running one first
  std::vector<uint64_t> OpenQuestionSeqs() const;
  TurnPtr current() const { return current_; }
  size_t queue_length() const { return queue_.size(); }
  bool has_worker() const { return worker_ != nullptr; }
  bool resting() const { return !running_ && !closing_; }
  // To callers: it was ready once, or has a successor. Of others only the turns can be read.
  bool known() const { return row_.ready_once || !row_.replaced_by.empty(); }
  // Not known, and nothing goes on that could make it so: its id is free.
  bool vacant() const { return !known() && resting() && !worker_ && UnfinishedTurns().empty(); }
  bool needs_worker_for(const ChatRequest& request) const;
  bool setup_secrets_lost() const { return LacksSecrets(row_.setup); }
  // When its agent last answered a prompt; some write their record of it a little later.
  SteadyTime last_answer() const { return worker_ ? worker_->last_prompt_answer() : SteadyTime(); }
  bool has_api_key() const { return row_.model_provider && !row_.model_provider->api_key.empty(); }
  const SessionRow& row() const { return row_; }
  SessionRow& mutable_row() { return row_; }
  Recorder& recorder() override { return recorder_; }
  void RecordRow();        // puts the row into the pending record
  void AnnounceCreated();  // SessionCreated
  // As configured; of one that has left the config, as its live worker was started with.
  const AgentDefinition* agent() const;
  using LogFields = std::vector<std::pair<std::string, std::string>>;

 private:
  Session(Core& core, SessionRow row, uint64_t newest_seq);

  struct HeldUpdate {
    std::string session_id, json, kind, text, message_id, tool_call_id, tool_status, title;
  };
  // How making ready for a turn came out.
  struct Ready {
    absl::Status status;
    SessionOrigin origin;
    bool moved = false;  // the turn is the successor's now
  };
  // How the resume ladder came out.
  struct Ladder {
    enum class Kind { kResumed, kIgnored, kFailed, kFatal };
    Kind kind = Kind::kFailed;
    ResumeMethod method = ResumeMethod::kUnspecified;
    acp::SetupResult setup;
    std::string reason, detail;
    uint32_t attempts = 0;
    absl::Status fatal;
    std::string transcript;  // for the first prompt of the session that stands in
  };

  // session_adopt.cc
  void RecordWorker(uint64_t prompt_id);
  void RestoreEvidence(const TurnPtr& turn) const;
  awaitable<void> RereadTurn(TurnPtr turn);
  awaitable<void> RunAdopted(TurnPtr turn);
  void OnAdopted(const acp::LaunchSpec& spec) override;

  // session_run.cc
  void Go(awaitable<void> work);
  awaitable<void> Run();
  awaitable<void> RunTurn(TurnPtr turn);
  awaitable<void> FallBackLate(TurnPtr turn);
  void RecoverFromDefect();
  awaitable<void> ForceEnd(TurnPtr turn);
  void StartPrompt(const TurnPtr& turn);
  void SetTurnState(const TurnPtr& turn, TurnState state);
  void TakeBack(const TurnPtr& turn);
  void EndTurn(const TurnPtr& turn);
  void RecordEnd(const TurnPtr& turn);
  void RecordEndAgain(const TurnPtr& turn, const absl::Status& why);
  void RecordTurn(const TurnPtr& turn);
  void ForgetTurn(const TurnPtr& turn);
  void OnStoreRefused(const absl::Status& why, bool again);
  bool LooksPhantom(const TurnPtr& turn, const AgentAnswer& answer) const;

  // session_watch.cc
  awaitable<void> WatchTurn(TurnPtr turn);
  void StrikeLimit(const TurnPtr& turn, const std::string& limit);
  void WatchToolCall(std::string_view kind, std::string_view id, std::string_view status);
  void BeginWatch();
  void OnAgentWaits(uint64_t number, bool waits) override;
  SteadyTime NextLookAtSilence(const TurnPtr& turn);
  void LookAtSilence(const TurnPtr& turn);

  // session_slots.cc
  awaitable<void> WaitForSlot();
  void GiveUpWaiting(const TurnPtr& turn);
  std::string StartKey(const std::optional<ModelProvider>& provider) const;
  void CountStart(Ready& ready);

  // session_setup.cc
  awaitable<Ready> MakeReady(TurnPtr turn);
  // What the agent's session is set up with. NOT_SUPPORTED_BY_AGENT, CREDENTIALS_NEEDED.
  absl::StatusOr<acp::SessionSetup> MakeSetup() const;
  // Calls the agent; once more after a login, where it wants one that acpd can do by itself.
  awaitable<AgentAnswer> AskSetup(std::function<std::string(uint64_t id)> make_line);
  awaitable<absl::Status> StartWorker();
  SessionOrigin NewOrigin() const;
  awaitable<absl::Status> Initialize(SteadyTime deadline);
  awaitable<absl::Status> Authenticate();
  awaitable<absl::StatusOr<acp::SetupResult>> NewAgentSession(std::string meta_resume_id);
  LaunchContext ContextWith(const std::optional<ModelProvider>& provider) const;
  absl::StatusOr<LaunchContext> MakeLaunchContext() const;  // CREDENTIALS_NEEDED
  absl::StatusOr<acp::SetupResult> ReadNewSession(const AgentAnswer& answer,
                                                  const std::string& step);
  void TakeSetup(const acp::SetupResult& setup, bool resumed = false);
  void SetAgentSession(const std::string& agent_session_id, bool own);
  std::string WorkerDetail() const;  // how the worker ended, this one or the last
  absl::Status SetupFailure(const AgentAnswer& answer, const std::string& step,
                            const std::string& timeout_reason);
  SteadyTime SetupDeadline() const;
  bool WorkerFits() const;

  // session_prompt.cc
  // Before the prompt: what its Chat wants of the session, and whether the agent takes its content.
  awaitable<absl::Status> PreparePrompt(TurnPtr turn);
  awaitable<void> MakePromptLine(TurnPtr turn);
  std::vector<acp::ContentBlock> BlocksOf(const TurnPtr& turn) const;

  // session_resume.cc
  awaitable<Ready> ResumeOrFallBack(TurnPtr turn);
  awaitable<Ladder> ClimbLadder(uint32_t max_retries);
  awaitable<ResumeAnswer> TryResume(ResumeMethod method, acp::SessionSetup setup_asked,
                                    acp::SetupResult* setup);
  // False: given up, because nobody waits for the session any more.
  awaitable<bool> WaitUntilLoadable();
  bool IsUsable(ResumeMethod method) const;
  Ready Refuse(const Ladder& ladder);
  awaitable<void> WaitForReplayEnd(TurnPtr turn);

  // session_fallback.cc
  awaitable<Ready> FallBack(TurnPtr turn, Ladder ladder);
  SessionPtr Replace(const TurnPtr& cause, const Ladder& ladder,
                     const std::string& agent_session_id);
  void MoveTurn(const TurnPtr& turn, bool is_cause, Session& successor,
                SessionReplacedEvent& event);

  // session_options.cc
  void TakeOptions(const acp::SetupResult& setup, bool resumed);
  bool HasMode(const std::string& mode_id) const;
  bool IsChoice() const;  // a change that comes now: it is wanted from now on
  bool HasOption(const acp::OptionValue& value) const;
  void TakeOptionUpdate(const acp::UpdateView& update);
  void WantConfigured();                             // what the config says of new sessions
  awaitable<void> ApplyWanted();                     // after a set-up; a refusal is a Notice
  awaitable<absl::Status> ApplyAsked(TurnPtr turn);  // what its Chat wants
  void Announce(std::vector<std::string> changed, const std::string& principal);
  void SetOptions(std::vector<acp::ConfigOption> options);
  void SetCurrentMode(const std::string& mode_id);
  void WantMode(const std::string& mode_id);
  // It starts, and nobody has cancelled it or sent it back to the queue.
  static bool IsWanted(const TurnPtr& turn) { return turn->row.state == TurnState::kStarting; }

  // session_change.cc
  awaitable<absl::Status> SetMode(std::string mode_id, acp::TraceContext trace);
  awaitable<absl::Status> SetOption(acp::OptionValue value, acp::TraceContext trace);
  awaitable<absl::Status> AskChange(uint64_t id, std::string line, std::string what,
                                    std::string* result);
  absl::Status KeepForLater(const SessionChange& change);
  absl::Status CheckStands() const;

  // session_fork.cc
  awaitable<absl::StatusOr<acp::SetupResult>> ForkAgentSession();

  // session_login.cc
  awaitable<absl::Status> AuthenticateWith(std::string method_id);
  absl::Status LoginWanted(const std::string& agents_words) const;  // AGENT_AUTH_REQUIRED
  std::string MethodByVariable() const;  // that takes a key the agent has; empty: none

  // session_transcript.cc
  awaitable<std::string> ReadTranscript();

  // session_log.cc
  void Log(Severity severity, std::string_view text, std::string_view turn_id,
           LogFields fields = {}) const;
  std::vector<std::string> Secrets() const;  // what no line may show
  std::string HideSecrets(std::string_view text) const override;
  void OnWire(std::string_view direction, std::string_view line) override;
  void LogTurnEnd(const Turn& turn) const;
  void LogReady(const SessionOrigin& origin, std::string_view turn_id) const;

  // session_agent.cc
  void OnUpdate(const acp::UpdateView& update) override;
  void OnAgentRequest(const acp::Message& message) override;
  void OnAgentNotification(const acp::Message& message) override;
  void OnPromptAnswer(uint64_t id, const AgentAnswer& answer) override;
  void OnNotice(Severity severity, std::string_view code, const std::string& text) override;
  void OnGone() override;
  bool HoldsOutput() const override { return hold_updates_ || !held_.empty(); }
  size_t held_bytes() const override { return held_bytes_; }
  bool IsForeign(std::string_view agent_session_id);
  void AppendUpdate(const acp::UpdateView& update, bool replayed);
  void AppendParts(SessionUpdateEvent event);
  void TakeSideEffects(const acp::UpdateView& update);
  void ReleaseHeld(Session& to);
  std::vector<HeldUpdate> DropHeld();
  std::string_view CurrentTurnId() const override;
  bool CancelsTurn(std::string_view turn_id) const override {
    return turn_id == CurrentTurnId() && current_ && current_->row.state == TurnState::kCancelling;
  }
  ServiceScope service_scope() const override;

  // session_questions.cc
  void OnPermissionRequest(const acp::Message& message);
  void ArmQuestion(const std::shared_ptr<Question>& question);
  Resolution Resolve(const std::string& question_id, const Answer& answer, ResolvedBy by,
                     const std::string& principal, const std::string& comment);
  void ResolveAll(ResolvedBy by);
  PermissionMode DecideAhead(const PermissionSubject& subject) const;
  void NoteToolCall(const acp::UpdateView& update);
  void KeepToolCall(std::string_view kind, std::string_view id, acp::ToolCallFacts said);
  void CompleteFromToolCall(acp::PermissionRequest& request) const;
  bool RefuseQuestion(const acp::Message& message, const std::string& agent_session_id,
                      std::string wrong);
  milliseconds QuestionTimeout();
  std::shared_ptr<Question> MakeQuestion(const acp::Message& message, milliseconds timeout);
  void OpenQuestion(const std::shared_ptr<Question>& question, milliseconds timeout);
  void RememberAnswer(Question& question, const Answer& answer);
  absl::Status CheckAnswer(const Question& question, const Answer& answer) const;

  // session_elicitation.cc
  void OnElicitation(const acp::Message& message);
  void OnElicitationComplete(const acp::Message& message);
  void NotePage(const QuestionRow& row);
  void RecordPages();

  // session_cancel.cc
  void BeginCancel(const TurnPtr& turn, milliseconds grace, const acp::TraceContext& trace = {});

  // session_close.cc
  awaitable<void> EndWorker(CloseReason reason, bool kill, acp::TraceContext trace);
  void ArmIdleTimer();
  void OnIdleTimer();
  void SpawnClose(CloseReason reason);
  awaitable<void> CloseInTurn(CloseReason reason);

  Core& core_;
  SessionRow row_;
  Recorder recorder_;
  std::deque<TurnPtr> queue_;
  TurnPtr current_;       // starting or running
  bool running_ = false;  // the loop of Run is under way
  bool setting_up_ = false;
  bool closing_ = false;  // the worker is being stopped
  bool shut_down_ = false;
  bool held_back_ = false;  // what an earlier acpd left of it is not settled yet
  std::shared_ptr<AgentWorker> worker_;
  WorkerSlots::SlotPtr slot_;       // while turns are worked on: for the worker, or the next one
  std::optional<TurnWatch> watch_;  // of the running turn
  std::vector<TurnPtr> unstored_ends_;  // of turns: the store refused them
  std::string last_worker_detail_;      // how the one before ended; a set-up that it ends says so
  int64_t next_queue_order_ = 1;
  int64_t front_queue_order_ = 0;  // of turns that go before the queue
  std::map<std::string, std::shared_ptr<Question>> questions_;
  std::map<std::string, acp::ToolCallFacts, std::less<>> tool_calls_;  // of the running turn
  // Elicitation id -> question id of the pages that the agent may still complete.
  std::map<std::string, std::string> opened_pages_;
  acp::TraceContext trace_;   // of what the session does at the moment: its turn's
  bool login_tried_ = false;  // by a key in the agent's environment, with this worker
  // Whether the agent that runs has said what they are: those before it may have had others.
  bool mode_told_ = false, options_told_ = false;
  std::string changing_for_;  // who changes an option at the moment; empty: the agent
  bool changing_ = false;     // SetSessionOption is at work

  // Resume
  std::optional<SessionOrigin>
      ready_origin_;           // a fallback made this session ready: its first turn starts with it
  bool fresh_resume_ = false;  // resumed and not prompted since
  bool replaying_ = false;     // from session/load to the next prompt
  bool replay_known_ = false;  // our log has what is replayed
  bool replay_seen_ = false;
  SteadyTime last_update_{};
  bool hold_updates_ =
      false;  // the fallback's session/new is under way: whose they are is not known yet
  std::vector<HeldUpdate> held_;
  size_t held_bytes_ = 0;
  bool foreign_reported_ = false;

  asio::steady_timer idle_timer_;
  Signal changed_;  // the worker is gone, or the loop has come to rest
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_SESSION_H_
