#include "server/convert.h"
#include "tests/server/service_codec_harness.h"

namespace acpd::server {
namespace {

TEST_F(CodecTest, Update) {
  session::SessionUpdateEvent event;
  event.kind = "tool_call_update";
  event.json = R"({"x":1})";
  event.text = "text";
  event.message_id = "m";
  event.tool_call_id = "c";
  event.tool_status = "completed";
  event.title = "title";
  event.replayed = true;
  event.part = 2;
  event.parts = 3;
  const auto update = Encoded(event).session_update();
  EXPECT_EQ(update.kind(), "tool_call_update");
  EXPECT_EQ(update.json(), R"({"x":1})");
  EXPECT_EQ(update.text(), "text");
  EXPECT_EQ(update.message_id(), "m");
  EXPECT_EQ(update.tool_call_id(), "c");
  EXPECT_EQ(update.tool_status(), "completed");
  EXPECT_EQ(update.title(), "title");
  EXPECT_TRUE(update.replayed());
  EXPECT_EQ(update.part(), 2u);
  EXPECT_EQ(update.parts(), 3u);
}

// The message is used again: nothing of an event may be seen in the next.
TEST_F(CodecTest, LeavesNothingForTheNextEvent) {
  session::SessionUpdateEvent full;
  full.kind = "agent_message_chunk";
  full.text = full.json = full.title = full.tool_call_id = full.message_id = full.tool_status =
      "old";
  full.replayed = true;
  full.part = full.parts = 1;
  Encoded(full);
  session::SessionUpdateEvent plan;
  plan.kind = "plan";
  v1::SessionUpdate expected;
  expected.set_kind("plan");
  EXPECT_EQ(Encoded(plan).session_update().SerializeAsString(), expected.SerializeAsString());
  EXPECT_EQ(Encoded(session::TurnStartedEvent{"r"}).event_case(), v1::ProgressEvent::kTurnStarted);
  EXPECT_EQ(Encoded(session::SessionClosedEvent{}, {8, "p", "s", "", 1'500'000}).turn_id(), "");
  EXPECT_EQ(Encoded(plan).session_update().SerializeAsString(), expected.SerializeAsString());
}

TEST_F(CodecTest, TurnEvents) {
  session::TurnQueuedEvent queued;
  queued.request_id = "r";
  queued.ahead = 2;
  queued.prompt = "hello";
  queued.principal = "who";
  queued.agent = "demo";
  queued.model = "big";
  queued.permission_mode = session::PermissionMode::kDeny;
  const auto decoded = Encoded(queued).turn_queued();
  EXPECT_EQ(decoded.request_id(), "r");
  EXPECT_EQ(decoded.ahead(), 2u);
  EXPECT_EQ(decoded.prompt(), "hello");
  EXPECT_FALSE(decoded.prompt_truncated());
  EXPECT_EQ(decoded.permission_mode(), v1::PERMISSION_MODE_DENY);

  EXPECT_EQ(Encoded(session::TurnStartedEvent{"r"}).turn_started().request_id(), "r");

  session::TurnEndedEvent ended;
  ended.request_id = "r";
  ended.result.outcome = session::Outcome::kFailed;
  ended.result.text = "not in events";
  ended.result.final_text = "final";
  ended.result.error.reason = "AGENT_ERROR";
  const auto end = Encoded(ended).turn_ended();
  EXPECT_EQ(end.request_id(), "r");
  EXPECT_EQ(end.result().outcome(), v1::TurnResult::OUTCOME_FAILED);
  EXPECT_EQ(end.result().text(), "");
  EXPECT_EQ(end.result().final_text(), "final");
  EXPECT_EQ(end.result().error().reason(), "AGENT_ERROR");
}

// The value at, under and over the limit.
TEST_F(CodecTest, CutsPromptsAt64KiBAtACharacter) {
  session::TurnQueuedEvent queued;
  for (size_t size : {kMaxEventPrompt - 1, kMaxEventPrompt}) {
    queued.prompt.assign(size, 'x');
    const auto decoded = Encoded(queued).turn_queued();
    EXPECT_EQ(decoded.prompt().size(), size);
    EXPECT_FALSE(decoded.prompt_truncated());
  }
  queued.prompt = std::string(kMaxEventPrompt - 1, 'x') + "\u00e9";
  const auto decoded = Encoded(queued).turn_queued();
  EXPECT_EQ(decoded.prompt().size(), kMaxEventPrompt - 1);
  EXPECT_TRUE(decoded.prompt_truncated());
}

TEST_F(CodecTest, SessionEvents) {
  session::SessionReadyEvent ready;
  ready.origin.kind = session::OriginKind::kResumed;
  ready.origin.method = session::ResumeMethod::kMeta;
  ready.agent_session_id = "a";
  EXPECT_EQ(Encoded(ready).session_ready().origin().method(), v1::SessionOrigin::METHOD_META);
  const auto replaced =
      Encoded(session::SessionReplacedEvent{"new", "RESUME_FAILED", "why", {"t1", "t2"}})
          .session_replaced();
  EXPECT_EQ(replaced.new_session_id(), "new");
  EXPECT_EQ(replaced.moved_turn_ids_size(), 2);
  EXPECT_EQ(
      Encoded(session::SessionClosedEvent{session::CloseReason::kIdle}).session_closed().reason(),
      v1::SessionClosed::REASON_IDLE);
  EXPECT_EQ(Encoded(session::WorkerExitedEvent{true, 9, "tail", false}).worker_exited().signal(),
            9);
  const auto exited = Encoded(session::WorkerExitedEvent{false, 0, "", true}).worker_exited();
  EXPECT_EQ(exited.status_case(), v1::WorkerExited::kExitCode) << "0 is an exit code too";
  EXPECT_EQ(Encoded(session::NoticeEvent{session::Severity::kError, "CODE", "m"}).notice().code(),
            "CODE");
  session::SessionView view;
  view.title = "t";
  EXPECT_EQ(Encoded(session::SessionCreatedEvent{view}).session_created().session().title(), "t");
  const auto changed =
      Encoded(session::SessionChangedEvent{view, {"title"}, "who"}).session_changed();
  EXPECT_EQ(changed.changed(0), "title");
  EXPECT_EQ(changed.principal(), "who");
  EXPECT_EQ(Encoded(session::SessionDeletedEvent{"who"}).session_deleted().principal(), "who");
}

TEST_F(CodecTest, QueuedTurnsNameTheirServers) {
  session::TurnQueuedEvent queued;
  queued.mcp_server_names = {"files", "web"};
  const auto decoded = Encoded(queued).turn_queued();
  EXPECT_EQ(decoded.mcp_server_names_size(), 2);
  EXPECT_EQ(decoded.mcp_server_names(1), "web");
}

// The event has what it says has changed, also where such an event is short otherwise.
TEST_F(CodecTest, ChangedSessionsHaveWhatChanged) {
  session::SessionView view;
  view.mode_id = "plan";
  view.config_options.resize(2);
  view.available_modes.resize(3);
  view.available_commands_json = "[]";
  view.usage.context_used = 7;
  const auto with = [&](std::vector<std::string> changed) {
    return Encoded(session::SessionChangedEvent{view, std::move(changed), ""})
        .session_changed()
        .session();
  };
  const auto mode = with({"mode_id"});
  EXPECT_EQ(mode.mode_id(), "plan");
  EXPECT_EQ(mode.config_options_size() + mode.available_modes_size(), 0);
  EXPECT_EQ(with({"config_options"}).config_options_size(), 2);
  EXPECT_EQ(with({"title", "available_modes"}).available_modes_size(), 3);
  EXPECT_EQ(with({"available_commands_json"}).available_commands_json(), "[]");
  EXPECT_EQ(with({"usage"}).usage().context_used(), 7u);
}

}  // namespace
}  // namespace acpd::server
