// ListSessions and ListTurns: filters, pages, order.

#include <algorithm>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

class ListsTest : public TurnsTest {
 protected:
  std::string NewSession(const std::string& project,
                         const std::map<std::string, std::string>& labels = {}) {
    api::CreateSessionRequest create;
    create.mutable_setup()->set_project_id(project);
    create.mutable_setup()->mutable_labels()->insert(labels.begin(), labels.end());
    const auto created = client().Call(&Client::Stub::CreateSession, create);
    EXPECT_TRUE(created.ok()) << created.ToString();
    return created.response.session_id();
  }
  std::vector<std::string> List(const api::ListSessionsRequest& request) {
    const auto listed = client().Call(&Client::Stub::ListSessions, request);
    EXPECT_TRUE(listed.ok()) << listed.ToString();
    std::vector<std::string> ids;
    for (const auto& session : listed.response.sessions()) ids.push_back(session.session_id());
    return ids;
  }
};

TEST_F(ListsTest, SessionsInPagesNewestFirst) {
  StartDaemon();
  std::vector<std::string> made;
  for (int i = 0; i < 5; ++i) made.push_back(NewSession(kProject));
  std::reverse(made.begin(), made.end());
  api::ListSessionsRequest request;
  request.set_page_size(2);
  std::vector<std::string> listed;
  std::vector<int> sizes;
  uint64_t as_of = 0;
  do {
    const auto page = client().Call(&Client::Stub::ListSessions, request);
    ASSERT_TRUE(page.ok()) << page.ToString();
    sizes.push_back(page.response.sessions_size());
    for (const auto& session : page.response.sessions()) listed.push_back(session.session_id());
    if (as_of == 0) as_of = page.response.as_of_position();
    EXPECT_EQ(page.response.as_of_position(), as_of);
    EXPECT_FALSE(page.response.epoch().empty());
    request.set_page_token(page.response.next_page_token());
    // A session that is made meanwhile moves nothing.
    if (sizes.size() == 1) NewSession(kProject);
  } while (!request.page_token().empty());
  EXPECT_THAT(sizes, ElementsAre(2, 2, 1));
  EXPECT_EQ(listed, made);
  request.set_page_token("nonsense");
  EXPECT_EQ(client().Call(&Client::Stub::ListSessions, request).reason(), "INVALID_PAGE_TOKEN");
}

TEST_F(ListsTest, SessionsByProjectLabelAndState) {
  StartDaemon();
  const std::string red = NewSession(kProject, {{"team", "red"}, {"tier", "1"}});
  const std::string blue = NewSession(kProject, {{"team", "blue"}, {"tier", "1"}});
  const std::string other = NewSession("other", {{"team", "red"}});
  api::ListSessionsRequest request;
  EXPECT_THAT(List(request), ElementsAre(other, blue, red));
  request.set_project_id(kProject);
  EXPECT_THAT(List(request), ElementsAre(blue, red));
  (*request.mutable_labels())["team"] = "red";
  EXPECT_THAT(List(request), ElementsAre(red));
  request.clear_project_id();
  EXPECT_THAT(List(request), ElementsAre(other, red));
  (*request.mutable_labels())["tier"] = "1";
  EXPECT_THAT(List(request), ElementsAre(red));
  request.Clear();
  KillAgent();  // of the last
  ASSERT_TRUE(WaitForState(other, api::Session::STATE_DORMANT));
  request.add_states(api::Session::STATE_DORMANT);
  EXPECT_THAT(List(request), ElementsAre(other));
  request.add_states(api::Session::STATE_IDLE);
  EXPECT_THAT(List(request), ElementsAre(other, blue, red));
}

TEST_F(ListsTest, LabelsAreMergedByChats) {
  StartDaemon();
  const std::string id = NewSession(kProject, {{"team", "red"}, {"tier", "1"}});
  api::ChatRequest chat = ChatOf(kProject, id, "hello", api::WAIT_FOR_FINISHED);
  (*chat.mutable_labels())["tier"] = "2";
  (*chat.mutable_labels())["new"] = "yes";
  ASSERT_TRUE(client().Chat(chat).ok());
  KillAndRestartDaemon();
  const auto labels = client().GetSession(id).response.labels();
  EXPECT_EQ((std::map<std::string, std::string>(labels.begin(), labels.end())),
            (std::map<std::string, std::string>{{"team", "red"}, {"tier", "2"}, {"new", "yes"}}));
}

