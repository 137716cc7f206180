#include "session/session.h"

#include <algorithm>
#include <utility>

#include "acp/text.h"

namespace acpd::session {
namespace {

constexpr size_t kEventPrompt = 64u << 10;  // of the prompt in TurnQueued

}  // namespace

SessionPtr Session::Make(Core& core, SessionRow row, uint64_t newest_seq) {
  SessionPtr session(new Session(core, std::move(row), newest_seq));
  session->recorder_.SetOwner(session);
  session->recorder_.SetOnRefused(
      [weak = std::weak_ptr<Session>(session)](const absl::Status& why, bool again) {
        if (const SessionPtr owner = weak.lock()) owner->OnStoreRefused(why, again);
      });
  core.sessions[session->row_.session_id] = session;
  core.projects.insert(session->row_.project_id);
  if (!session->row_.agent_session_id.empty() && session->row_.replaced_by.empty()) {
    core.by_agent_session[{session->row_.agent, session->row_.agent_session_id}] =
        session->row_.session_id;
  }
  return session;
}

Session::Session(Core& core, SessionRow row, uint64_t newest_seq)
    : core_(core),
      row_(std::move(row)),
      recorder_(core, row_.session_id, row_.project_id, newest_seq),
      idle_timer_(core.deps.loop),
      changed_(core.deps.loop) {}

Session::~Session() = default;

void Session::RecordRow() {
  const bool kept = core_.config().store_mcp_secrets;
  row_.needs_setup_secrets = !kept && HoldsSecrets(row_.setup);
  recorder_.pending().session = row_;
  if (!kept) recorder_.pending().session->setup = WithoutSecrets(row_.setup);
}

void Session::AnnounceCreated() {
  SessionCreatedEvent event;
  event.session = View();
  recorder_.Append("", event);
}

void Session::Accept(const TurnPtr& turn, bool interrupt) {
  TurnRow& row = turn->row;
  row.session_id = row_.session_id;
  row.state = TurnState::kQueued;
  turn->queued_at = std::chrono::steady_clock::now();
  size_t ahead = queue_.size() + (current_ ? 1 : 0);
  if (interrupt) {
    // Behind earlier interrupts, before the queue.
    size_t place = 0;
    while (place < queue_.size() && queue_[place]->row.queue_order <= 0) ++place;
    row.queue_order =
        place == 0 ? front_queue_order_ - 1'000'000 : queue_[place - 1]->row.queue_order + 1;
    front_queue_order_ = row.queue_order;
    queue_.insert(queue_.begin() + static_cast<std::ptrdiff_t>(place), turn);
    ahead = place + (current_ ? 1 : 0);
  } else {
    row.queue_order = next_queue_order_++;
    queue_.push_back(turn);
  }
  row_.last_active_time = core_.now();
  if (!row.setup_only) {
    row_.permission_mode = turn->request.permission_mode;
    TurnQueuedEvent event;
    event.request_id = row.request_id;
    event.ahead = static_cast<uint32_t>(ahead);
    event.prompt = std::string(CutText(row.prompt, kEventPrompt));
    event.prompt_truncated = event.prompt.size() < row.prompt.size();
    event.principal = row.principal;
    event.agent = row_.agent;
    event.model = turn->request.model_provider ? turn->request.model_provider->model : row_.model;
    event.permission_mode = turn->request.permission_mode;
    SetupSettings settings = row_.setup;
    TakeSettings(turn->request, settings);
    for (const acp::McpServer& server : settings.mcp_servers)
      event.mcp_server_names.push_back(server.name);
    row.queued_seq = recorder_.Append(row.turn_id, event);
  }
  Log(Severity::kInfo, "turn accepted", row.turn_id,
      {{"agent", row_.agent}, {"ahead", std::to_string(ahead)}});
  RecordRow();
  RecordTurn(turn);
  const uint64_t first_seq = recorder_.pending().events.first_seq;
  recorder_.WhenCommitted([turn, first_seq](const CommitResult& result) {
    if (!result.status.ok()) return;
    turn->stored = true;
    if (turn->row.queued_seq == 0 || turn->after_position != 0) return;
    turn->after_position = result.first_position + (turn->row.queued_seq - first_seq) - 1;
  });
}

const AgentDefinition* Session::agent() const {
  const AgentDefinition* configured = core_.config().Find(row_.agent);
  return configured || !worker_ ? configured : &worker_->agent();
}

void Session::Restore(const TurnPtr& turn) {
  next_queue_order_ = std::max(next_queue_order_, turn->row.queue_order + 1);
  front_queue_order_ = std::min(front_queue_order_, turn->row.queue_order);
  turn->queued_at = std::chrono::steady_clock::now();
  queue_.push_back(turn);
}

void Session::RecordTurn(const TurnPtr& turn) {
  recorder_.pending().turns.push_back(turn->row);
  // What was promised reaches the disk before it is said: that a turn was accepted, and that it
  // ended.
  const TurnState state = turn->row.state;
  if (state == TurnState::kQueued || state == TurnState::kEnded) {
    recorder_.pending().full_sync = true;
  }
}

std::vector<TurnPtr> Session::UnfinishedTurns() const {
  std::vector<TurnPtr> turns;
  if (current_ && !current_->ended()) turns.push_back(current_);
  for (const TurnPtr& turn : queue_) turns.push_back(turn);
  return turns;
}

std::vector<uint64_t> Session::OpenQuestionSeqs() const {
  std::vector<uint64_t> seqs;
  for (const auto& [id, question] : questions_) seqs.push_back(question->row.event_seq);
  return seqs;
}

SessionState Session::State() const {
  if (!row_.replaced_by.empty()) return SessionState::kReplaced;
  if (!questions_.empty()) return SessionState::kWaiting;
  if (setting_up_) return SessionState::kStarting;
  if (current_ || !queue_.empty()) return SessionState::kBusy;
  return worker_ && worker_->alive() ? SessionState::kIdle : SessionState::kDormant;
}

SessionView Session::View() const {
  SessionView view;
  view.session_id = row_.session_id;
  view.project_id = row_.project_id;
  view.state = State();
  view.agent = row_.agent;
  view.agent_session_id = row_.agent_session_id;
  view.cwd = row_.cwd;
  view.origin = row_.origin;
  view.replaced_by = row_.replaced_by;
  view.title = row_.title;
  view.create_time = row_.create_time;
  view.last_active_time = row_.last_active_time;
  view.newest_seq = recorder_.newest_seq();
  if (current_ && !current_->ended() && !current_->row.setup_only) view.running = current_->View();
  for (const TurnPtr& turn : queue_) {
    if (!turn->row.setup_only) view.queued.push_back(turn->View());
  }
  view.open_question_seqs = OpenQuestionSeqs();
  view.mode_id = row_.mode_id;
  view.config_options = row_.options;
  view.available_commands_json = row_.commands_json;
  view.usage = row_.usage;
  if (worker_ && worker_->alive()) {
    view.worker = WorkerView{worker_->id(), worker_->row().agent_pid, worker_->started_at()};
    for (const acp::ModeInfo& mode : row_.modes) {
      view.available_modes.push_back({mode.id, mode.name, mode.description});
    }
  }
  view.labels = row_.labels;
  view.permission_mode = row_.permission_mode;
  view.last_error = row_.last_error;
  view.model = row_.model;
  return view;
}

}  // namespace acpd::session
