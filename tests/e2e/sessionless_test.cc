// What agents send outside of any session, at every moment: each request is answered once, no
// notification is, and the session goes on.

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using Resolved = api::QuestionResolved;

struct Stray {
  const char* name;
  const char* method;
  json params;
  int code;  // of the answer
};

json UrlOf(json scope) {
  scope["mode"] = "url";
  scope["message"] = "Sign in";
  scope["elicitationId"] = "page-1";
  scope["url"] = "https://example.test/login";
  return scope;
}

json PermissionIn(json scope) {
  scope["toolCall"] = {{"toolCallId", "c"}};
  scope["options"] = json::array({{{"optionId", "yes"}, {"name", "Yes"}, {"kind", "allow_once"}}});
  return scope;
}

// Requests that name no session.
std::vector<Stray> StraysWithoutSession() {
  return {{"extension", "_vendor/thing", json::object(), -32601},
          {"unknown", "no/such", json::object(), -32601},
          {"permission", "session/request_permission", PermissionIn(json::object()), -32602},
          {"page", "elicitation/create", UrlOf(json::object()), -32602},
          {"read", "fs/read_text_file", {{"path", "/etc/hostname"}}, -32602},
          {"write", "fs/write_text_file", {{"path", "/nowhere"}, {"content", ""}}, -32602},
          {"create", "terminal/create", {{"command", "true"}}, -32602},
          {"output", "terminal/output", {{"terminalId", "t"}}, -32602},
          {"kill", "terminal/kill", {{"terminalId", "t"}}, -32602}};
}

// Requests for a session that the worker does not have.
std::vector<Stray> StraysOfAnother() {
  const json scope = {{"sessionId", "another"}};
  const auto with = [&scope](json params) {
    params.update(scope);
    return params;
  };
  return {{"permission", "session/request_permission", PermissionIn(scope), -32602},
          {"page", "elicitation/create", UrlOf(scope), -32602},
          {"read", "fs/read_text_file", with({{"path", "/etc/hostname"}}), -32602},
          {"write", "fs/write_text_file", with({{"path", "/nowhere"}, {"content", ""}}), -32602},
          {"create", "terminal/create", with({{"command", "true"}}), -32602},
          {"output", "terminal/output", with({{"terminalId", "t"}}), -32602},
          {"kill", "terminal/kill", with({{"terminalId", "t"}}), -32602}};
}

json NotifyStep(const std::string& method, const json& params) {
  return Step("notify", {{"method", method}, {"params", params}});
}

// Notifications that nothing comes of.
json StrayNotifications() {
  const json chunk = {{"sessionUpdate", "agent_message_chunk"},
                      {"content", {{"type", "text"}, {"text", "stray"}}}};
  return Steps(NotifyStep("_vendor/note", {{"a", 1}}), NotifyStep("no/such", json::object()),
               NotifyStep("$/cancel_request", {{"requestId", "never-asked"}}),
               NotifyStep("elicitation/complete", {{"elicitationId", "never-asked"}}),
               NotifyStep("session/update", {{"update", chunk}}));
}

json JoinedSteps(json steps, const json& more) {
  for (const json& step : more) steps.push_back(step);
  return steps;
}

class SessionlessTest : public TurnsTest {
 protected:
  // Each of these, one after the other, and the wait for its answer. Ids are `prefix` and the name.
  static json StepsOf(const std::vector<Stray>& all, const std::string& prefix) {
    json steps = json::array();
    for (const Stray& stray : all) {
      steps.push_back(Step("request", {{"id", prefix + stray.name},
                                       {"method", stray.method},
                                       {"params", stray.params},
                                       {"wait", true}}));
    }
    return steps;
  }
  // Of a session's first prompt, in its turn and behind that; the second one is answered by
  // default.
  static json TurnAndIdleSteps(const std::vector<Stray>& all) {
    const json behind = JoinedSteps(Steps(Say("done"), Reply("end_turn")), StepsOf(all, "idle-"));
    return json::array({JoinedSteps(StepsOf(all, "turn-"), behind), json::array()});
  }
  void ExpectAnswers(const std::vector<Stray>& all, const std::string& prefix) {
    for (const Stray& stray : all) {
      const std::string id = prefix + stray.name;
      EXPECT_TRUE(WaitUntil([&] { return !log().AnswersTo(id).empty(); })) << id;
      const std::vector<json> answers = log().AnswersTo(id);
      ASSERT_THAT(answers, SizeIs(1)) << id;
      EXPECT_EQ(answers[0].value("error", json::object()).value("code", 0), stray.code)
          << id << " " << answers[0];
    }
  }
  // What acpd has written beside requests, notifications and answers to requests of the agent's.
  void ExpectNothingElse(size_t answers) {
    size_t seen = 0;
    for (const json& message : log().Received()) seen += !message.contains("method");
    EXPECT_EQ(seen, answers);
  }
};

