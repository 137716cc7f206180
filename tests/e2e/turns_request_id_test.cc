// request_id: the same Chat twice is one turn.

#include <future>
#include <set>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using Code = grpc::StatusCode;

class RequestIdTest : public TurnsTest {
 protected:
  api::ChatRequest Request(const json& steps, api::WaitFor wait_for = api::WAIT_FOR_FINISHED) {
    api::ChatRequest request = ChatOf(kProject, "", Scripted(steps), wait_for);
    request.set_request_id("order-17");
    return request;
  }
  Called<api::Turn> GetByRequest(const std::string& project) {
    api::GetTurnRequest request;
    request.set_project_id(project);
    request.set_request_id("order-17");
    return client().Call(&Client::Stub::GetTurn, request);
  }
};

TEST_F(RequestIdTest, ConcurrentCallsShareOneTurn) {
  StartDaemon();
  const api::ChatRequest request = Request(Steps(Barrier("hold"), Say("once")));
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<std::future<Called<api::ChatResponse>>> calls;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(NewClient());
    calls.push_back(std::async(
        std::launch::async, [&request, one = clients.back().get()] { return one->Chat(request); }));
  }
  ASSERT_TRUE(barriers().WaitReached("hold"));
  barriers().Release("hold");
  std::set<std::string> turn_ids, session_ids;
  int fresh = 0;
  for (auto& call : calls) {
    const auto chat = call.get();
    ASSERT_TRUE(chat.ok()) << chat.ToString();
    EXPECT_EQ(chat.response.result().text(), "once");
    EXPECT_EQ(chat.response.request_id(), "order-17");
    turn_ids.insert(chat.response.turn_id());
    session_ids.insert(chat.response.session_id());
    if (!chat.response.deduplicated()) ++fresh;
  }
  EXPECT_EQ(turn_ids.size(), 1u);
  EXPECT_EQ(session_ids.size(), 1u);
  EXPECT_EQ(fresh, 1);
  EXPECT_EQ(log().Received("session/prompt").size(), 1u);
  EXPECT_EQ(AllSessions().size(), 1u);
}

TEST_F(RequestIdTest, HoldsAfterTheEndAndAfterARestart) {
  StartDaemon();
  const api::ChatRequest request = Request(Steps(Say("once")));
  const auto first = client().Chat(request);
  ASSERT_TRUE(first.ok()) << first.ToString();
  EXPECT_FALSE(first.response.deduplicated());
  const auto expect_the_same = [&] {
    const auto again = client().Chat(request);
    ASSERT_TRUE(again.ok()) << again.ToString();
    EXPECT_TRUE(again.response.deduplicated());
    EXPECT_EQ(again.response.turn_id(), first.response.turn_id());
    EXPECT_EQ(again.response.session_id(), first.response.session_id());
    EXPECT_EQ(again.response.result().text(), "once");
    EXPECT_EQ(again.response.after_position(), first.response.after_position());
    const auto turn = GetByRequest(kProject);
    ASSERT_TRUE(turn.ok()) << turn.ToString();
    EXPECT_EQ(turn.response.turn_id(), first.response.turn_id());
  };
  expect_the_same();
  KillAndRestartDaemon();
  expect_the_same();
  EXPECT_EQ(log().Received("session/prompt").size(), 1u);
  EXPECT_EQ(GetByRequest("other").reason(), "TURN_NOT_FOUND");
}

TEST_F(RequestIdTest, AttachesToATurnThatARestartRunsAgain) {
  json script = json::object();
  script["session/new"] = Steps(Barrier("new"), "reply");
  UseScript(script);
  StartDaemon();
  api::ChatRequest request = Request(Steps(Say("once")), api::WAIT_FOR_ACCEPTED);
  const auto first = client().Chat(request);
  ASSERT_TRUE(first.ok()) << first.ToString();
  ASSERT_TRUE(barriers().WaitReached("new"));
  KillAndRestartDaemon();
  barriers().Release("new");
  request.set_wait_for(api::WAIT_FOR_FINISHED);
  const auto second = client().Chat(request);
  ASSERT_TRUE(second.ok()) << second.ToString();
  EXPECT_TRUE(second.response.deduplicated());
  EXPECT_EQ(second.response.turn_id(), first.response.turn_id());
  EXPECT_EQ(second.response.result().text(), "once");
  EXPECT_EQ(log().Received("session/prompt").size(), 1u);
}

