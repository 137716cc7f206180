#include <gtest/gtest.h>

#include "server/agent_session_pages.h"
#include "server/list_pages.h"
#include "server/request_checks.h"
#include "session/errors.h"

namespace acpd::server {
namespace {

// An agent with pages of these sizes; its cursors are their numbers.
class AgentWithSessions {
 public:
  explicit AgentWithSessions(std::vector<int> pages, size_t title_bytes = 0)
      : pages_(std::move(pages)), title_(title_bytes, 't') {}

  session::AgentSessionPage List(const std::string& cursor) {
    asked_.push_back(cursor);
    const size_t page = cursor.empty() ? 0 : std::stoul(cursor);
    session::AgentSessionPage result;
    for (int i = 0; i < pages_[page]; ++i) {
      session::AgentSessionView session;
      session.agent_session_id = std::to_string(page) + "." + std::to_string(i);
      session.title = title_;
      result.sessions.push_back(session);
    }
    if (page + 1 < pages_.size()) result.next_cursor = std::to_string(page + 1);
    return result;
  }
  const std::vector<std::string>& asked() const { return asked_; }

 private:
  const std::vector<int> pages_;
  const std::string title_;
  std::vector<std::string> asked_;
};

// One page; its token goes into the request.
std::vector<std::string> Next(AgentWithSessions& agent, v1::ListAgentSessionsRequest* request) {
  const auto params = AgentSessionsFrom(*request);
  EXPECT_TRUE(params.ok()) << params.status();
  v1::ListAgentSessionsResponse response;
  EXPECT_TRUE(FillPage(*request, *params, agent.List(params->cursor), &response).ok());
  EXPECT_LE(response.ByteSizeLong(), kMaxPageBytes + (64u << 10));
  std::vector<std::string> ids;
  for (const auto& session : response.sessions()) ids.push_back(session.agent_session_id());
  request->set_page_token(response.next_page_token());
  return ids;
}

TEST(AgentSessionsTest, APageIsTheAgents) {
  AgentWithSessions agent({2, 0, 1});
  v1::ListAgentSessionsRequest request;
  using Ids = std::vector<std::string>;
  EXPECT_EQ(Next(agent, &request), (Ids{"0.0", "0.1"}));
  EXPECT_EQ(Next(agent, &request), Ids()) << "and there is more";
  EXPECT_NE(request.page_token(), "");
  EXPECT_EQ(Next(agent, &request), Ids{"2.0"});
  EXPECT_EQ(request.page_token(), "");
  EXPECT_EQ(agent.asked(), (Ids{"", "1", "2"}));
}

TEST(AgentSessionsTest, PageSizeOnlyCuts) {
  AgentWithSessions agent({3, 1});
  v1::ListAgentSessionsRequest request;
  request.set_page_size(2);
  using Ids = std::vector<std::string>;
  EXPECT_EQ(Next(agent, &request), (Ids{"0.0", "0.1"}));
  EXPECT_EQ(Next(agent, &request), Ids{"0.2"}) << "not filled up from the next";
  request.set_page_size(500);
  EXPECT_EQ(Next(agent, &request), Ids{"1.0"});
  EXPECT_EQ(request.page_token(), "");
}

TEST(AgentSessionsTest, LargePagesComeInPieces) {
  AgentWithSessions many({1001});
  v1::ListAgentSessionsRequest request;
  EXPECT_EQ(Next(many, &request).size(), 500u);
  EXPECT_EQ(Next(many, &request).size(), 500u);
  EXPECT_EQ(Next(many, &request), std::vector<std::string>{"0.1000"});
  EXPECT_EQ(request.page_token(), "");
  AgentWithSessions large({600}, 100u << 10);
  size_t seen = 0, pages = 0;
  do {
    const size_t count = Next(large, &request).size();
    ASSERT_GT(count, 0u);
    seen += count;
    ++pages;
  } while (!request.page_token().empty());
  EXPECT_EQ(seen, 600u);
  EXPECT_GT(pages, 1u) << "2 MiB each, with titles cut at 4 KiB";
}

TEST(AgentSessionsTest, AListThatBecameShorterGoesOn) {
  AgentWithSessions before({5, 1}), after({1, 1});
  v1::ListAgentSessionsRequest request;
  request.set_page_size(3);
  EXPECT_EQ(Next(before, &request).size(), 3u);
  EXPECT_TRUE(Next(after, &request).empty());
  EXPECT_EQ(Next(after, &request), std::vector<std::string>{"1.0"});
}

TEST(AgentSessionsTest, TokensAreOfOneList) {
  AgentWithSessions agent({1, 1});
  v1::ListAgentSessionsRequest request;
  request.set_agent("demo");
  Next(agent, &request);
  request.set_cwd("/other");
  EXPECT_EQ(session::ReasonOf(AgentSessionsFrom(request).status()), "INVALID_PAGE_TOKEN");
  request.clear_cwd();
  EXPECT_TRUE(AgentSessionsFrom(request).ok());
  request.set_agent("other");
  EXPECT_EQ(session::ReasonOf(AgentSessionsFrom(request).status()), "INVALID_PAGE_TOKEN");
  request.set_page_token("x");
  EXPECT_EQ(session::ReasonOf(AgentSessionsFrom(request).status()), "INVALID_PAGE_TOKEN");
}

TEST(AgentSessionsTest, ItIsChecked) {
  v1::ListAgentSessionsRequest request;
  request.set_cwd("relative");
  EXPECT_EQ(session::ReasonOf(AgentSessionsFrom(request).status()), "INVALID_REQUEST");
  for (const size_t size : {kMaxTextBytes - 1, kMaxTextBytes, kMaxTextBytes + 1}) {
    request.set_cwd(std::string(size, '/'));
    EXPECT_EQ(AgentSessionsFrom(request).ok(), size <= kMaxTextBytes) << size;
  }
  request.set_cwd("/x");
  request.set_page_size(-1);
  EXPECT_EQ(session::ReasonOf(AgentSessionsFrom(request).status()), "INVALID_REQUEST");
  request.set_page_size(0);
  for (const size_t size : {kMaxTextBytes - 1, kMaxTextBytes, kMaxTextBytes + 1}) {
    request.set_agent(std::string(size, 'a'));
    EXPECT_EQ(AgentSessionsFrom(request).ok(), size <= kMaxTextBytes) << size;
  }
}

TEST(AgentSessionsTest, CursorsAreBounded) {
  v1::ListAgentSessionsRequest request;
  for (const size_t size : {(64u << 10) - 1, 64u << 10, (64u << 10) + 1}) {
    session::AgentSessionPage page;
    page.next_cursor = std::string(size, 'c');
    v1::ListAgentSessionsResponse response;
    const absl::Status filled = FillPage(request, *AgentSessionsFrom(request), page, &response);
    EXPECT_EQ(session::ReasonOf(filled), size <= 64u << 10 ? "" : "NOT_SUPPORTED_BY_AGENT");
    if (!filled.ok()) continue;
    request.set_page_token(response.next_page_token());
    EXPECT_EQ(AgentSessionsFrom(request)->cursor, page.next_cursor);
    request.clear_page_token();
  }
}

}  // namespace
}  // namespace acpd::server
