// An agent that fails to start is left alone for a while: whoever would have it started is refused
// before acceptance, and told when to come back.

#include <algorithm>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using Code = grpc::StatusCode;

class StartBackoffTest : public TurnsTest {
 protected:
  // Per start of an agent, the last for all further ones.
  void UseStarts(const json& starts, const std::string& first_pause) {
    json script = json::object();
    script["start"] = starts;
    UseScript(script);
    options().extra = {{"limits", {{"start_backoff", first_pause}}}};
    StartDaemon();
  }
  static bool WasAccepted(const Called<api::ChatResponse>& chat) {
    const auto id = chat.trailers.find("acpd-turn-id");
    return id != chat.trailers.end() && !id->second.empty();
  }
  void ExpectFailed(const Called<api::ChatResponse>& chat) {
    EXPECT_EQ(chat.code(), Code::UNAVAILABLE) << chat.ToString();
    EXPECT_EQ(chat.reason(), "AGENT_START_FAILED");
    EXPECT_TRUE(WasAccepted(chat)) << chat.ToString();
  }
  void ExpectHeldBack(const Called<api::ChatResponse>& chat) {
    EXPECT_EQ(chat.code(), Code::UNAVAILABLE) << chat.ToString();
    EXPECT_EQ(chat.reason(), "AGENT_START_FAILED");
    EXPECT_THAT(chat.status.error_message(), ::testing::HasSubstr("is not started again for"));
    EXPECT_FALSE(WasAccepted(chat)) << chat.ToString();
  }
};

TEST_F(StartBackoffTest, InItAChatIsRefusedAndLeavesNoTrace) {
  UseStarts(Steps(Step("exit", 3)), "30s");
  const auto first = client().Say(kProject, "", "hello");
  ExpectFailed(first);
  const api::Turn turn = WaitForTurn(first.trailers.at("acpd-turn-id"));
  EXPECT_EQ(turn.result().error().retry_after().seconds(), 30);

  const size_t events = AllEvents().size();
  const auto second = client().Say(kProject, "", "hello");
  ExpectHeldBack(second);
  const auto pushback = second.trailers.find("grpc-retry-pushback-ms");
  ASSERT_NE(pushback, second.trailers.end());
  EXPECT_GT(std::stoi(pushback->second), 10'000);
  EXPECT_LE(std::stoi(pushback->second), 30'000);
  api::CreateSessionRequest create;
  create.mutable_setup()->set_project_id(kProject);
  EXPECT_EQ(client().Call(&Client::Stub::CreateSession, create).reason(), "AGENT_START_FAILED");
  // The session of the failed turn as well.
  ExpectHeldBack(client().Say(kProject, first.trailers.at("acpd-session-id"), "hello"));
  EXPECT_EQ(log().Pids().size(), 1u);
  EXPECT_EQ(AllEvents().size(), events);
}

TEST_F(StartBackoffTest, AnotherProjectModelOrAgentIsTriedAtOnce) {
  options().agents["other"] = FakeAgent();
  UseStarts(Steps(Step("exit", 3)), "30s");
  ExpectFailed(client().Say(kProject, "", "hello"));
  ExpectFailed(client().Say("bank", "", "hello"));
  api::ChatRequest request = ChatOf(kProject, "", "hello", api::WAIT_FOR_FINISHED);
  request.mutable_model_provider()->set_model("another");
  ExpectFailed(client().Chat(request));
  ExpectHeldBack(client().Chat(request));
  request.clear_model_provider();
  request.set_agent("other");
  const auto other = client().Chat(request);
  EXPECT_TRUE(other.ok()) << other.ToString();
}

TEST_F(StartBackoffTest, AfterItTheAgentIsTriedAgain) {
  UseStarts(Steps(Steps(Step("exit", 3)), Steps(Step("log", "fine now"))), "500ms");
  ExpectFailed(client().Say(kProject, "", "hello"));
  EXPECT_TRUE(WaitUntil([&] { return client().Say(kProject, "", "hello").ok(); }));
  // Those that were refused meanwhile started nothing, and nothing is held against it any more.
  EXPECT_EQ(log().Pids().size(), 2u);
  const auto more = client().Say(kProject, "", "hello");
  EXPECT_TRUE(more.ok()) << more.ToString();
}

TEST_F(StartBackoffTest, AnAcceptedTurnTriesItsStart) {
  UseStarts(Steps(Step("barrier", json{{"name", "start"}, {"deaf", true}}), Step("exit", 3)),
            "30s");
  const std::string first = Accept("", Steps(Say("x")));
  ASSERT_TRUE(barriers().WaitReached("start"));
  const std::string second = Accept(client().GetTurn(first).response.session_id(), Steps(Say("x")));
  barriers().Release("start");
  for (const std::string& turn_id : {first, second}) {
    EXPECT_EQ(WaitForTurn(turn_id).result().error().reason(), "AGENT_START_FAILED");
  }
  EXPECT_EQ(log().Pids().size(), 2u);
}

TEST_F(StartBackoffTest, ASessionThatNeedsNoStartGoesOn) {
  UseStarts(Steps(Steps(Step("log", "fine")), Steps(Step("exit", 3))), "30s");
  const auto live = client().Say(kProject, "", "hello");
  ASSERT_TRUE(live.ok()) << live.ToString();
  ExpectFailed(client().Say(kProject, "", "hello"));
  ExpectHeldBack(client().Say(kProject, "", "hello"));
  const auto more = client().Say(kProject, live.response.session_id(), "hello");
  EXPECT_TRUE(more.ok()) << more.ToString();
}

TEST_F(StartBackoffTest, AMissingLoginIsNoReasonToWait) {
  json script = json::object();
  script["session/new"] = Steps(Error(-32000, "Authentication required"));
  UseScript(script);
  options().extra = {{"limits", {{"start_backoff", "30s"}}}};
  StartDaemon();
  for (int i = 0; i < 2; ++i) {
    const auto chat = client().Say(kProject, "", "hello");
    EXPECT_EQ(chat.reason(), "AGENT_AUTH_REQUIRED") << chat.ToString();
    EXPECT_TRUE(WasAccepted(chat));
  }
}

}  // namespace
}  // namespace acpd::e2e
