// What happens in the narrow windows of a set-up, a fallback and a stop: an agent's last words, a
// cancel or SIGTERM in between, a restart.

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using ::testing::IsEmpty;
using Result = api::TurnResult;

class WindowsTest : public TurnsTest {
 protected:
  // An agent that knows only session/load.
  void StartWithLoad() {
    UseScript(script_);
    SetFake("resume", json::array({"session/load"}));
    StartDaemon();
  }
  api::Turn Cancelled(const std::string& turn_id) {
    api::CancelRequest request;
    request.set_turn_id(turn_id);
    const auto cancel = client().Cancel(request);
    EXPECT_TRUE(cancel.ok()) << cancel.ToString();
    return WaitForTurn(turn_id);
  }
  static api::ChatRequest WithModel(const std::string& session_id, const json& steps) {
    api::ChatRequest request =
        ChatOf(kProject, session_id, Scripted(steps), api::WAIT_FOR_ACCEPTED);
    request.mutable_model_provider()->set_model("other");
    return request;
  }

  json script_ = json::object();
};

// The answer has no newline: acpd sees it together with the end.
json LastWords(const std::string& members) {
  return Steps(Step("raw", R"({"jsonrpc":"2.0","id":${id},)" + members + "}"), Step("exit", 0));
}

TEST_F(WindowsTest, InitializeIsTheAgentsLastWord) {
  script_["initialize"] =
      json::array({json::array(), LastWords(R"("result":{"protocolVersion":1})"), json::array()});
  StartWithLoad();
  const std::string id = MakeDormant();
  const auto chat = client().Say(kProject, id, "hello");
  EXPECT_EQ(chat.code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(chat.reason(), "AGENT_START_FAILED");
  const auto next = client().Say(kProject, id, "what number did I say?");
  EXPECT_EQ(next.response.result().text(), "42") << next.ToString();
}

TEST_F(WindowsTest, NoSuchMethodIsTheAgentsLastWord) {
  script_["session/resume"] = LastWords(R"("error":{"code":-32601,"message":"no such method"})");
  UseScript(script_);
  SetFake("resume", json::array({"session/resume", "session/load"}));
  StartDaemon();
  const std::string id = MakeDormant();
  const auto chat = client().Say(kProject, id, "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.origin().kind(), api::SessionOrigin::KIND_FALLBACK);
  EXPECT_EQ(chat.response.origin().reason(), "AGENT_EXITED");
  EXPECT_EQ(chat.response.result().outcome(), Result::OUTCOME_COMPLETED);
}

TEST_F(WindowsTest, AStopWhileAWorkerIsReplacedStartsNoOther) {
  StartDaemon();
  const auto first = client().Say(kProject, "", "hello");
  ASSERT_TRUE(first.ok()) << first.ToString();
  const auto chat = client().Chat(WithModel(first.response.session_id(), Steps(Say("kept"))));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(daemon().Stop(), (ExitStatus{0, 0}));
  EXPECT_THAT(leftovers().WaitForNone(), IsEmpty());
  StartDaemon();
  EXPECT_EQ(WaitForTurn(chat.response.turn_id()).result().text(), "kept");
}

TEST_F(WindowsTest, ACancelDuringALateFallbackEndsTheTurn) {
  script_["session/load"] = Steps(Step("reply", nullptr));
  script_["session/prompt"] = Steps(Steps("reply"), Steps(Reply("refusal")), Steps("reply"));
  script_["session/new"] = json::array({json::array(), Steps(Barrier("new"))});
  StartWithLoad();
  const std::string id = MakeDormant();
  const auto chat = client().Chat(ChatOf(kProject, id, "hello", api::WAIT_FOR_ACCEPTED));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  ASSERT_TRUE(barriers().WaitReached("new"));
  const api::Turn turn = Cancelled(chat.response.turn_id());
  EXPECT_EQ(turn.result().outcome(), Result::OUTCOME_CANCELLED);
  barriers().Release("new");
  ASSERT_TRUE(WaitForState(id, api::Session::STATE_DORMANT));
  EXPECT_EQ(log().Received("session/prompt").size(), 2u);
  EXPECT_EQ(CountEnds(chat.response.turn_id()), 1u);
}

TEST_F(WindowsTest, ARefusalAfterAFirstTurnThatWasCutShortStays) {
  script_["session/load"] = Steps("reply");
  StartWithLoad();
  const std::string id = MakeDormant();
  const auto cut = client().Say(kProject, id, Scripted(Steps(Say("so far"), Reply("max_tokens"))));
  ASSERT_EQ(cut.response.result().outcome(), Result::OUTCOME_TRUNCATED) << cut.ToString();
  const auto chat = client().Say(kProject, id, Scripted(Steps(Reply("refusal"))));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.session_id(), id);
  EXPECT_EQ(chat.response.result().outcome(), Result::OUTCOME_REFUSED);
  EXPECT_EQ(log().Received("session/prompt").size(), 3u);
}

TEST_F(WindowsTest, AQueuedTurnThatLostItsKeyDoesNotRun) {
  StartDaemon();
  const api::ChatResponse running = BeginAt("hold");
  api::ChatRequest request = WithModel(running.session_id(), Steps(Say("never")));
  request.mutable_model_provider()->set_api_key("sk-1");
  const auto queued = client().Chat(request);
  ASSERT_TRUE(queued.ok()) << queued.ToString();
  KillAndRestartDaemon();
  barriers().Release("hold");
  const api::Turn turn = WaitForTurn(queued.response.turn_id());
  EXPECT_EQ(turn.result().outcome(), Result::OUTCOME_FAILED);
  EXPECT_EQ(turn.result().error().reason(), "CREDENTIALS_NEEDED");
  EXPECT_FALSE(turn.result().prompt_sent());
  EXPECT_EQ(log().Received("session/prompt").size(), 1u);
}

TEST_F(WindowsTest, WithTheOneThatFellBackGoneARequiringTurnIsNotMoved) {
  script_["session/load"] = Steps(Error(-32002, "Resource not found"));
  script_["session/new"] = json::array({json::array(), Steps(Barrier("new"))});
  StartWithLoad();
  const std::string id = MakeDormant();
  const std::string first = Accept(id, Steps(Say("one")));
  ASSERT_TRUE(barriers().WaitReached("new"));
  api::ChatRequest request = ChatOf(kProject, id, "hello", api::WAIT_FOR_ACCEPTED);
  request.mutable_resume_policy()->set_mode(api::ResumePolicy::MODE_REQUIRE);
  const auto requiring = client().Chat(request);
  ASSERT_TRUE(requiring.ok()) << requiring.ToString();
  EXPECT_EQ(Cancelled(first).result().outcome(), Result::OUTCOME_CANCELLED);
  barriers().Release("new");
  const api::Turn turn = WaitForTurn(requiring.response.turn_id());
  EXPECT_EQ(turn.result().outcome(), Result::OUTCOME_FAILED);
  EXPECT_EQ(turn.result().error().reason(), "SESSION_NOT_RESUMABLE");
  EXPECT_EQ(turn.session_id(), id);
  EXPECT_EQ(log().Received("session/prompt").size(), 1u);
}

TEST_F(WindowsTest, ACancelDuringAFallbackIsNoFailureOfTheSession) {
  script_["session/load"] = Steps(Error(-32002, "Resource not found"));
  script_["session/new"] = json::array({json::array(), Steps(Barrier("new"))});
  StartWithLoad();
  const std::string id = MakeDormant();
  const std::string turn = Accept(id, Steps(Say("never")));
  ASSERT_TRUE(barriers().WaitReached("new"));
  EXPECT_EQ(Cancelled(turn).result().outcome(), Result::OUTCOME_CANCELLED);
  barriers().Release("new");
  ASSERT_TRUE(WaitForState(id, api::Session::STATE_DORMANT));
  const auto session = client().GetSession(id);
  EXPECT_FALSE(session.response.has_last_error()) << session.response.last_error().message();
}

// Whose updates they are is known only with the answer: until then few are taken.
TEST_F(WindowsTest, AFloodBeforeTheNewSessionsAnswerIsHeldBack) {
  script_["session/load"] = Steps(Error(-32002, "Resource not found"));
  script_["session/new"] =
      json::array({json::array(), Steps(Step("burst", json::array({20'000, 1000})))});
  SetFake("session_setup_timeout", "1s");
  StartWithLoad();
  const std::string id = MakeDormant();
  const auto chat = client().Say(kProject, id, "hello");
  EXPECT_EQ(chat.code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(chat.reason(), "START_TIMEOUT");
}

}  // namespace
}  // namespace acpd::e2e
