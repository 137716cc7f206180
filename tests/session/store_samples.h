#ifndef ACPD_TESTS_SESSION_STORE_SAMPLES_H_
#define ACPD_TESTS_SESSION_STORE_SAMPLES_H_

#include <gtest/gtest.h>

#include <string>

#include "session/store.h"

// Rows in which every field has a value of its own, and what compares them field by field.
namespace acpd::session {

// Every string differs and holds what text can hold; every number differs from its default.
inline const std::string kOdd = std::string("nul\0 \xff \xe2\x82\xac '", 12);

inline Failure SomeFailure() {
  return {.reason = "AGENT_ERROR",
          .message = "it broke " + kOdd,
          .agent_code = -32603,
          .agent_data = "{\"a\":1}",
          .retryable = true,
          .retry_after = milliseconds(1234)};
}

inline Usage SomeUsage() {
  Usage usage;
  usage.input_tokens = 1;
  usage.output_tokens = 2;
  usage.cached_read_tokens = 0;
  usage.cached_write_tokens = 4;
  usage.thought_tokens = UINT64_MAX;
  usage.total_tokens = 6;
  usage.context_used = 7;
  // context_size stays unset, which is not 0.
  usage.cost = 0.25;
  usage.currency = "EUR";
  return usage;
}

inline SessionOrigin SomeOrigin() {
  return {.kind = OriginKind::kFallback,
          .method = ResumeMethod::kSessionLoad,
          .requested_session_id = "asked",
          .reason = "SESSION_NOT_FOUND",
          .detail = "said",
          .attempts = 3,
          .transcript_injected = true};
}

inline acp::McpServer SomeMcpServer(acp::McpServer::Kind kind) {
  acp::McpServer server;
  server.kind = kind;
  server.name = "files " + kOdd;
  server.command = "/bin/files";
  server.args = {"--all", "", kOdd};
  server.env = {{"TWICE", "1"}, {"TWICE", "2"}, {"A", "${secret:K}"}};
  server.url = "http://mcp";
  server.headers = {{"Authorization", "x"}};
  return server;
}

inline SetupSettings SomeSetup() {
  SetupSettings setup;
  for (const auto kind :
       {acp::McpServer::Kind::kStdio, acp::McpServer::Kind::kHttp, acp::McpServer::Kind::kSse}) {
    setup.mcp_servers.push_back(SomeMcpServer(kind));
  }
  setup.system_prompt = "be brief";
  setup.meta_json = "{\"a\":1}";
  setup.additional_directories = {"/one", "/two " + kOdd};
  return setup;
}

inline std::vector<acp::ConfigOption> SomeOptions() {
  acp::ConfigOption select;
  select.id = "model";
  select.name = "Model";
  select.description = "which one";
  select.category = "model";
  select.select = "big";
  select.choices = {{"big", "Big", "slow", "all"}, {"small", "Small", "", ""}};
  select.legacy_model = true;
  acp::ConfigOption boolean;
  boolean.id = "web";
  boolean.is_boolean = boolean.boolean = true;
  return {select, boolean};
}

inline std::vector<acp::OptionValue> SomeOptionValues() {
  acp::OptionValue select;
  select.config_id = "model";
  select.select = "small";
  acp::OptionValue boolean;
  boolean.config_id = "web";
  boolean.is_boolean = boolean.boolean = true;
  return {select, boolean};
}

inline SessionRow SomeSession() {
  SessionRow row;
  row.session_id = "s1";
  row.project_id = "p1";
  row.agent = "demo";
  row.agent_session_id = "agent-1";
  row.own_agent_session = true;
  row.prompt_sent = true;
  row.ready_once = true;
  row.cwd = "/somewhere/" + kOdd;
  row.title = "A title";
  row.origin = SomeOrigin();
  row.replaced_by = "s2";
  row.create_time = 1'700'000'000'000'001;
  row.last_active_time = 1'700'000'000'000'002;
  row.labels = {{"team", "a"}, {"", "empty key"}, {"odd", kOdd}};
  row.model_provider = ModelProvider{.provider = "openai",
                                     .model = "m",
                                     .api_key = "secret",
                                     .base_url = "http://x",
                                     .options = {{"k", "v"}},
                                     .api_key_ref = "team-a"};
  row.needs_api_key = true;
  row.permission_mode = PermissionMode::kDeny;
  row.last_error = SomeFailure();
  row.usage = SomeUsage();
  row.mode_id = "plan";
  row.model = "big";
  row.setup = SomeSetup();
  row.needs_setup_secrets = true;
  row.options = SomeOptions();
  row.modes = {{"plan", "Plan " + kOdd, "thinks"}, {"code", "", ""}};
  row.commands_json = "[1]";
  row.wanted_mode = "code";
  row.wanted_options = SomeOptionValues();
  row.fork_of = "agent-0";
  row.transcript = "user: " + kOdd;
  row.transcript_of = "s0";
  row.remembered = kOdd + "remembered";
  row.agent_session_time = 1'700'000'000'000'003;
  return row;
}

inline TurnRow SomeTurn() {
  TurnRow row;
  row.turn_id = "t1";
  row.session_id = "s1";
  row.project_id = "p1";
  row.request_id = "r1";
  row.content_hash = kOdd + "hash";
  row.principal = "me";
  row.stored_request = kOdd + "request";
  row.prompt = std::string(100'000, 'p') + kOdd;
  row.state = TurnState::kWaiting;
  row.queue_order = -5;
  row.accept_time = 11;
  row.start_time = 12;
  row.end_time = 13;
  row.queued_seq = 1;
  row.setup_only = true;
  row.origin = SomeOrigin();
  row.result = {.outcome = Outcome::kFailed,
                .stop_reason = "end_turn",
                .error = SomeFailure(),
                .text = std::string(50'000, 't'),
                .final_text = "final",
                .text_truncated = true,
                .usage = SomeUsage(),
                .prompt_sent = true,
                .cancelled_by = "you",
                .cancel_reason = "because"};
  return row;
}

inline QuestionRow SomeQuestion() {
  QuestionRow row;
  row.question_id = "q1";
  row.session_id = "s1";
  row.turn_id = "t1";
  row.worker_id = "w1";
  row.agent_request_id = "\"id\"";
  row.event_seq = 7;
  row.outcome = QuestionOutcome::kSelected;
  row.option_id = "allow";
  row.principal = "me";
  row.comment = "fine";
  row.by = ResolvedBy::kCaller;
  row.options = kOdd + "options";
  row.expire_time = 99;
  row.kind = QuestionKind::kUrl;
  row.schema_json = "{}";
  row.elicitation_id = "e1";
  row.memory_key = kOdd + "key";
  return row;
}

inline WorkerRow SomeWorker() {
  WorkerRow row;
  row.worker_id = "w1";
  row.session_id = "s1";
  row.socket_path = "/run/w1";
  row.worker_pid = 10;
  row.worker_start_ticks = 11;
  row.agent_pid = 12;
  row.agent_start_ticks = 13;
  row.next_request_id = 14;
  row.next_stdin_seq = 15;
  row.consumed_offset = uint64_t{1} << 60;
  row.discard = kOdd + "discard";
  row.set_up = true;
  row.fingerprint = kOdd + "fingerprint";
  row.initialize_json = "{}";
  row.settings = kOdd + "settings";
  row.prompt_id = 9;
  row.next_request_number = 5;
  row.opened_pages = kOdd + "pages";
  row.fresh_resume = row.replay_known = true;
  return row;
}

inline AgentRequestRow SomeAgentRequest() {
  AgentRequestRow row;
  row.worker_id = "w1";
  row.number = 3;
  row.agent_request_id = "\"r3\"";
  row.session_id = "s1";
  row.turn_id = "t1";
  row.method = "fs/write_text_file";
  row.params = "{\"path\":\"" + kOdd + "\"}";
  return row;
}

inline TerminalRow SomeTerminal() {
  TerminalRow row;
  row.worker_id = "w1";
  row.number = 2;
  row.session_id = "s1";
  row.turn_id = "t1";
  row.command = "make " + kOdd;
  row.logged_offset = uint64_t{1} << 40;
  row.exit_logged = true;
  return row;
}

inline std::vector<std::string> WordsOf(const std::vector<acp::ModeInfo>& modes) {
  std::vector<std::string> words;
  for (const acp::ModeInfo& mode : modes) {
    words.insert(words.end(), {mode.id, mode.name, mode.description});
  }
  return words;
}

inline void ExpectEqual(const SessionRow& got, SessionRow want) {
  want.model_provider->api_key = "";
  EXPECT_EQ(got.session_id, want.session_id);
  EXPECT_EQ(got.project_id, want.project_id);
  EXPECT_EQ(got.agent, want.agent);
  EXPECT_EQ(got.agent_session_id, want.agent_session_id);
  EXPECT_EQ(got.own_agent_session, want.own_agent_session);
  EXPECT_EQ(got.prompt_sent, want.prompt_sent);
  EXPECT_EQ(got.ready_once, want.ready_once);
  EXPECT_EQ(got.cwd, want.cwd);
  EXPECT_EQ(got.title, want.title);
  EXPECT_EQ(got.origin, want.origin);
  EXPECT_EQ(got.replaced_by, want.replaced_by);
  EXPECT_EQ(got.deleted, want.deleted);
  EXPECT_EQ(got.create_time, want.create_time);
  EXPECT_EQ(got.last_active_time, want.last_active_time);
  EXPECT_EQ(got.labels, want.labels);
  EXPECT_EQ(got.model_provider, want.model_provider);
  EXPECT_EQ(got.needs_api_key, want.needs_api_key);
  EXPECT_EQ(got.permission_mode, want.permission_mode);
  EXPECT_EQ(got.last_error, want.last_error);
  EXPECT_EQ(got.usage, want.usage);
  EXPECT_EQ(got.mode_id, want.mode_id);
  EXPECT_EQ(got.model, want.model);
  EXPECT_EQ(got.setup, want.setup);
  EXPECT_EQ(got.needs_setup_secrets, want.needs_setup_secrets);
  EXPECT_EQ(got.options, want.options);
  EXPECT_EQ(WordsOf(got.modes), WordsOf(want.modes));
  EXPECT_EQ(got.commands_json, want.commands_json);
  EXPECT_EQ(got.wanted_mode, want.wanted_mode);
  EXPECT_EQ(got.wanted_options, want.wanted_options);
  EXPECT_EQ(got.fork_of, want.fork_of);
  EXPECT_EQ(got.transcript, want.transcript);
  EXPECT_EQ(got.transcript_of, want.transcript_of);
  EXPECT_EQ(got.remembered, want.remembered);
  EXPECT_EQ(got.agent_session_time, want.agent_session_time);
}

inline void ExpectEqual(const TurnRow& got, const TurnRow& want) {
  EXPECT_EQ(got.turn_id, want.turn_id);
  EXPECT_EQ(got.session_id, want.session_id);
  EXPECT_EQ(got.project_id, want.project_id);
  EXPECT_EQ(got.request_id, want.request_id);
  EXPECT_EQ(got.content_hash, want.content_hash);
  EXPECT_EQ(got.principal, want.principal);
  EXPECT_EQ(got.stored_request, want.stored_request);
  EXPECT_EQ(got.prompt, want.prompt);
  EXPECT_EQ(got.state, want.state);
  EXPECT_EQ(got.queue_order, want.queue_order);
  EXPECT_EQ(got.accept_time, want.accept_time);
  EXPECT_EQ(got.start_time, want.start_time);
  EXPECT_EQ(got.end_time, want.end_time);
  EXPECT_EQ(got.queued_seq, want.queued_seq);
  EXPECT_EQ(got.setup_only, want.setup_only);
  EXPECT_EQ(got.origin, want.origin);
  EXPECT_EQ(got.result, want.result);
}

inline void ExpectEqual(const QuestionRow& got, const QuestionRow& want) {
  EXPECT_EQ(got.question_id, want.question_id);
  EXPECT_EQ(got.session_id, want.session_id);
  EXPECT_EQ(got.turn_id, want.turn_id);
  EXPECT_EQ(got.worker_id, want.worker_id);
  EXPECT_EQ(got.agent_request_id, want.agent_request_id);
  EXPECT_EQ(got.event_seq, want.event_seq);
  EXPECT_EQ(got.resolved, want.resolved);
  EXPECT_EQ(got.outcome, want.outcome);
  EXPECT_EQ(got.option_id, want.option_id);
  EXPECT_EQ(got.principal, want.principal);
  EXPECT_EQ(got.comment, want.comment);
  EXPECT_EQ(got.by, want.by);
  EXPECT_EQ(got.options, want.options);
  EXPECT_EQ(got.expire_time, want.expire_time);
  EXPECT_EQ(got.kind, want.kind);
  EXPECT_EQ(got.schema_json, want.schema_json);
  EXPECT_EQ(got.elicitation_id, want.elicitation_id);
  EXPECT_EQ(got.memory_key, want.memory_key);
}

inline void ExpectEqual(const WorkerRow& got, const WorkerRow& want) {
  EXPECT_EQ(got.worker_id, want.worker_id);
  EXPECT_EQ(got.session_id, want.session_id);
  EXPECT_EQ(got.socket_path, want.socket_path);
  EXPECT_EQ(got.worker_pid, want.worker_pid);
  EXPECT_EQ(got.worker_start_ticks, want.worker_start_ticks);
  EXPECT_EQ(got.agent_pid, want.agent_pid);
  EXPECT_EQ(got.agent_start_ticks, want.agent_start_ticks);
  EXPECT_EQ(got.next_request_id, want.next_request_id);
  EXPECT_EQ(got.next_stdin_seq, want.next_stdin_seq);
  EXPECT_EQ(got.consumed_offset, want.consumed_offset);
  EXPECT_EQ(got.discard, want.discard);
  EXPECT_EQ(got.set_up, want.set_up);
  EXPECT_EQ(got.fingerprint, want.fingerprint);
  EXPECT_EQ(got.initialize_json, want.initialize_json);
  EXPECT_EQ(got.settings, want.settings);
  EXPECT_EQ(got.prompt_id, want.prompt_id);
  EXPECT_EQ(got.fresh_resume, want.fresh_resume);
  EXPECT_EQ(got.replaying, want.replaying);
  EXPECT_EQ(got.replay_known, want.replay_known);
  EXPECT_EQ(got.replay_seen, want.replay_seen);
  EXPECT_EQ(got.next_request_number, want.next_request_number);
  EXPECT_EQ(got.opened_pages, want.opened_pages);
}

inline void ExpectEqual(const AgentRequestRow& got, const AgentRequestRow& want) {
  EXPECT_EQ(got.worker_id, want.worker_id);
  EXPECT_EQ(got.number, want.number);
  EXPECT_EQ(got.agent_request_id, want.agent_request_id);
  EXPECT_EQ(got.session_id, want.session_id);
  EXPECT_EQ(got.turn_id, want.turn_id);
  EXPECT_EQ(got.method, want.method);
  EXPECT_EQ(got.params, want.params);
}

inline void ExpectEqual(const TerminalRow& got, const TerminalRow& want) {
  EXPECT_EQ(got.worker_id, want.worker_id);
  EXPECT_EQ(got.number, want.number);
  EXPECT_EQ(got.session_id, want.session_id);
  EXPECT_EQ(got.turn_id, want.turn_id);
  EXPECT_EQ(got.command, want.command);
  EXPECT_EQ(got.logged_offset, want.logged_offset);
  EXPECT_EQ(got.exit_logged, want.exit_logged);
}

}  // namespace acpd::session

#endif  // ACPD_TESTS_SESSION_STORE_SAMPLES_H_
