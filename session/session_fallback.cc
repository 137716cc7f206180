// The new session that stands in when no step of the resume ladder helps (LIFE.md section 3).
#include <algorithm>
#include <utility>

#include "session/errors.h"
#include "session/names.h"
#include "session/session.h"

namespace acpd::session {
namespace {

bool MayMove(const TurnPtr& turn) {
  return turn->request.resume_policy.mode != ResumeMode::kRequire;
}

}  // namespace

awaitable<Session::Ready> Session::FallBack(TurnPtr turn, Ladder ladder) {
  Ready ready;
  const bool same_worker = worker_ && worker_->alive() && ladder.reason != "RESUME_TIMEOUT";
  if (!same_worker) {
    if (worker_) co_await CloseWorker(CloseReason::kUnspecified, true);
    ready.status = co_await StartWorker();
    if (!ready.status.ok()) {
      if (worker_) co_await CloseWorker(CloseReason::kUnspecified, true);
      co_return ready;
    }
  }
  const ResumePolicy& policy = turn->request.resume_policy;
  if (policy.mode == ResumeMode::kFallbackWithTranscript) {
    // What the agent says of a session that it has made already is not this one's.
    hold_updates_ = ladder.kind == Ladder::Kind::kIgnored;
    ladder.transcript = co_await ReadTranscript();
  }
  const SetupSettings kept = row_.setup;
  const bool without_servers = !policy.preserve_mcp_servers && !turn->request.mcp_servers;
  if (without_servers) row_.setup.mcp_servers.clear();
  std::string agent_session_id = ladder.setup.session_id;
  if (ladder.kind != Ladder::Kind::kIgnored || row_.setup != kept) {
    hold_updates_ = true;
    absl::StatusOr<acp::SetupResult> setup = co_await NewAgentSession("");
    if (!setup.ok()) {
      hold_updates_ = false;
      row_.setup = kept;
      ReleaseHeld(*this);
      ready.status = setup.status();
      if (worker_) co_await CloseWorker(CloseReason::kUnspecified, true);
      co_return ready;
    }
    ladder.setup = std::move(*setup);
    agent_session_id = ladder.setup.session_id;
    // The worker goes along: it is one for the settings that it was just asked with.
    if (const AgentDefinition* definition = agent(); definition && worker_ && row_.setup != kept) {
      worker_->mutable_row().fingerprint = LaunchFingerprint(
          *definition, ContextWith(row_.model_provider), core_.deps.store->fingerprint_key());
    }
  }
  hold_updates_ = false;
  if (turn->ended() && std::none_of(queue_.begin(), queue_.end(), MayMove)) {
    // Cancelled meanwhile, and nobody else would go on elsewhere: the session stays as it was.
    row_.setup = kept;
    DropHeld();
    co_await CloseWorker(CloseReason::kUnspecified, true);
    co_return ready;
  }
  if (!worker_ || !worker_->alive() || shut_down_) {
    row_.setup = kept;
    ReleaseHeld(*this);
    ready.status = MakeError("AGENT_EXITED", "The agent ended while a new session was set up (" +
                                                 WorkerDetail() + "); send the Chat again.");
    co_return ready;
  }
  const SessionPtr successor = Replace(turn, ladder, agent_session_id);
  successor->Pump();
  ready.moved = true;
  co_return ready;
}

// One transaction: this session's last event, the successor, and every unfinished turn there.
SessionPtr Session::Replace(const TurnPtr& cause, const Ladder& ladder,
                            const std::string& agent_session_id) {
  SessionRow row;
  row.session_id = NewId(core_.now());
  row.project_id = row_.project_id;
  row.agent = row_.agent;
  row.agent_session_id = agent_session_id;
  row.own_agent_session = true;
  row.ready_once = true;
  row.cwd = row_.cwd;
  row.title = row_.title;
  row.create_time = core_.now();
  row.last_active_time = row.create_time;
  row.labels = row_.labels;
  row.model_provider = row_.model_provider;
  row.needs_api_key = row_.needs_api_key;
  row.permission_mode = row_.permission_mode;
  row.model = row_.model;
  row.setup = row_.setup;
  row.needs_setup_secrets = row_.needs_setup_secrets;
  row.wanted_mode = row_.wanted_mode;
  row.wanted_options = row_.wanted_options;
  row.remembered = row_.remembered;
  row.agent_session_time = row.create_time;
  row.transcript = ladder.transcript;
  if (!row.transcript.empty()) row.transcript_of = row_.session_id;
  row.origin.kind = OriginKind::kFallback;
  row.origin.method =
      ladder.kind == Ladder::Kind::kIgnored ? ladder.method : ResumeMethod::kUnspecified;
  row.origin.requested_session_id = row_.session_id;
  row.origin.reason = ladder.reason;
  row.origin.detail = ladder.detail;
  row.origin.attempts = ladder.attempts;
  row.origin.transcript_injected = !ladder.transcript.empty();
  const SessionPtr successor = Make(core_, row, 0);
  successor->TakeSetup(ladder.setup);
  successor->ready_origin_ = row.origin;
  successor->worker_ = std::move(worker_);
  worker_ = nullptr;
  successor->opened_pages_ = std::exchange(opened_pages_, {});
  successor->AnnounceCreated();

  SessionReplacedEvent event;
  event.new_session_id = row.session_id;
  event.reason = ladder.reason;
  event.detail = ladder.detail;
  std::vector<TurnPtr> turns = UnfinishedTurns();
  queue_.clear();
  current_ = nullptr;
  for (const TurnPtr& turn : turns) MoveTurn(turn, turn == cause, *successor, event);
  row_.replaced_by = row.session_id;
  Log(Severity::kWarning, "session replaced by a new one: its context is lost", "",
      {{"new_session", row.session_id}, {"reason", ladder.reason}, {"detail", ladder.detail}});
  row_.last_error = Failure();
  core_.by_agent_session.erase({row_.agent, row_.agent_session_id});
  core_.by_agent_session[{row.agent, agent_session_id}] = row.session_id;
  recorder_.Append("", event);
  RecordRow();
  successor->RecordRow();

  successor->worker_->SetListener(successor.get(), row.session_id);
  successor->worker_->RecordNotReady();
  ReleaseHeld(*successor);
  const bool in_chunk = recorder_.in_chunk();
  recorder_.EndChunk();
  auto [own, own_done] = recorder_.Take();
  auto [next, next_done] = successor->recorder_.Take();
  // What was released may lie behind the consumed offset: only with the chunk's end, which records
  // that too, may the worker become one to be gone on with.
  if (in_chunk) successor->recorder_.BeginChunk();
  own.full_sync = true;
  std::vector<Record> group;
  group.push_back(std::move(own));
  group.push_back(std::move(next));
  core_.deps.store->Commit(
      std::move(group),
      [first = std::move(own_done), second = std::move(next_done)](const CommitResult& result) {
        first(result);
        second(result);
      });
  changed_.Notify();
  return successor;
}

void Session::MoveTurn(const TurnPtr& turn, bool is_cause, Session& successor,
                       SessionReplacedEvent& event) {
  if (!turn->unstarted() || turn->row.state == TurnState::kStarting) {
    // It was taken off the queue here and goes back to one there.
    core_.CountQueued(turn->row);
  }
  event.moved_turn_ids.push_back(turn->row.turn_id);
  turn->phantom = false;
  turn->evidence = TurnEvidence();
  turn->row.result = TurnResult();
  turn->row.start_time = 0;
  turn->after_position = 0;
  successor.Accept(turn, false);
  turn->changed.Notify();
  if (is_cause || turn->request.resume_policy.mode != ResumeMode::kRequire) return;
  successor.queue_.pop_back();
  core_.UncountQueued(turn->row);
  turn->evidence.start_failure = ToFailure(MakeError(
      "SESSION_NOT_RESUMABLE", "The session " + row_.session_id + " was replaced by " +
                                   successor.row_.session_id +
                                   " while this turn waited, and it asked for MODE_REQUIRE."));
  successor.EndTurn(turn);
}

}  // namespace acpd::session
