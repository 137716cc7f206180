#include "session/store.h"

namespace acpd::session {
namespace {

size_t CostOf(const SessionOrigin& origin) {
  return origin.requested_session_id.size() + origin.reason.size() + origin.detail.size();
}

size_t CostOf(const Failure& failure) {
  return failure.reason.size() + failure.message.size() + failure.agent_data.size();
}

size_t CostOf(const Labels& map) {
  size_t bytes = 0;
  for (const auto& [key, value] : map) bytes += key.size() + value.size();
  return bytes;
}

size_t CostOf(const SessionRow& row) {
  return sizeof(row) + row.session_id.size() + row.project_id.size() + row.agent.size() +
         row.agent_session_id.size() + row.cwd.size() + row.title.size() + row.replaced_by.size() +
         row.mode_id.size() + row.model.size() + CostOf(row.origin) + CostOf(row.last_error) +
         CostOf(row.labels) + (row.model_provider ? CostOf(row.model_provider->options) : 0);
}

size_t CostOf(const TurnRow& row) {
  return sizeof(row) + row.turn_id.size() + row.session_id.size() + row.project_id.size() +
         row.request_id.size() + row.content_hash.size() + row.principal.size() +
         row.stored_request.size() + row.prompt.size() + CostOf(row.origin) +
         CostOf(row.result.error) + row.result.text.size() + row.result.final_text.size() +
         row.result.cancel_reason.size();
}

size_t CostOf(const QuestionRow& row) {
  return sizeof(row) + row.question_id.size() + row.session_id.size() + row.turn_id.size() +
         row.worker_id.size() + row.agent_request_id.size() + row.comment.size() +
         row.options.size();
}

size_t CostOf(const WorkerRow& row) {
  return sizeof(row) + row.worker_id.size() + row.session_id.size() + row.socket_path.size() +
         row.discard.size() + row.fingerprint.size() + row.initialize_json.size() +
         row.modes.size() + row.settings.size();
}

}  // namespace

size_t Record::cost() const {
  size_t bytes = sizeof(Record) + session_id.size() + link_discard.size() + events.bytes.size() +
                 events.ends.size() * sizeof(uint32_t);
  if (session) bytes += CostOf(*session);
  for (const TurnRow& row : turns) bytes += CostOf(row);
  for (const QuestionRow& row : questions) bytes += CostOf(row);
  if (worker) bytes += CostOf(*worker);
  for (const OutboxLine& line : outbox) bytes += sizeof(line) + line.line.size();
  return bytes;
}

}  // namespace acpd::session