TEST_F(RequestIdTest, OtherContentIsRefused) {
  StartDaemon();
  const auto first = client().Chat(Request(Steps(Say("once"))));
  ASSERT_TRUE(first.ok()) << first.ToString();
  const auto expect_refused = [&] {
    const auto other = client().Chat(Request(Steps(Say("twice"))));
    EXPECT_EQ(other.code(), Code::ALREADY_EXISTS) << other.ToString();
    EXPECT_EQ(other.reason(), "REQUEST_ID_REUSED");
  };
  expect_refused();
  KillAndRestartDaemon();
  expect_refused();
  EXPECT_EQ(log().Received("session/prompt").size(), 1u);
}

TEST_F(RequestIdTest, WaitForAndApiKeyAreNoContent) {
  StartDaemon();
  api::ChatRequest request = Request(Steps(Say("once")));
  request.mutable_model_provider()->set_api_key("one");
  const auto first = client().Chat(request);
  ASSERT_TRUE(first.ok()) << first.ToString();
  request.mutable_model_provider()->set_api_key("another");
  request.set_wait_for(api::WAIT_FOR_ACCEPTED);
  const auto again = client().Chat(request);
  ASSERT_TRUE(again.ok()) << again.ToString();
  EXPECT_TRUE(again.response.deduplicated());
  EXPECT_EQ(again.response.turn_id(), first.response.turn_id());
}

TEST_F(RequestIdTest, IsOfItsProject) {
  StartDaemon();
  api::ChatRequest request = Request(Steps(Say("x")));
  const auto first = client().Chat(request);
  request.set_project_id("other");
  const auto other = client().Chat(request);
  ASSERT_TRUE(other.ok()) << other.ToString();
  EXPECT_FALSE(other.response.deduplicated());
  EXPECT_NE(other.response.turn_id(), first.response.turn_id());
}

TEST_F(RequestIdTest, ATurnThatCouldNotStartMayBeTriedAgain) {
  json script = json::object();
  script["start"] = Steps(Steps(Step("exit", 3)), Steps(Step("log", "fine now")));
  UseScript(script);
  StartDaemon();
  const api::ChatRequest request = Request(Steps(Say("at last")));
  const auto first = client().Chat(request);
  EXPECT_EQ(first.code(), Code::UNAVAILABLE) << first.ToString();
  EXPECT_EQ(first.reason(), "AGENT_START_FAILED");
  const auto second = client().Chat(request);
  ASSERT_TRUE(second.ok()) << second.ToString();
  EXPECT_FALSE(second.response.deduplicated());
  EXPECT_NE(second.response.turn_id(), first.trailers.at("acpd-turn-id"));
  EXPECT_EQ(second.response.result().text(), "at last");
}

TEST_F(RequestIdTest, ADeduplicatedCallerGetsTheSameError) {
  options().agents["fake"].command = dir() / "no-such-agent";
  StartDaemon();
  const api::ChatRequest request = Request(Steps(Say("x")));
  const auto first = client().Chat(request);
  EXPECT_EQ(first.code(), Code::FAILED_PRECONDITION) << first.ToString();
  EXPECT_EQ(first.reason(), "AGENT_START_FAILED");
  const auto second = client().Chat(request);
  EXPECT_EQ(second.code(), first.code()) << second.ToString();
  EXPECT_EQ(second.reason(), first.reason());
  EXPECT_EQ(second.trailers.at("acpd-turn-id"), first.trailers.at("acpd-turn-id"));
}

}  // namespace
}  // namespace acpd::e2e