TEST_F(ListsTest, ReplacedSessionsOnlyWhenAskedFor) {
  json script = json::object();
  script["session/resume"] = Steps(Error(-32002, "Resource not found"));
  UseScript(script);
  StartDaemon();
  const std::string old_id = MakeDormant();
  const auto chat = client().Say(kProject, old_id, "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  api::ListSessionsRequest request;
  EXPECT_THAT(List(request), ElementsAre(chat.response.session_id()));
  request.add_states(api::Session::STATE_REPLACED);
  EXPECT_THAT(List(request), ElementsAre(old_id));
}

TEST_F(ListsTest, TurnsInPagesNewestFirst) {
  StartDaemon();
  const std::string id = NewSession(kProject), other = NewSession("other");
  std::vector<std::string> made;
  for (int i = 0; i < 5; ++i) {
    made.push_back(client().Say(kProject, id, "turn").response.turn_id());
  }
  const std::string elsewhere = client().Say("other", other, "turn").response.turn_id();
  std::reverse(made.begin(), made.end());
  api::ListTurnsRequest request;
  request.set_project_id(kProject);
  request.set_page_size(2);
  std::vector<std::string> listed;
  std::vector<int> sizes;
  do {
    const auto page = client().Call(&Client::Stub::ListTurns, request);
    ASSERT_TRUE(page.ok()) << page.ToString();
    sizes.push_back(page.response.turns_size());
    for (const auto& turn : page.response.turns()) listed.push_back(turn.turn_id());
    request.set_page_token(page.response.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_THAT(sizes, ElementsAre(2, 2, 1));
  EXPECT_EQ(listed, made);
  request.Clear();
  request.set_session_id(other);
  const auto of_session = client().Call(&Client::Stub::ListTurns, request);
  ASSERT_EQ(of_session.response.turns_size(), 1);
  EXPECT_EQ(of_session.response.turns(0).turn_id(), elsewhere);
  EXPECT_FALSE(of_session.response.turns(0).has_request());
}

TEST_F(ListsTest, TurnsByState) {
  StartDaemon();
  const api::ChatResponse running = BeginAt("hold");
  const std::string queued = Accept(running.session_id(), Steps(Say(std::string(300, 'x'))));
  api::ListTurnsRequest request;
  request.add_states(api::TURN_STATE_QUEUED);
  auto listed = client().Call(&Client::Stub::ListTurns, request);
  ASSERT_EQ(listed.response.turns_size(), 1) << listed.ToString();
  EXPECT_EQ(listed.response.turns(0).turn_id(), queued);
  EXPECT_EQ(listed.response.turns(0).prompt().size(), 200u);
  request.clear_states();
  request.add_states(api::TURN_STATE_RUNNING);
  listed = client().Call(&Client::Stub::ListTurns, request);
  ASSERT_EQ(listed.response.turns_size(), 1);
  EXPECT_EQ(listed.response.turns(0).turn_id(), running.turn_id());
  request.set_session_id("no-such-session");
  EXPECT_EQ(client().Call(&Client::Stub::ListTurns, request).reason(), "SESSION_NOT_FOUND");
}

TEST_F(ListsTest, AListAndAStreamFromItsPositionMissNothing) {
  StartDaemon();
  const std::string first = NewSession(kProject);
  const auto listed = client().Call(&Client::Stub::ListSessions, api::ListSessionsRequest());
  ASSERT_EQ(listed.response.sessions_size(), 1);
  const std::string second = NewSession(kProject);
  api::SubscribeProgressRequest request;
  request.set_everything(true);
  request.set_after_position(listed.response.as_of_position());
  request.set_epoch(listed.response.epoch());
  request.set_replay_only(true);
  const auto stream = client().Subscribe(request);
  ASSERT_TRUE(stream->WaitForEnd());
  std::vector<std::string> created;
  for (const Event& event : stream->Stored()) {
    if (event.has_session_created()) created.push_back(event.session_id());
  }
  EXPECT_THAT(created, ElementsAre(second));
}

}  // namespace
}  // namespace acpd::e2e
