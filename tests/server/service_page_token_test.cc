#include <gtest/gtest.h>

#include "server/list_pages.h"
#include "server/page_token.h"
#include "session/errors.h"

namespace acpd::server {
namespace {

TEST(PageTokenTest, ComesBack) {
  const auto token = DecodePageToken(EncodePageToken({1234567890123456, "id", 42}, "list"), "list");
  ASSERT_TRUE(token.ok());
  EXPECT_EQ(token->before_time, 1234567890123456);
  EXPECT_EQ(token->before_id, "id");
  EXPECT_EQ(token->as_of_position, 42u);
}

TEST(PageTokenTest, RefusesWhatItDidNotMake) {
  const std::string good = EncodePageToken({1, "id", 2}, "list");
  for (const std::string& bad :
       {std::string("x"), std::string("!!"), good.substr(1), good.substr(0, good.size() - 3),
        good + "AAAA", std::string("AAAA"), EncodePageToken({1, "id", 2}, "another list")}) {
    const auto token = DecodePageToken(bad, "list");
    ASSERT_FALSE(token.ok()) << bad;
    EXPECT_EQ(token.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(session::ReasonOf(token.status()), "INVALID_PAGE_TOKEN");
  }
}

session::TurnPage Turns(size_t count, size_t text_bytes, bool more) {
  session::TurnPage page;
  for (size_t i = 0; i < count; ++i) {
    session::TurnView turn;
    turn.turn_id = "t" + std::to_string(i);
    turn.accept_time = 1000 - static_cast<int64_t>(i);
    turn.state = session::TurnState::kEnded;
    turn.result.final_text.assign(text_bytes, 'x');
    page.turns.push_back(turn);
  }
  page.more = more;
  page.as_of_position = 7;
  return page;
}

TEST(ListPagesTest, TheLastPageHasNoToken) {
  v1::ListTurnsResponse response;
  FillPage(v1::ListTurnsRequest(), {}, Turns(3, 10, false), &response);
  EXPECT_EQ(response.turns_size(), 3);
  EXPECT_EQ(response.next_page_token(), "");
  EXPECT_EQ(response.as_of_position(), 7u);
}

TEST(ListPagesTest, TheTokenGoesOnBehindTheLastEntryOfTheSameList) {
  v1::ListTurnsRequest request;
  request.set_project_id("p");
  v1::ListTurnsResponse response;
  FillPage(request, {}, Turns(3, 10, true), &response);
  request.set_page_token(response.next_page_token());
  request.set_page_size(10);  // may change from page to page
  const auto params = ListTurnsFrom(request);
  ASSERT_TRUE(params.ok()) << params.status();
  EXPECT_EQ(params->query.before_turn_id, "t2");
  EXPECT_EQ(params->query.before_time, 998);
  EXPECT_EQ(params->as_of_position, 7u);
  request.set_project_id("q");
  EXPECT_EQ(session::ReasonOf(ListTurnsFrom(request).status()), "INVALID_PAGE_TOKEN");
}

TEST(ListPagesTest, LaterPagesShowThePositionOfTheFirst) {
  ListTurnsParams params;
  params.as_of_position = 3;
  v1::ListTurnsResponse response;
  FillPage(v1::ListTurnsRequest(), params, Turns(1, 10, false), &response);
  EXPECT_EQ(response.as_of_position(), 3u);
}

TEST(ListPagesTest, EndsAt2MiBButHoldsOneEntryAtLeast) {
  v1::ListTurnsResponse response;
  FillPage(v1::ListTurnsRequest(), {}, Turns(5, 900 << 10, false), &response);
  EXPECT_EQ(response.turns_size(), 2);
  EXPECT_LE(response.ByteSizeLong(), kMaxPageBytes + 1000);
  EXPECT_NE(response.next_page_token(), "");
  session::SessionPage sessions;
  sessions.sessions.resize(2);
  for (auto& session : sessions.sessions) session.labels["large"].assign(3 << 20, 'x');
  v1::ListSessionsResponse listed;
  FillPage(v1::ListSessionsRequest(), {}, sessions, &listed);
  EXPECT_EQ(listed.sessions_size(), 1);
}

}  // namespace
}  // namespace acpd::server
