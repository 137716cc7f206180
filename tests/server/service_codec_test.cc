#include <gtest/gtest.h>

#include "acpd/v1/session_service.pb.h"
#include "server/codec.h"
#include "server/convert.h"
#include "server/event_scan.h"

namespace acpd::server {
namespace {

constexpr session::EventHeader kHeader{7, "project", "session", "turn", 1'500'000};

class CodecTest : public ::testing::Test {
 protected:
  template <class Event>
  v1::ProgressEvent Encoded(const Event& event, const session::EventHeader& header = kHeader) {
    std::string bytes = "before";
    codec_.Encode(header, event, bytes);
    EXPECT_EQ(bytes.substr(0, 6), "before") << "Encode appends";
    bytes = bytes.substr(6);
    v1::ProgressEvent decoded;
    EXPECT_TRUE(decoded.ParseFromString(bytes));
    EXPECT_EQ(decoded.position(), 0u) << "the store gives positions out";
    EXPECT_EQ(decoded.seq(), header.seq);
    EXPECT_EQ(decoded.project_id(), header.project_id);
    EXPECT_EQ(decoded.session_id(), header.session_id);
    EXPECT_EQ(decoded.turn_id(), header.turn_id);
    EXPECT_EQ(decoded.time().seconds(), 1);
    EXPECT_EQ(decoded.time().nanos(), 500'000'000);
    return decoded;
  }
  Codec codec_;
};

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

TEST_F(CodecTest, QuestionEvents) {
  session::PermissionRequestedEvent asked;
  asked.question_id = "q";
  asked.tool_call_json = std::string(kMaxJson + 1, 'x');
  asked.tool_call_id = "c";
  asked.title = "rm -rf";
  asked.tool_kind = "execute";
  asked.options = {{"o1", "Allow", session::OptionKind::kAllowOnce},
                   {"o2", "No", session::OptionKind::kRejectOnce}};
  asked.expire_time = 3'000'000;
  const auto decoded = Encoded(asked).permission_requested();
  EXPECT_EQ(decoded.tool_call_json().size(), kMaxJson);
  EXPECT_TRUE(decoded.tool_call_truncated());
  EXPECT_EQ(decoded.options_size(), 2);
  EXPECT_EQ(decoded.options(1).kind(), v1::PERMISSION_OPTION_KIND_REJECT_ONCE);
  EXPECT_EQ(decoded.expire_time().seconds(), 3);

  session::QuestionResolvedEvent resolved{
      {"q", session::QuestionOutcome::kSelected, "o1", session::ResolvedBy::kPolicy, "p", "c"}};
  const auto answer = Encoded(resolved).question_resolved();
  EXPECT_EQ(answer.option_id(), "o1");
  EXPECT_EQ(answer.by(), v1::QuestionResolved::BY_POLICY);
  EXPECT_EQ(answer.comment(), "c");
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

v1::ChatRequest FullRequest() {
  v1::ChatRequest request;
  request.set_project_id("p");
  request.set_session_id("s");
  request.set_prompt("hello");
  request.set_request_id("r");
  request.set_agent("demo");
  request.mutable_resume_policy()->set_mode(v1::ResumePolicy::MODE_REQUIRE);
  request.mutable_resume_policy()->set_max_retries(0);
  request.set_busy_policy(v1::BUSY_POLICY_REJECT);
  request.set_wait_for(v1::WAIT_FOR_FINISHED);
  request.mutable_model_provider()->set_model("big");
  request.mutable_model_provider()->set_api_key("secret-key");
  request.mutable_model_provider()->set_api_key_ref("ref");
  request.set_permission_mode(v1::PERMISSION_MODE_ALLOW);
  request.set_cwd("/x");
  request.mutable_turn_timeout()->set_nanos(1);
  for (char c = 'a'; c <= 'z'; ++c) (*request.mutable_labels())[std::string(1, c)] = "x";
  return request;
}

TEST_F(CodecTest, StoredRequestsComeBackWithoutSecrets) {
  const std::string stored = EncodeRequest(FullRequest());
  EXPECT_EQ(stored.find("secret-key"), std::string::npos);
  session::ChatRequest request;
  ASSERT_TRUE(codec_.DecodeRequest(stored, &request));
  EXPECT_EQ(request.prompt, "hello");
  EXPECT_EQ(request.request_id, "r");
  EXPECT_EQ(request.resume_policy.mode, session::ResumeMode::kRequire);
  EXPECT_EQ(request.resume_policy.max_retries, 0u);
  EXPECT_EQ(request.busy_policy, session::BusyPolicy::kReject);
  EXPECT_EQ(request.wait_for, session::WaitFor::kUnspecified);
  EXPECT_EQ(request.model_provider->api_key, "");
  EXPECT_EQ(request.model_provider->api_key_ref, "ref");
  EXPECT_EQ(request.turn_timeout.count(), 1) << "rounded up";
  EXPECT_EQ(request.labels.size(), 26u);
  EXPECT_EQ(request.stored_bytes, stored);
  EXPECT_FALSE(codec_.DecodeRequest("\xff\xff", &request));
}

TEST_F(CodecTest, ContentIsEverythingButIdWaitAndKey) {
  const std::string hash = ContentHash(FullRequest(), "key");
  v1::ChatRequest same = FullRequest();
  same.set_request_id("another");
  same.set_wait_for(v1::WAIT_FOR_ACCEPTED);
  same.mutable_model_provider()->set_api_key("another");
  EXPECT_EQ(ContentHash(same, "key"), hash);
  v1::ChatRequest reparsed;
  ASSERT_TRUE(reparsed.ParseFromString(FullRequest().SerializeAsString()));
  EXPECT_EQ(ContentHash(reparsed, "key"), hash) << "in whatever order maps are";
  v1::ChatRequest other = FullRequest();
  other.set_prompt("hello!");
  EXPECT_NE(ContentHash(other, "key"), hash);
  other = FullRequest();
  (*other.mutable_labels())["a"] = "y";
  EXPECT_NE(ContentHash(other, "key"), hash);
  EXPECT_NE(ContentHash(FullRequest(), "another key"), hash);
}

}  // namespace
}  // namespace acpd::server
