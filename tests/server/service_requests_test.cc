#include <gtest/gtest.h>

#include "server/requests.h"
#include "session/errors.h"

namespace acpd::server {
namespace {

using std::chrono::seconds;

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
  request.set_decline(false);
  EXPECT_EQ(session::ReasonOf(RespondFrom(request).status()), "INVALID_ANSWER");
  request.set_option_kind(v1::PERMISSION_OPTION_KIND_ALLOW_ONCE);
  EXPECT_EQ(RespondFrom(request)->option_kind, session::OptionKind::kAllowOnce);
  request.clear_question_id();
  EXPECT_EQ(session::ReasonOf(RespondFrom(request).status()), "INVALID_REQUEST");
}

TEST(RequestsTest, RespondAnswersElicitations) {
  v1::RespondRequest request;
  request.set_session_id("s");
  request.set_question_id("q");
  for (const char* content : {"{}", R"( {"name": "\u00e9", "tags": ["a"]} )"}) {
    request.set_accept_json(content);
    const auto query = RespondFrom(request);
    ASSERT_TRUE(query.ok()) << content << " " << query.status();
    EXPECT_EQ(query->accept_json, content);
    EXPECT_FALSE(query->decline || query->cancelled);
  }
  for (const char* content : {"", "[]", "null", "\"x\"", "{", "{} {}", R"({"a": "\ud800"})"}) {
    request.set_accept_json(content);
    EXPECT_EQ(session::ReasonOf(RespondFrom(request).status()), "INVALID_ANSWER") << content;
  }
  request.set_decline(true);
  ASSERT_TRUE(RespondFrom(request).ok());
  EXPECT_TRUE(RespondFrom(request)->decline);
  EXPECT_EQ(RespondFrom(request)->accept_json, "");
}

TEST(RequestsTest, AnElicitationsContentHas256KiB) {
  constexpr size_t kMax = 256u << 10;
  v1::RespondRequest request;
  request.set_session_id("s");
  request.set_question_id("q");
  const auto object = [](size_t bytes) {
    return R"({"a":")" + std::string(bytes - 8, 'x') + "\"}";
  };
  for (const size_t bytes : {kMax - 1, kMax, kMax + 1}) {
    request.set_accept_json(object(bytes));
    ASSERT_EQ(request.accept_json().size(), bytes);
    const absl::Status status = RespondFrom(request).status();
    EXPECT_EQ(session::ReasonOf(status), bytes <= kMax ? "" : "INVALID_REQUEST") << bytes;
  }
}

TEST(RequestsTest, CancelHasTheTraceOfItsCall) {
  v1::CancelRequest request;
  request.set_session_id("s");
  EXPECT_TRUE(CancelFrom(request)->trace.empty());
  const acp::TraceContext trace{"parent", "state", "baggage"};
  EXPECT_EQ(CancelFrom(request, trace)->trace, trace);
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
