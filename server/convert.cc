#include "server/convert.h"

#include "acp/text.h"

namespace acpd::server {
namespace {

constexpr session::WallTime kSecond = 1'000'000;
// A larger prompt does not stand in a Turn twice (it is in `request` too).
constexpr size_t kMaxDoubledPrompt = 256u << 10;

template <class Proto, class Domain>
Proto Cast(Domain value) {
  return static_cast<Proto>(value);
}

// Leaves the message out where there is no time.
void SetTime(session::WallTime time, v1::Turn* turn,
             google::protobuf::Timestamp* (v1::Turn::*field)()) {
  if (time != 0) ToProto(time, (turn->*field)());
}

std::string_view FirstCharacters(std::string_view text, size_t count) {
  size_t end = 0;
  for (; end < text.size(); ++end) {
    const bool starts = (static_cast<unsigned char>(text[end]) & 0xc0) != 0x80;
    if (starts && count-- == 0) break;
  }
  return text.substr(0, end);
}

std::string Cut(std::string_view text, size_t max) { return std::string(CutText(text, max)); }
std::string Word(std::string_view text) { return Cut(text, kMaxWord); }
std::string Sentence(std::string_view text) { return Cut(text, kMaxSentence); }

void AddRequest(const session::TurnView& turn, v1::Turn* out) {
  if (turn.stored_request.empty() ||
      !out->mutable_request()->ParseFromString(turn.stored_request)) {
    out->clear_request();
    return;
  }
  out->mutable_request()->DiscardUnknownFields();  // the store's own marks
  std::string* prompt = out->mutable_request()->mutable_prompt();
  prompt->resize(CutText(*prompt, kMaxRequestPrompt).size());
  if (turn.prompt.size() > kMaxDoubledPrompt) out->set_prompt(Cut(turn.prompt, kMaxEventPrompt));
}

// Whether an entry still fits behind the others; else it is taken off again.
template <class Repeated>
bool Fits(Repeated* list, size_t max, size_t& bytes) {
  bytes += list->rbegin()->ByteSizeLong();
  if (bytes <= max) return true;
  list->RemoveLast();
  return false;
}

void AddQueued(const session::SessionView& session, v1::Session* out) {
  size_t bytes = 0;
  for (const auto& turn : session.queued) {
    ToProto(turn, TurnDetail::kListed, out->add_queued());
    if (!Fits(out->mutable_queued(), kMaxQueuedBytes, bytes)) return;
  }
}

void AddQuestions(const session::SessionView& session, v1::Session* out) {
  size_t bytes = 0;
  for (const auto& event : session.open_question_events) {
    const bool parsed = out->add_open_questions()->ParseFromString(event);
    if (!parsed) out->mutable_open_questions()->RemoveLast();
    if (parsed && !Fits(out->mutable_open_questions(), kMaxQuestionBytes, bytes)) return;
  }
}

void AddModes(const session::SessionView& session, v1::Session* out) {
  size_t bytes = 0;
  for (const auto& mode : session.available_modes) {
    auto* added = out->add_available_modes();
    added->set_mode_id(Word(mode.mode_id));
    added->set_name(Word(mode.name));
    added->set_description(Word(mode.description));
    if (!Fits(out->mutable_available_modes(), kMaxModeBytes, bytes)) return;
  }
}

void AddDetails(const session::SessionView& session, v1::Session* out) {
  AddQueued(session, out);
  AddQuestions(session, out);
  AddModes(session, out);
  if (session.usage != session::Usage()) ToProto(session.usage, out->mutable_usage());
  if (session.worker) {
    out->mutable_worker()->set_worker_id(session.worker->worker_id);
    out->mutable_worker()->set_pid(session.worker->pid);
    ToProto(session.worker->start_time, out->mutable_worker()->mutable_start_time());
  }
}

}  // namespace

void ToProto(session::WallTime time, google::protobuf::Timestamp* out) {
  out->set_seconds(time / kSecond);
  out->set_nanos(static_cast<int32_t>(time % kSecond * 1000));
}

void ToProto(milliseconds duration, google::protobuf::Duration* out) {
  out->set_seconds(duration.count() / 1000);
  out->set_nanos(static_cast<int32_t>(duration.count() % 1000 * 1'000'000));
}

void ToProto(const session::Failure& failure, v1::Failure* out) {
  out->set_reason(failure.reason);
  out->set_message(Sentence(failure.message));
  out->set_agent_code(failure.agent_code);
  const auto data = CutText(failure.agent_data, kMaxJson);
  out->set_agent_data(std::string(data));
  out->set_agent_data_truncated(data.size() < failure.agent_data.size());
  out->set_retryable(failure.retryable);
  if (failure.retry_after.count() > 0) ToProto(failure.retry_after, out->mutable_retry_after());
}

void ToProto(const session::Usage& usage, v1::Usage* out) {
  if (usage.input_tokens) out->set_input_tokens(*usage.input_tokens);
  if (usage.output_tokens) out->set_output_tokens(*usage.output_tokens);
  if (usage.cached_read_tokens) out->set_cached_read_tokens(*usage.cached_read_tokens);
  if (usage.cached_write_tokens) out->set_cached_write_tokens(*usage.cached_write_tokens);
  if (usage.thought_tokens) out->set_thought_tokens(*usage.thought_tokens);
  if (usage.total_tokens) out->set_total_tokens(*usage.total_tokens);
  if (usage.context_used) out->set_context_used(*usage.context_used);
  if (usage.context_size) out->set_context_size(*usage.context_size);
  if (usage.cost) out->set_cost(*usage.cost);
  out->set_currency(Word(usage.currency));
}

void ToProto(const session::SessionOrigin& origin, v1::SessionOrigin* out) {
  out->set_kind(Cast<v1::SessionOrigin::Kind>(origin.kind));
  out->set_method(Cast<v1::SessionOrigin::Method>(origin.method));
  out->set_requested_session_id(origin.requested_session_id);
  out->set_reason(origin.reason);
  out->set_detail(Sentence(origin.detail));
  out->set_attempts(origin.attempts);
  out->set_transcript_injected(origin.transcript_injected);
}

void ToProto(const session::TurnResult& result, bool with_text, v1::TurnResult* out) {
  out->set_outcome(Cast<v1::TurnResult::Outcome>(result.outcome));
  out->set_stop_reason(Word(result.stop_reason));
  if (!result.error.reason.empty()) ToProto(result.error, out->mutable_error());
  const auto text = CutText(result.text, kMaxResultText);
  const auto final_text = CutText(result.final_text, kMaxResultText);
  if (with_text) out->set_text(std::string(text));
  out->set_final_text(std::string(final_text));
  out->set_text_truncated(result.text_truncated || text.size() < result.text.size() ||
                          final_text.size() < result.final_text.size());
  if (result.usage != session::Usage()) ToProto(result.usage, out->mutable_usage());
  out->set_prompt_sent(result.prompt_sent);
  out->set_cancelled_by(result.cancelled_by);
  out->set_cancel_reason(result.cancel_reason);
}

void ToProto(const session::Resolution& resolution, v1::QuestionResolved* out) {
  out->set_question_id(resolution.question_id);
  out->set_outcome(Cast<v1::QuestionResolved::Outcome>(resolution.outcome));
  out->set_option_id(resolution.option_id);
  out->set_by(Cast<v1::QuestionResolved::By>(resolution.by));
  out->set_principal(resolution.principal);
  out->set_comment(resolution.comment);
}

void ToProto(const session::QuestionOption& option, v1::PermissionRequested::Option* out) {
  out->set_option_id(option.option_id);
  out->set_name(option.name);
  out->set_kind(Cast<v1::PermissionOptionKind>(option.kind));
}

void ToProto(const session::TurnView& turn, TurnDetail detail, v1::Turn* out) {
  out->set_turn_id(turn.turn_id);
  out->set_request_id(turn.request_id);
  out->set_state(Cast<v1::TurnState>(turn.state));
  SetTime(turn.accept_time, out, &v1::Turn::mutable_accept_time);
  SetTime(turn.start_time, out, &v1::Turn::mutable_start_time);
  SetTime(turn.end_time, out, &v1::Turn::mutable_end_time);
  out->set_project_id(turn.project_id);
  out->set_session_id(turn.session_id);
  const bool whole = detail == TurnDetail::kWhole;
  out->set_prompt(whole ? turn.prompt
                        : std::string(FirstCharacters(turn.prompt, kListedPromptCharacters)));
  if (turn.state == session::TurnState::kEnded) ToProto(turn.result, whole, out->mutable_result());
  if (turn.origin.kind != session::OriginKind::kUnspecified)
    ToProto(turn.origin, out->mutable_origin());
  out->set_after_seq(turn.after_seq);
  out->set_after_position(turn.after_position);
  if (whole) AddRequest(turn, out);
}

void ToProto(const session::SessionView& session, SessionDetail detail, v1::Session* out) {
  out->set_session_id(session.session_id);
  out->set_project_id(session.project_id);
  out->set_state(Cast<v1::Session::State>(session.state));
  out->set_agent(session.agent);
  out->set_agent_session_id(Word(session.agent_session_id));
  out->set_cwd(session.cwd);
  if (session.origin.kind != session::OriginKind::kUnspecified)
    ToProto(session.origin, out->mutable_origin());
  out->set_replaced_by(session.replaced_by);
  out->set_title(Word(session.title));
  if (session.create_time != 0) ToProto(session.create_time, out->mutable_create_time());
  if (session.last_active_time != 0)
    ToProto(session.last_active_time, out->mutable_last_active_time());
  out->set_newest_seq(session.newest_seq);
  if (session.running) ToProto(*session.running, TurnDetail::kListed, out->mutable_running());
  out->set_mode_id(Word(session.mode_id));
  for (const auto& [name, value] : session.labels) (*out->mutable_labels())[name] = value;
  out->set_permission_mode(Cast<v1::PermissionMode>(session.permission_mode));
  if (!session.last_error.reason.empty()) ToProto(session.last_error, out->mutable_last_error());
  out->set_model(Word(session.model));
  if (detail == SessionDetail::kFull) AddDetails(session, out);
}

void ToProto(const session::AgentView& agent, v1::Agent* out) {
  out->set_name(agent.name);
  for (const auto& word : agent.command) out->add_command(word);
  out->set_is_default(agent.is_default);
  out->set_available(agent.available);
  out->set_unavailable_reason(agent.unavailable_reason);
  out->set_version(Word(agent.version));
  if (agent.capabilities_json.size() <= kMaxAgentJson)
    out->set_capabilities_json(agent.capabilities_json);
  if (agent.auth_methods_json.size() <= kMaxAgentJson)
    out->set_auth_methods_json(agent.auth_methods_json);
  out->set_auth_required(agent.auth_required);
}

void ToProto(const session::ChatReply& reply, v1::ChatResponse* out) {
  const session::TurnView& turn = reply.turn;
  out->set_project_id(turn.project_id);
  out->set_session_id(turn.session_id);
  out->set_turn_id(turn.turn_id);
  out->set_request_id(turn.request_id);
  if (turn.origin.kind != session::OriginKind::kUnspecified)
    ToProto(turn.origin, out->mutable_origin());
  out->set_state(Cast<v1::TurnState>(turn.state));
  out->set_after_seq(turn.after_seq);
  if (turn.state == session::TurnState::kEnded) ToProto(turn.result, true, out->mutable_result());
  out->set_deduplicated(reply.deduplicated);
  out->set_agent_session_id(Word(reply.agent_session_id));
  out->set_after_position(turn.after_position);
  out->set_epoch(reply.epoch);
}

void ToProto(const session::CancelReply& reply, v1::CancelResponse* out) {
  out->set_outcome(Cast<v1::CancelResponse::Outcome>(reply.outcome));
  for (const auto& turn : reply.turns) {
    auto* added = out->add_turns();
    added->set_session_id(turn.session_id);
    added->set_turn_id(turn.turn_id);
    added->set_outcome(Cast<v1::CancelResponse::Outcome>(turn.outcome));
    ToProto(turn.duration, added->mutable_cancel_duration());
  }
}

}  // namespace acpd::server
