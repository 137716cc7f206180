#include "server/convert.h"

#include "server/convert_parts.h"

namespace acpd::server {
namespace {

constexpr session::WallTime kWallSecond = 1'000'000;

}  // namespace

void ToProto(session::WallTime time, google::protobuf::Timestamp* out) {
  out->set_seconds(time / kWallSecond);
  out->set_nanos(static_cast<int32_t>(time % kWallSecond * 1000));
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
  out->set_raw_kind(Word(option.raw_kind));
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
