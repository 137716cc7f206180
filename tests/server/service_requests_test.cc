#include <gtest/gtest.h>

#include <functional>

#include "server/requests.h"
#include "session/errors.h"

namespace acpd::server {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

v1::ChatRequest Chat() {
  v1::ChatRequest request;
  request.set_project_id("p");
  request.set_prompt("hello");
  return request;
}

struct Case {
  const char* name;
  std::function<void(v1::ChatRequest&)> change;
  const char* reason;  // "": fine
  const char* named = "";
};

TEST(RequestsTest, ChatIsChecked) {
  const Case cases[] = {
      {"plain", [](auto&) {}, ""},
      {"no project", [](auto& r) { r.set_project_id(""); }, "INVALID_PROJECT_ID"},
      {"project outside", [](auto& r) { r.set_project_id("../x"); }, "INVALID_PROJECT_ID"},
      {"longest project", [](auto& r) { r.set_project_id(std::string(128, 'x')); }, ""},
      {"long project", [](auto& r) { r.set_project_id(std::string(129, 'x')); },
       "INVALID_PROJECT_ID"},
      {"session with space", [](auto& r) { r.set_session_id("a b"); }, "INVALID_SESSION_ID"},
      {"session with slash", [](auto& r) { r.set_session_id("a/b"); }, "INVALID_SESSION_ID"},
      {"longest session", [](auto& r) { r.set_session_id(std::string(256, 'x')); }, ""},
      {"long session", [](auto& r) { r.set_session_id(std::string(257, 'x')); },
       "INVALID_SESSION_ID"},
      {"no prompt", [](auto& r) { r.clear_prompt(); }, "EMPTY_PROMPT"},
      {"long request_id", [](auto& r) { r.set_request_id(std::string(257, 'x')); },
       "INVALID_REQUEST"},
      {"request_id with newline", [](auto& r) { r.set_request_id("a\nb"); }, "INVALID_REQUEST"},
      {"long agent_session_id", [](auto& r) { r.set_agent_session_id(std::string(257, 'x')); },
       "INVALID_REQUEST"},
      {"unknown busy policy", [](auto& r) { r.set_busy_policy(v1::BusyPolicy(4)); },
       "INVALID_REQUEST", "busy_policy"},
      {"unknown wait", [](auto& r) { r.set_wait_for(v1::WaitFor(-1)); }, "INVALID_REQUEST",
       "wait_for"},
      {"unknown permission mode", [](auto& r) { r.set_permission_mode(v1::PermissionMode(9)); },
       "INVALID_REQUEST", "permission_mode"},
      {"unknown resume mode",
       [](auto& r) { r.mutable_resume_policy()->set_mode(v1::ResumePolicy::Mode(9)); },
       "INVALID_REQUEST", "resume_policy.mode"},
      {"negative timeout", [](auto& r) { r.mutable_turn_timeout()->set_seconds(-1); },
       "INVALID_REQUEST", "turn_timeout"},
      {"negative nanos", [](auto& r) { r.mutable_question_timeout()->set_nanos(-1); },
       "INVALID_REQUEST", "question_timeout"},
      {"too many nanos", [](auto& r) { r.mutable_turn_timeout()->set_nanos(1'000'000'000); },
       "INVALID_REQUEST", "turn_timeout"},
      {"content", [](auto& r) { r.add_content()->set_text("x"); }, "UNIMPLEMENTED", "content"},
      {"mcp_servers", [](auto& r) { r.add_mcp_servers(); }, "UNIMPLEMENTED", "mcp_servers"},
      {"clear_mcp_servers", [](auto& r) { r.set_clear_mcp_servers(true); }, "UNIMPLEMENTED",
       "clear_mcp_servers"},
      {"system_prompt", [](auto& r) { r.set_system_prompt("x"); }, "UNIMPLEMENTED",
       "system_prompt"},
      {"additional_directories", [](auto& r) { r.add_additional_directories("/x"); },
       "UNIMPLEMENTED", "additional_directories"},
      {"meta_json", [](auto& r) { r.set_meta_json("{}"); }, "UNIMPLEMENTED", "meta_json"},
      {"mode_id", [](auto& r) { r.set_mode_id("x"); }, "UNIMPLEMENTED", "mode_id"},
      {"config_options", [](auto& r) { r.add_config_options(); }, "UNIMPLEMENTED",
       "config_options"},
      {"transcript",
       [](auto& r) {
         r.mutable_resume_policy()->set_mode(v1::ResumePolicy::MODE_FALLBACK_WITH_TRANSCRIPT);
       },
       "UNIMPLEMENTED", "MODE_FALLBACK_WITH_TRANSCRIPT"},
      {"without MCP", [](auto& r) { r.mutable_resume_policy()->set_preserve_mcp_servers(false); },
       "UNIMPLEMENTED", "preserve_mcp_servers"},
      {"with MCP", [](auto& r) { r.mutable_resume_policy()->set_preserve_mcp_servers(true); }, ""},
  };
  for (const Case& one : cases) {
    v1::ChatRequest request = Chat();
    one.change(request);
    const auto chat = ChatFrom(request, "key");
    EXPECT_EQ(session::ReasonOf(chat.status()), one.reason) << one.name;
    EXPECT_EQ(chat.ok(), std::string(one.reason).empty()) << one.name;
    EXPECT_NE(std::string(chat.status().message()).find(one.named), std::string::npos)
        << chat.status();
  }
}

TEST(RequestsTest, ChatHasWhatIsStored) {
  v1::ChatRequest request = Chat();
  request.mutable_model_provider()->set_api_key("secret");
  const auto chat = ChatFrom(request, "key");
  ASSERT_TRUE(chat.ok());
  EXPECT_EQ(chat->model_provider->api_key, "secret") << "in memory";
  EXPECT_EQ(chat->stored_bytes.find("secret"), std::string::npos);
  EXPECT_FALSE(chat->content_hash.empty());
}

TEST(RequestsTest, DurationsAreRoundedUpAndBounded) {
  v1::ChatRequest request = Chat();
  request.mutable_turn_timeout()->set_nanos(1'000'001);
  request.mutable_question_timeout()->set_seconds(INT64_MAX);
  const auto chat = ChatFrom(request, "key");
  ASSERT_TRUE(chat.ok());
  EXPECT_EQ(chat->turn_timeout, milliseconds(2));
  EXPECT_EQ(chat->question_timeout, hours(24 * 3660));
}

TEST(RequestsTest, SetupHasNoPrompt) {
  v1::CreateSessionRequest request;
  *request.mutable_setup() = Chat();
  EXPECT_EQ(session::ReasonOf(SetupFrom(request, "key").status()), "INVALID_REQUEST");
  request.mutable_setup()->clear_prompt();
  EXPECT_TRUE(SetupFrom(request, "key").ok());
  request.mutable_setup()->clear_project_id();
  EXPECT_EQ(session::ReasonOf(SetupFrom(request, "key").status()), "INVALID_PROJECT_ID");
}

TEST(RequestsTest, CancelNeedsOneScope) {
  v1::CancelRequest request;
  EXPECT_EQ(session::ReasonOf(CancelFrom(request).status()), "INVALID_REQUEST")
      << "never everything";
  request.set_everything(true);
  ASSERT_TRUE(CancelFrom(request).ok());
  EXPECT_FALSE(CancelFrom(request)->grace.has_value());
  request.set_session_id("s");
  EXPECT_EQ(session::ReasonOf(CancelFrom(request).status()), "SCOPE_MISMATCH");
  request.set_everything(false);
  request.mutable_grace();
  EXPECT_EQ(CancelFrom(request)->grace, milliseconds(0)) << "0 is not unset";
  request.mutable_grace()->set_seconds(-1);
  EXPECT_EQ(session::ReasonOf(CancelFrom(request).status()), "INVALID_REQUEST");
}

TEST(RequestsTest, RespondNeedsAnAnswerThatExists) {
  v1::RespondRequest request;
  request.set_session_id("s");
  request.set_question_id("q");
  EXPECT_EQ(session::ReasonOf(RespondFrom(request).status()), "INVALID_ANSWER");
  request.set_cancelled(false);
  EXPECT_EQ(session::ReasonOf(RespondFrom(request).status()), "INVALID_ANSWER");
  request.set_option_id("");
  EXPECT_EQ(session::ReasonOf(RespondFrom(request).status()), "INVALID_ANSWER");
  request.set_option_kind(v1::PermissionOptionKind(77));
  EXPECT_EQ(session::ReasonOf(RespondFrom(request).status()), "INVALID_ANSWER");
  request.set_accept_json("{}");
  EXPECT_EQ(session::ReasonOf(RespondFrom(request).status()), "UNIMPLEMENTED");
  request.set_option_kind(v1::PERMISSION_OPTION_KIND_ALLOW_ONCE);
  EXPECT_EQ(RespondFrom(request)->option_kind, session::OptionKind::kAllowOnce);
  request.clear_question_id();
  EXPECT_EQ(session::ReasonOf(RespondFrom(request).status()), "INVALID_REQUEST");
}

TEST(RequestsTest, GetTurnNeedsOneWayToFindIt) {
  v1::GetTurnRequest request;
  EXPECT_EQ(session::ReasonOf(GetTurnFrom(request).status()), "INVALID_REQUEST");
  request.set_request_id("r");
  EXPECT_EQ(session::ReasonOf(GetTurnFrom(request).status()), "INVALID_REQUEST");
  request.set_project_id("p");
  EXPECT_TRUE(GetTurnFrom(request).ok());
  request.Clear();
  request.set_turn_id("t");
  request.set_wait_for(v1::WAIT_FOR_FINISHED);
  EXPECT_EQ(GetTurnFrom(request)->wait_for, session::WaitFor::kFinished);
}

TEST(RequestsTest, ListsHaveBoundedPages) {
  v1::ListSessionsRequest request;
  EXPECT_EQ(ListSessionsFrom(request)->query.limit, 50u);
  EXPECT_FALSE(ListSessionsFrom(request)->full);
  for (const auto& [asked, limit] : {std::pair(1, 1u), {500, 500u}, {501, 500u}}) {
    request.set_page_size(asked);
    EXPECT_EQ(ListSessionsFrom(request)->query.limit, limit);
  }
  request.set_page_size(-1);
  EXPECT_EQ(session::ReasonOf(ListSessionsFrom(request).status()), "INVALID_REQUEST");
  request.clear_page_size();
  request.set_page_token("nonsense");
  EXPECT_EQ(session::ReasonOf(ListSessionsFrom(request).status()), "INVALID_PAGE_TOKEN");
  request.clear_page_token();
  request.add_states(v1::Session::STATE_UNSPECIFIED);
  EXPECT_EQ(session::ReasonOf(ListSessionsFrom(request).status()), "INVALID_REQUEST");
  v1::ListTurnsRequest turns;
  turns.add_states(v1::TurnState(40));
  EXPECT_EQ(session::ReasonOf(ListTurnsFrom(turns).status()), "INVALID_REQUEST");
}

TEST(RequestsTest, SubscribeScopes) {
  v1::SubscribeProgressRequest request;
  EXPECT_EQ(session::ReasonOf(SubscribeFrom(request).status()), "INVALID_REQUEST");
  request.set_everything(false);
  EXPECT_EQ(session::ReasonOf(SubscribeFrom(request).status()), "INVALID_REQUEST");
  request.set_everything(true);
  EXPECT_EQ(SubscribeFrom(request)->query.scope.kind, session::LogScope::Kind::kEverything);
  request.set_after_seq(1);
  EXPECT_EQ(session::ReasonOf(SubscribeFrom(request).status()), "INVALID_CURSOR");
  request.set_project_id("p");
  EXPECT_EQ(session::ReasonOf(SubscribeFrom(request).status()), "INVALID_CURSOR");
  request.set_after_position(0);
  EXPECT_EQ(SubscribeFrom(request)->start, SubscribeParams::Start::kAfterPosition);
  request.set_session_id("s");
  request.set_after_seq(3);
  EXPECT_EQ(SubscribeFrom(request)->after, 3u);
  (*request.mutable_labels())["a"] = "b";
  EXPECT_EQ(session::ReasonOf(SubscribeFrom(request).status()), "INVALID_REQUEST");
  request.set_session_id("a/b");
  EXPECT_EQ(session::ReasonOf(SubscribeFrom(request).status()), "INVALID_SESSION_ID");
}

TEST(RequestsTest, SubscribeFiltersAndHeartbeat) {
  v1::SubscribeProgressRequest request;
  request.set_everything(true);
  EXPECT_EQ(SubscribeFrom(request)->heartbeat, seconds(15));
  EXPECT_TRUE(SubscribeFrom(request)->filter.empty());
  request.mutable_heartbeat()->set_nanos(1);
  EXPECT_EQ(SubscribeFrom(request)->heartbeat, seconds(1));
  request.mutable_heartbeat()->set_seconds(2);
  request.mutable_heartbeat()->set_nanos(0);
  EXPECT_EQ(SubscribeFrom(request)->heartbeat, seconds(2));
  request.add_event_kinds(v1::EVENT_KIND_TURN_ENDED);
  EXPECT_EQ(SubscribeFrom(request)->filter.event_kinds, (std::set<uint32_t>{22}));
  request.add_event_kinds(v1::EventKind(23));
  EXPECT_EQ(session::ReasonOf(SubscribeFrom(request).status()), "INVALID_REQUEST");
  request.clear_event_kinds();
  request.mutable_heartbeat()->set_seconds(-1);
  EXPECT_EQ(session::ReasonOf(SubscribeFrom(request).status()), "INVALID_REQUEST");
}

}  // namespace
}  // namespace acpd::server