// ---- Requests and notifications.

TEST_F(SessionlessTest, RequestsAreAnsweredAtEveryMomentOfASessionsLife) {
  const std::vector<Stray> all = StraysWithoutSession();
  UseScript({{"start", StepsOf(all, "start-")},
             {"initialize", StepsOf(all, "initialize-")},
             {"session/new", StepsOf(all, "new-")},
             {"session/prompt", TurnAndIdleSteps(all)}});
  StartDaemon();
  const auto chat = client().Say(kProject, "", "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.result().text(), "done");
  for (const char* moment : {"start-", "initialize-", "new-", "turn-", "idle-"})
    ExpectAnswers(all, moment);
  const auto next = client().Say(kProject, chat.response.session_id(), "hello");
  EXPECT_EQ(next.response.origin().kind(), api::SessionOrigin::KIND_LIVE) << next.ToString();
  ExpectNothingElse(5 * all.size());
  EXPECT_TRUE(client().GetSession(chat.response.session_id()).response.open_questions().empty());
}

TEST_F(SessionlessTest, RequestsForAnotherSessionAreRefusedInATurnAndBetweenTurns) {
  const std::vector<Stray> all = StraysOfAnother();
  UseScript({{"session/prompt", TurnAndIdleSteps(all)}});
  StartDaemon();
  const auto chat = client().Say(kProject, "", "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  for (const char* moment : {"turn-", "idle-"}) ExpectAnswers(all, moment);
  EXPECT_TRUE(client().Say(kProject, chat.response.session_id(), "hello").ok());
  ExpectNothingElse(2 * all.size());
}

TEST_F(SessionlessTest, NotificationsAreNeverAnsweredAndEndNothing) {
  const json all = StrayNotifications();
  UseScript(
      {{"start", all},
       {"initialize", all},
       {"session/new", all},
       {"session/prompt",
        json::array({JoinedSteps(all, JoinedSteps(Steps(Say("done"), Reply("end_turn")), all)),
                     json::array()})}});
  StartDaemon();
  const auto chat = client().Say(kProject, "", "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.result().text(), "done");
  const auto next = client().Say(kProject, chat.response.session_id(), "hello");
  EXPECT_EQ(next.response.origin().kind(), api::SessionOrigin::KIND_LIVE) << next.ToString();
  ExpectNothingElse(0);
  size_t notices = 0;
  for (const Event& event : EventsOf(chat.response.session_id())) {
    EXPECT_NE(event.session_update().text(), "stray");
    notices += event.has_notice() && event.notice().code() == "FOREIGN_SESSION";
  }
  EXPECT_EQ(notices, 1u) << "it is said once";
}

// ---- An agent that is only asked something, without a session.

TEST_F(SessionlessTest, AProbedAgentIsOfferedNothingAndGetsNothing) {
  std::vector<Stray> all = StraysWithoutSession();
  for (Stray& stray : all) {
    stray.code = -32601;
    stray.params["sessionId"] = "s";
  }
  Stray page = {"page-of-a-request", "elicitation/create", UrlOf({{"requestId", 1}}), -32601};
  all.push_back(page);
  UseScript({{"start", StrayNotifications()},
             {"initialize", JoinedSteps(StrayNotifications(), StepsOf(all, "probe-"))}});
  StartDaemon();
  api::ProbeAgentRequest request;
  request.set_agent("fake");
  const auto probed = client().Call(&Client::Stub::ProbeAgent, request);
  ASSERT_TRUE(probed.ok()) << probed.ToString();
  ExpectAnswers(all, "probe-");
  ExpectNothingElse(all.size());
  const json offered = log().Received("initialize").back().at("params").at("clientCapabilities");
  EXPECT_FALSE(offered.at("terminal"));
  EXPECT_FALSE(offered.contains("elicitation"));
  for (const char* key : {"readTextFile", "writeTextFile"})
    EXPECT_FALSE(offered.at("fs").at(key)) << key;
}

// ---- A login that sends a person to a page: asked about our `authenticate`, before any session.

class LoginByPageTest : public SessionlessTest {
 protected:
  static constexpr int kAuthenticate = 2;  // its id: the request behind initialize

  // The agent asks for the page, does this, and goes on when it has had its answer.
  void StartWithPage(const json& meanwhile, const json& afterwards) {
    const json params = UrlOf({{"requestId", kAuthenticate}});
    const json ask =
        Step("request", {{"id", "login"}, {"method", "elicitation/create"}, {"params", params}});
    json steps = JoinedSteps(Steps(ask), meanwhile);
    steps.push_back(Step("expect_answer", {{"id", "login"}}));
    SetFake("auth_method", "page");
    UseScript({{"require_auth", true},
               {"auth_methods", {{{"id", "page"}, {"name", "By a page"}}}},
               {"authenticate", JoinedSteps(steps, afterwards)}});
    StartDaemon();
    const auto chat = client().Chat(ChatOf(kProject, "", "hello", api::WAIT_FOR_ACCEPTED));
    ASSERT_TRUE(chat.ok()) << chat.ToString();
    respond_.set_session_id(chat.response.session_id());
    turn_ = chat.response.turn_id();
    const auto asked =
        client().SubscribeSession(respond_.session_id())->WaitFor(Is(Event::kElicitationRequested));
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked->elicitation_requested().url(), "https://example.test/login");
    EXPECT_EQ(asked->turn_id(), "") << "the turn has not started";
    respond_.set_question_id(asked->elicitation_requested().question_id());
    ASSERT_EQ(log().Received("authenticate").back().at("id"), kAuthenticate);
  }
  void Respond() {
    const auto responded = client().Call(&Client::Stub::Respond, respond_);
    ASSERT_TRUE(responded.ok()) << responded.ToString();
  }
  std::string ActionAtTheAgent() {
    const std::vector<json> answers = log().AnswersTo("login");
    return answers.size() == 1 ? answers[0].at("result").value("action", "") : "";
  }
  Resolved::By ResolvedBy() {
    for (const Event& event : EventsOf(respond_.session_id())) {
      if (event.has_question_resolved()) return event.question_resolved().by();
    }
    return Resolved::BY_UNSPECIFIED;
  }

  std::string turn_;
  api::RespondRequest respond_;
};

TEST_F(LoginByPageTest, IsAcceptedByACaller) {
  StartWithPage(json::array(), json::array());
  respond_.set_accept_json("{}");
  Respond();
  EXPECT_EQ(WaitForTurn(turn_).result().text(), "hello");
  EXPECT_EQ(ActionAtTheAgent(), "accept");
  EXPECT_EQ(ResolvedBy(), Resolved::BY_CALLER);
}

TEST_F(LoginByPageTest, IsDeclinedByACaller) {
  StartWithPage(json::array(), Steps(Error(-32603, "nobody came")));
  respond_.set_decline(true);
  Respond();
  const api::TurnResult result = WaitForTurn(turn_).result();
  EXPECT_EQ(result.error().reason(), "AGENT_AUTH_REQUIRED") << result.ShortDebugString();
  EXPECT_THAT(result.error().message(), HasSubstr("nobody came"));
  EXPECT_EQ(ActionAtTheAgent(), "decline");
}

TEST_F(LoginByPageTest, IsSeenThroughWithoutAnAnswer) {
  StartWithPage(Steps(NotifyStep("elicitation/complete", {{"elicitationId", "page-1"}})),
                json::array());
  EXPECT_EQ(WaitForTurn(turn_).result().text(), "hello");
  EXPECT_EQ(ActionAtTheAgent(), "accept");
  EXPECT_EQ(ResolvedBy(), Resolved::BY_AGENT);
}

TEST_F(LoginByPageTest, NobodyAnswersAndTheSetUpEnds) {
  SetFake("session_setup_timeout", "1s");
  StartWithPage(json::array(), json::array());
  const api::TurnResult result = WaitForTurn(turn_).result();
  EXPECT_EQ(result.outcome(), api::TurnResult::OUTCOME_FAILED);
  EXPECT_EQ(result.error().reason(), "START_TIMEOUT") << result.ShortDebugString();
  EXPECT_THAT(result.error().message(), HasSubstr("authenticate"));
  EXPECT_EQ(ResolvedBy(), Resolved::BY_EXIT);
  EXPECT_TRUE(client().GetSession(respond_.session_id()).response.open_questions().empty());
}

}  // namespace
}  // namespace acpd::e2e
