#ifndef ACPD_SESSION_STORE_COLUMNS_H_
#define ACPD_SESSION_STORE_COLUMNS_H_

#include "session/store.h"

// Which column holds which field: one list for each row type, in the order of the table. Only
// store_rows.cc includes it. A visitor `v` gets each column's name and field, by `Raw` where the
// field is bytes rather than text; `v.prefix` stands before the names of nested values.
namespace acpd::session {

template <class V, class T>
void VisitOrigin(V& v, T& origin) {
  v.prefix = "origin_";
  v("kind", origin.kind);
  v("method", origin.method);
  v("requested_session_id", origin.requested_session_id);
  v("reason", origin.reason);
  v("detail", origin.detail);
  v("attempts", origin.attempts);
  v("transcript_injected", origin.transcript_injected);
  v.prefix = "";
}

template <class V, class T>
void VisitUsage(V& v, T& usage) {
  v.prefix = "usage_";
  v("input_tokens", usage.input_tokens);
  v("output_tokens", usage.output_tokens);
  v("cached_read_tokens", usage.cached_read_tokens);
  v("cached_write_tokens", usage.cached_write_tokens);
  v("thought_tokens", usage.thought_tokens);
  v("total_tokens", usage.total_tokens);
  v("context_used", usage.context_used);
  v("context_size", usage.context_size);
  v("cost", usage.cost);
  v("currency", usage.currency);
  v.prefix = "";
}

template <class V, class T>
void VisitFailure(V& v, T& failure) {
  v.prefix = "error_";
  v("reason", failure.reason);
  v("agent_code", failure.agent_code);
  v("retryable", failure.retryable);
  v("retry_after_ms", failure.retry_after);
  v("message", failure.message);
  v("agent_data", failure.agent_data);
  v.prefix = "";
}

template <class Row>
struct Table;

template <>
struct Table<SessionRow> {
  static constexpr char kName[] = "sessions";
  static constexpr char kKey[] = "session_id";
  template <class V, class R>
  static void Visit(V& v, R& row) {
    v("session_id", row.session_id);
    v("project_id", row.project_id);
    v("agent", row.agent);
    v("agent_session_id", row.agent_session_id);
    v("own_agent_session", row.own_agent_session);
    v("prompt_sent", row.prompt_sent);
    v("ready_once", row.ready_once);
    v("cwd", row.cwd);
    v("title", row.title);
    v("replaced_by", row.replaced_by);
    v("deleted", row.deleted);
    v("create_time", row.create_time);
    v("last_active_time", row.last_active_time);
    v("labels", row.labels);
    v("model_provider", row.model_provider);
    v("needs_api_key", row.needs_api_key);
    v("permission_mode", row.permission_mode);
    v("mode_id", row.mode_id);
    v("model", row.model);
    VisitOrigin(v, row.origin);
    VisitUsage(v, row.usage);
    VisitFailure(v, row.last_error);
    v("setup", row.setup);
    v("needs_setup_secrets", row.needs_setup_secrets);
    v("options", row.options);
    v("commands_json", row.commands_json);
    v("wanted_mode", row.wanted_mode);
    v("wanted_options", row.wanted_options);
    v("fork_of", row.fork_of);
    v("transcript", row.transcript);
    v.Raw("remembered", row.remembered);
    v("agent_session_time", row.agent_session_time);
    v("transcript_of", row.transcript_of);
    v("modes", row.modes);
  }
};

template <>
struct Table<TurnRow> {
  static constexpr char kName[] = "turns";
  static constexpr char kKey[] = "turn_id";
  template <class V, class R>
  static void Visit(V& v, R& row) {
    v("turn_id", row.turn_id);
    v("session_id", row.session_id);
    v("project_id", row.project_id);
    v("request_id", row.request_id);
    v.Raw("content_hash", row.content_hash);
    v("principal", row.principal);
    v("state", row.state);
    v("queue_order", row.queue_order);
    v("accept_time", row.accept_time);
    v("start_time", row.start_time);
    v("end_time", row.end_time);
    v("queued_seq", row.queued_seq);
    v("setup_only", row.setup_only);
    VisitOrigin(v, row.origin);
    v("result_outcome", row.result.outcome);
    v("result_stop_reason", row.result.stop_reason);
    v("result_text_truncated", row.result.text_truncated);
    v("result_prompt_sent", row.result.prompt_sent);
    v("result_cancelled_by", row.result.cancelled_by);
    v("result_cancel_reason", row.result.cancel_reason);
    VisitUsage(v, row.result.usage);
    VisitFailure(v, row.result.error);
    v("prompt", row.prompt);
    v.Raw("stored_request", row.stored_request);
    v("result_text", row.result.text);
    v("result_final_text", row.result.final_text);
  }
};

template <>
struct Table<QuestionRow> {
  static constexpr char kName[] = "questions";
  static constexpr char kKey[] = "session_id, question_id";
  template <class V, class R>
  static void Visit(V& v, R& row) {
    v("session_id", row.session_id);
    v("question_id", row.question_id);
    v("turn_id", row.turn_id);
    v("worker_id", row.worker_id);
    v("agent_request_id", row.agent_request_id);
    v("event_seq", row.event_seq);
    v("resolved", row.resolved);
    v("outcome", row.outcome);
    v("option_id", row.option_id);
    v("principal", row.principal);
    v("comment", row.comment);
    v("resolved_by", row.by);
    v("expire_time", row.expire_time);
    v.Raw("options", row.options);
    v("kind", row.kind);
    v("schema_json", row.schema_json);
    v("elicitation_id", row.elicitation_id);
    v.Raw("memory_key", row.memory_key);
  }
};

template <>
struct Table<AgentRequestRow> {
  static constexpr char kName[] = "agent_requests";
  static constexpr char kKey[] = "worker_id, number";
  template <class V, class R>
  static void Visit(V& v, R& row) {
    v("worker_id", row.worker_id);
    v("number", row.number);
    v("agent_request_id", row.agent_request_id);
    v("session_id", row.session_id);
    v("turn_id", row.turn_id);
    v("method", row.method);
    v("params", row.params);
  }
};

template <>
struct Table<TerminalRow> {
  static constexpr char kName[] = "terminals";
  static constexpr char kKey[] = "worker_id, number";
  template <class V, class R>
  static void Visit(V& v, R& row) {
    v("worker_id", row.worker_id);
    v("number", row.number);
    v("session_id", row.session_id);
    v("turn_id", row.turn_id);
    v("command", row.command);
    v("logged_offset", row.logged_offset);
    v("exit_logged", row.exit_logged);
  }
};

template <>
struct Table<WorkerRow> {
  static constexpr char kName[] = "workers";
  static constexpr char kKey[] = "worker_id";
  template <class V, class R>
  static void Visit(V& v, R& row) {
    v("worker_id", row.worker_id);
    v("session_id", row.session_id);
    v("socket_path", row.socket_path);
    v("worker_pid", row.worker_pid);
    v("worker_start_ticks", row.worker_start_ticks);
    v("agent_pid", row.agent_pid);
    v("agent_start_ticks", row.agent_start_ticks);
    v("next_request_id", row.next_request_id);
    v("next_stdin_seq", row.next_stdin_seq);
    v("consumed_offset", row.consumed_offset);
    v.Raw("discard", row.discard);
    v("set_up", row.set_up);
    v.Raw("fingerprint", row.fingerprint);
    v("initialize_json", row.initialize_json);
    v.Raw("settings", row.settings);
    v("prompt_id", row.prompt_id);
    v("fresh_resume", row.fresh_resume);
    v("replaying", row.replaying);
    v("replay_known", row.replay_known);
    v("replay_seen", row.replay_seen);
    v("next_request_number", row.next_request_number);
    v.Raw("opened_pages", row.opened_pages);
  }
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_STORE_COLUMNS_H_
