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

size_t CostOf(const acp::McpServer& server) {
  size_t bytes = sizeof(server) + server.name.size() + server.command.size() + server.url.size();
  for (const std::string& arg : server.args) bytes += sizeof(arg) + arg.size();
  for (const auto* pairs : {&server.env, &server.headers}) {
    for (const auto& [name, value] : *pairs) bytes += name.size() + value.size();
  }
  return bytes;
}

size_t CostOf(const SetupSettings& setup) {
  size_t bytes = setup.system_prompt.size() + setup.meta_json.size();
  for (const acp::McpServer& server : setup.mcp_servers) bytes += CostOf(server);
  for (const std::string& path : setup.additional_directories) bytes += sizeof(path) + path.size();
  return bytes;
}

size_t CostOf(const acp::ConfigOption& option) {
  size_t bytes = sizeof(option) + option.id.size() + option.name.size() +
                 option.description.size() + option.category.size() + option.select.size();
  for (const auto& choice : option.choices) {
    bytes += sizeof(choice) + choice.value.size() + choice.name.size() + choice.description.size() +
             choice.group.size();
  }
  return bytes;
}

size_t CostOfSettings(const SessionRow& row) {
  size_t bytes = CostOf(row.setup) + row.commands_json.size() + row.wanted_mode.size() +
                 row.fork_of.size() + row.transcript.size() + row.transcript_of.size() +
                 row.remembered.size();
  for (const acp::ConfigOption& option : row.options) bytes += CostOf(option);
  for (const acp::ModeInfo& mode : row.modes) {
    bytes += sizeof(mode) + mode.id.size() + mode.name.size() + mode.description.size();
  }
  for (const acp::OptionValue& value : row.wanted_options) {
    bytes += sizeof(value) + value.config_id.size() + value.select.size();
  }
  return bytes;
}

size_t CostOf(const SessionRow& row) {
  return sizeof(row) + row.session_id.size() + row.project_id.size() + row.agent.size() +
         row.agent_session_id.size() + row.cwd.size() + row.title.size() + row.replaced_by.size() +
         row.mode_id.size() + row.model.size() + CostOf(row.origin) + CostOf(row.last_error) +
         CostOf(row.labels) + (row.model_provider ? CostOf(row.model_provider->options) : 0) +
         CostOfSettings(row);
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
         row.options.size() + row.schema_json.size() + row.elicitation_id.size() +
         row.memory_key.size();
}

size_t CostOf(const WorkerRow& row) {
  return sizeof(row) + row.worker_id.size() + row.session_id.size() + row.socket_path.size() +
         row.discard.size() + row.fingerprint.size() + row.initialize_json.size() +
         row.opened_pages.size() + row.settings.size();
}

size_t CostOf(const AgentRequestRow& row) {
  return sizeof(row) + row.worker_id.size() + row.agent_request_id.size() + row.session_id.size() +
         row.turn_id.size() + row.method.size() + row.params.size();
}

size_t CostOf(const TerminalRow& row) {
  return sizeof(row) + row.worker_id.size() + row.session_id.size() + row.turn_id.size() +
         row.command.size();
}

}  // namespace

size_t Record::cost() const {
  size_t bytes = sizeof(Record) + session_id.size() + link_discard.size() + events.bytes.size() +
                 events.ends.size() * sizeof(uint32_t);
  if (session) bytes += CostOf(*session);
  for (const TurnRow& row : turns) bytes += CostOf(row);
  for (const QuestionRow& row : questions) bytes += CostOf(row);
  if (worker) bytes += CostOf(*worker);
  for (const AgentRequestRow& row : agent_requests) bytes += CostOf(row);
  for (const TerminalRow& row : terminals) bytes += CostOf(row);
  const size_t going = answered_requests.size() + released_terminals.size();
  bytes += going * sizeof(answered_requests[0]);
  for (const OutboxLine& line : outbox) bytes += sizeof(line) + line.line.size();
  return bytes;
}

}  // namespace acpd::session
