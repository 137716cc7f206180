// Permissions by rule and by memory, and what agents ask beside permissions.

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using ::testing::HasSubstr;
using Resolved = api::QuestionResolved;

json AllOptions() {
  json options = json::array();
  for (const char* kind : {"allow_once", "allow_always", "reject_once", "reject_always"})
    options.push_back({{"optionId", std::string("id-of-") + kind}, {"kind", kind}});
  return options;
}

class QuestionsTest : public TurnsTest {
 protected:
  // A turn whose agent asks for that tool call, with all kinds of options.
  Called<api::ChatResponse> Ask(const json& call, const std::string& session_id = "") {
    json tool_call = {{"toolCallId", "call-1"}};
    tool_call.update(call);
    return client().Begin(
        kProject, session_id,
        Scripted(
            Steps(Step("ask", {{"id", "q"}, {"toolCall", tool_call}, {"options", AllOptions()}}),
                  Step("say_chosen", "q"))));
  }
  // How the last question of the session was resolved, once its turn has ended.
  Resolved ResolutionOf(const Called<api::ChatResponse>& chat) {
    WaitForTurn(chat.response.turn_id());
    Resolved resolved;
    for (const Event& event : EventsOf(chat.response.session_id())) {
      if (event.has_question_resolved()) resolved = event.question_resolved();
    }
    return resolved;
  }
  Event OpenQuestion(const std::string& session_id) {
    const auto stream = client().SubscribeSession(session_id);
    const auto asked = stream->WaitFor([](const Event& event) {
      return event.has_elicitation_requested() || event.has_permission_requested();
    });
    return asked.value_or(Event());
  }
  // A turn whose agent sends this elicitation and waits for its answer.
  Called<api::ChatResponse> Elicit(json params) {
    const auto made = client().Say(kProject, "", "hello");
    params["sessionId"] = made.response.agent_session_id();
    return client().Begin(
        kProject, made.response.session_id(),
        Scripted(Steps(Step(
            "request",
            {{"id", "e"}, {"method", "elicitation/create"}, {"params", params}, {"wait", true}}))));
  }
  // A page's request, and the agent's word that the person is through with it.
  static json AskForPage(const std::string& agent_session_id, const std::string& id) {
    const json params = {{"sessionId", agent_session_id},
                         {"mode", "url"},
                         {"message", "Sign in"},
                         {"elicitationId", id},
                         {"url", "https://example.test/login?x=1"}};
    return Step("request", {{"id", "ask-" + id},
                            {"method", "elicitation/create"},
                            {"params", params},
                            {"wait", true}});
  }
  static json Complete(const std::string& id) {
    return Step("notify",
                {{"method", "elicitation/complete"}, {"params", {{"elicitationId", id}}}});
  }
  // Accepts the session's next `count` elicitations; their question ids.
  std::vector<std::string> AcceptAll(const Called<api::ChatResponse>& chat, size_t count) {
    const auto stream = client().SubscribeSession(chat.response.session_id());
    std::vector<std::string> ids;
    while (ids.size() < count) {
      const auto asked = stream->WaitFor([&](const Event& event) {
        const std::string& id = event.elicitation_requested().question_id();
        return !id.empty() && (ids.empty() || id > ids.back());
      });
      if (!asked) break;
      ids.push_back(asked->elicitation_requested().question_id());
      EXPECT_TRUE(Accept(chat, ids.back(), "{}").ok());
    }
    return ids;
  }
  std::vector<std::string> CompletionsOf(const std::string& session_id) {
    std::vector<std::string> notices;
    for (const Event& event : EventsOf(session_id)) {
      if (event.notice().code() == "ELICITATION_COMPLETED")
        notices.push_back(event.notice().message());
    }
    return notices;
  }
  json AnswerToElicitation() {
    EXPECT_TRUE(e2e::WaitUntil([&] { return !log().AnswersTo("e").empty(); }));
    const auto answers = log().AnswersTo("e");
    return answers.empty() ? json()
                           : answers.back().value("result", answers.back().value("error", json()));
  }
  static json Form() {
    return {{"mode", "form"},
            {"message", "Which colour?"},
            {"requestedSchema",
             {{"type", "object"},
              {"properties",
               {{"colour", {{"type", "string"}, {"enum", {"red", "green"}}}},
                {"count", {{"type", "integer"}, {"minimum", 1}}}}},
              {"required", {"colour"}}}}};
  }
  Called<api::RespondResponse> Accept(const Called<api::ChatResponse>& chat,
                                      const std::string& question_id, const std::string& content) {
    api::RespondRequest respond;
    respond.set_session_id(chat.response.session_id());
    respond.set_question_id(question_id);
    respond.set_accept_json(content);
    return client().Call(&Client::Stub::Respond, respond);
  }
};

TEST_F(QuestionsTest, RulesDecideByKindTitleAndPath) {
  SetFake("permission_rules",
          json::array({{{"path", "*.env"}, {"decision", "deny"}},
                       {{"tool_kind", "read"}, {"decision", "allow"}},
                       {{"tool_kind", "edit"}, {"path", "src/*"}, {"decision", "allow"}},
                       {{"title", "Run tests*"}, {"decision", "allow"}}}));
  StartDaemon();
  const auto at = [](const std::string& path) { return json::array({{{"path", path}}}); };
  const struct {
    json call;
    std::string option;
  } rows[] = {
      {{{"kind", "read"}, {"title", "Read"}, {"locations", at("a.txt")}}, "id-of-allow_once"},
      {{{"kind", "read"}, {"title", "Read"}, {"locations", at("sub/x.env")}}, "id-of-reject_once"},
      {{{"kind", "edit"}, {"title", "Edit"}, {"locations", at("src/a.cc")}}, "id-of-allow_once"},
      {{{"kind", "execute"}, {"title", "Run tests now"}}, "id-of-allow_once"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.call.dump());
    const auto chat = Ask(row.call);
    const Resolved resolved = ResolutionOf(chat);
    EXPECT_EQ(resolved.option_id(), row.option);
    EXPECT_EQ(resolved.by(), Resolved::BY_POLICY);
  }
}

TEST_F(QuestionsTest, WhatNoRuleMatchesIsAsked) {
  SetFake("permission_rules",
          json::array({{{"tool_kind", "edit"}, {"path", "src/*"}, {"decision", "allow"}}}));
  StartDaemon();
  for (const char* path : {"src/../secret.txt", "/etc/passwd"}) {
    SCOPED_TRACE(path);
    const auto chat = Ask({{"kind", "edit"}, {"title", "Edit"}, {"locations", {{{"path", path}}}}});
    const Event asked = OpenQuestion(chat.response.session_id());
    ASSERT_TRUE(asked.has_permission_requested());
    EXPECT_EQ(asked.permission_requested().paths(0), path);
    EXPECT_EQ(asked.permission_requested().options(1).raw_kind(), "allow_always");
    client().Respond(chat.response.session_id(), asked.permission_requested().question_id(),
                     "id-of-reject_once");
  }
}

TEST_F(QuestionsTest, ADenyingRuleGoesBeforeATurnThatAllows) {
  SetFake("permission_rules", json::array({{{"tool_kind", "delete"}, {"decision", "deny"}}}));
  SetFake("permission_mode", "allow");
  StartDaemon();
  EXPECT_EQ(ResolutionOf(Ask({{"kind", "delete"}, {"title", "Delete"}})).option_id(),
            "id-of-reject_once");
  EXPECT_EQ(ResolutionOf(Ask({{"kind", "read"}, {"title", "Read"}})).option_id(),
            "id-of-allow_once");
}

TEST_F(QuestionsTest, RulesSeeWhatTheToolCallSaidBefore) {
  SetFake("permission_rules", json::array({{{"tool_kind", "execute"}, {"decision", "deny"}},
                                           {{"path", "*.env"}, {"decision", "deny"}},
                                           {{"tool_kind", "edit"}, {"decision", "allow"}}}));
  StartDaemon();
  const auto chosen = [&](const json& said) {
    json update = {{"sessionUpdate", "tool_call"}, {"toolCallId", "call-1"}, {"title", "Do it"}};
    update.update(said);
    const auto chat =
        client().Begin(kProject, "",
                       Scripted(Steps(Step("update", update),
                                      Step("ask", {{"id", "q"},
                                                   {"toolCall", {{"toolCallId", "call-1"}}},
                                                   {"options", AllOptions()}}),
                                      Step("say_chosen", "q"))));
    return ResolutionOf(chat).option_id();
  };
  EXPECT_EQ(chosen({{"kind", "execute"}}), "id-of-reject_once");
  EXPECT_EQ(chosen({{"kind", "edit"}, {"locations", {{{"path", "a.txt"}}}}}), "id-of-allow_once");
  EXPECT_EQ(chosen({{"kind", "edit"},
                    {"content", {{{"type", "diff"}, {"path", "x.env"}, {"newText", ""}}}}}),
            "id-of-reject_once");
}

TEST_F(QuestionsTest, WhatADenyingRuleCannotTellIsAsked) {
  SetFake("permission_rules", json::array({{{"tool_kind", "execute"}, {"decision", "deny"}}}));
  SetFake("permission_mode", "allow");
  StartDaemon();
  const auto chat = Ask({{"title", "Something"}});
  EXPECT_TRUE(WaitForState(chat.response.session_id(), api::Session::STATE_WAITING));
  client().CancelSession(chat.response.session_id());
}

TEST_F(QuestionsTest, AnAlwaysIsRememberedForTheSessionAlsoAfterARestart) {
  StartDaemon();
  const json call = {{"kind", "execute"}, {"title", "make"}, {"rawInput", {{"command", "make"}}}};
  const auto first = Ask(call);
  const std::string id = first.response.session_id();
  const Event asked = OpenQuestion(id);
  ASSERT_TRUE(
      client().Respond(id, asked.permission_requested().question_id(), "id-of-allow_always").ok());
  WaitForTurn(first.response.turn_id());
  KillAndRestartDaemon();
  const Resolved again = ResolutionOf(Ask(call, id));
  EXPECT_EQ(again.by(), Resolved::BY_POLICY);
  EXPECT_EQ(again.option_id(), "id-of-allow_once");
  // Another command by the same title is another thing, and so is another session.
  json other = call;
  other["rawInput"]["command"] = "make clean";
  const auto different = Ask(other, id);
  EXPECT_TRUE(client().GetTurn(different.response.turn_id()).ok());
  EXPECT_TRUE(WaitForState(id, api::Session::STATE_WAITING));
  client().CancelSession(id);
  const auto elsewhere = Ask(call);
  EXPECT_TRUE(WaitForState(elsewhere.response.session_id(), api::Session::STATE_WAITING));
  client().CancelSession(elsewhere.response.session_id());
}

TEST_F(QuestionsTest, AFormIsFilledInByACaller) {
  StartDaemon();
  const auto chat = Elicit(Form());
  const Event asked = OpenQuestion(chat.response.session_id());
  ASSERT_TRUE(asked.has_elicitation_requested());
  EXPECT_EQ(asked.elicitation_requested().message(), "Which colour?");
  EXPECT_EQ(json::parse(asked.elicitation_requested().requested_schema_json()),
            Form()["requestedSchema"]);
  EXPECT_EQ(client().GetSession(chat.response.session_id()).response.open_questions_size(), 1);
  const std::string question = asked.elicitation_requested().question_id();
  for (const char* bad : {"{}", R"({"colour": "blue"})", R"({"colour": "red", "count": 0})",
                          R"({"colour": "red", "size": 1})"}) {
    SCOPED_TRACE(bad);
    EXPECT_EQ(Accept(chat, question, bad).reason(), "INVALID_ANSWER");
  }
  EXPECT_EQ(client().Respond(chat.response.session_id(), question, "red").reason(),
            "INVALID_ANSWER");
  const std::string good = R"({"colour": "red", "count": 2})";
  const auto accepted = Accept(chat, question, good);
  ASSERT_TRUE(accepted.ok()) << accepted.ToString();
  EXPECT_EQ(accepted.response.resolved().outcome(), Resolved::OUTCOME_ACCEPTED);
  EXPECT_EQ(AnswerToElicitation(),
            (json{{"action", "accept"}, {"content", {{"colour", "red"}, {"count", 2}}}}));
  EXPECT_TRUE(Accept(chat, question, good).ok());
  EXPECT_EQ(Accept(chat, question, R"({"colour": "green"})").reason(), "ALREADY_ANSWERED");
  WaitForTurn(chat.response.turn_id());
}

TEST_F(QuestionsTest, AFormIsDeclinedOrCancelled) {
  SetFake("question_timeout", "8s");
  StartDaemon();
  const auto declined = Elicit(Form());
  api::RespondRequest respond;
  respond.set_session_id(declined.response.session_id());
  respond.set_question_id(
      OpenQuestion(declined.response.session_id()).elicitation_requested().question_id());
  respond.set_decline(true);
  ASSERT_TRUE(client().Call(&Client::Stub::Respond, respond).ok());
  EXPECT_EQ(AnswerToElicitation(), (json{{"action", "decline"}}));
  WaitForTurn(declined.response.turn_id());
  const auto late = Elicit(Form());
  EXPECT_EQ(ResolutionOf(late).by(), Resolved::BY_TIMEOUT);
  EXPECT_EQ(AnswerToElicitation(), (json{{"action", "cancel"}}));
}

TEST_F(QuestionsTest, APageIsOpenedAndCompleted) {
  StartDaemon();
  const auto chat = Elicit({{"mode", "url"},
                            {"message", "Sign in"},
                            {"elicitationId", "el-1"},
                            {"url", "https://example.test/login?x=1"}});
  const Event asked = OpenQuestion(chat.response.session_id());
  EXPECT_EQ(asked.elicitation_requested().url(), "https://example.test/login?x=1");
  const std::string question = asked.elicitation_requested().question_id();
  EXPECT_EQ(Accept(chat, question, R"({"a": 1})").reason(), "INVALID_ANSWER");
  ASSERT_TRUE(Accept(chat, question, "{}").ok());
  EXPECT_EQ(AnswerToElicitation(), (json{{"action", "accept"}}));
  WaitForTurn(chat.response.turn_id());
  ASSERT_TRUE(client()
                  .Say(kProject, chat.response.session_id(),
                       Scripted(Steps(Complete("el-0"), Complete("el-1"), Complete("el-1"))))
                  .ok());
  EXPECT_EQ(CompletionsOf(chat.response.session_id()).size(), 1u);
}

TEST_F(QuestionsTest, APageThatWasOpenedBeforeARestartIsCompletedAfterIt) {
  options().extra["shutdown"] = {{"workers", "keep"}};
  StartDaemon();
  const auto made = client().Say(kProject, "", "hello");
  const std::string& agents_id = made.response.agent_session_id();
  const auto chat =
      client().Begin(kProject, made.response.session_id(),
                     Scripted(Steps(AskForPage(agents_id, "el-1"), AskForPage(agents_id, "el-2"),
                                    Barrier("hold"), Complete("el-2"))));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const std::vector<std::string> questions = AcceptAll(chat, 2);
  ASSERT_EQ(questions.size(), 2u);
  ASSERT_TRUE(barriers().WaitReached("hold"));
  KillAndRestartDaemon();
  barriers().Release("hold");
  WaitForTurn(chat.response.turn_id());
  const std::string id = chat.response.session_id();
  ASSERT_EQ(CompletionsOf(id).size(), 1u);
  EXPECT_THAT(CompletionsOf(id)[0], HasSubstr(questions[1]));
  // Each is told once, also after a further restart.
  KillAndRestartDaemon();
  ASSERT_TRUE(client().Say(kProject, id, Scripted(Steps(Complete("el-2"), Complete("el-1")))).ok());
  ASSERT_EQ(CompletionsOf(id).size(), 2u);
  EXPECT_THAT(CompletionsOf(id)[1], HasSubstr(questions[0]));
}

TEST_F(QuestionsTest, OfPagesThatAreNotCompletedTheNewest64AreKnown) {
  constexpr size_t kPages = 65;
  options().extra["shutdown"] = {{"workers", "keep"}};
  StartDaemon();
  const auto made = client().Say(kProject, "", "hello");
  const auto page = [](size_t i) { return "el-" + std::to_string(i); };
  json steps = json::array();
  for (size_t i = 0; i < kPages; ++i)
    steps.push_back(AskForPage(made.response.agent_session_id(), page(i)));
  steps.push_back(Barrier("hold"));
  for (size_t i = 0; i < kPages; ++i) steps.push_back(Complete(page(i)));
  const auto chat = client().Begin(kProject, made.response.session_id(), Scripted(steps));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const std::vector<std::string> questions = AcceptAll(chat, kPages);
  ASSERT_EQ(questions.size(), kPages);
  ASSERT_TRUE(barriers().WaitReached("hold"));
  KillAndRestartDaemon();
  barriers().Release("hold");
  WaitForTurn(chat.response.turn_id());
  const std::vector<std::string> told = CompletionsOf(chat.response.session_id());
  ASSERT_EQ(told.size(), kPages - 1);
  for (size_t i = 1; i < kPages; ++i) EXPECT_THAT(told[i - 1], HasSubstr(questions[i]));
}

TEST_F(QuestionsTest, AnOpenElicitationOutlivesAcpdAndIsResentToNewReaders) {
  StartDaemon();
  const auto chat = Elicit(Form());
  const std::string question =
      OpenQuestion(chat.response.session_id()).elicitation_requested().question_id();
  options().extra["shutdown"] = {{"workers", "keep"}};
  KillAndRestartDaemon();
  api::SubscribeProgressRequest request;
  request.set_session_id(chat.response.session_id());
  const auto stream = client().Subscribe(request);
  const auto resent = stream->WaitFor(
      [](const Event& event) { return event.has_elicitation_requested() && event.resent(); });
  ASSERT_TRUE(resent);
  EXPECT_EQ(resent->elicitation_requested().question_id(), question);
  ASSERT_TRUE(Accept(chat, question, R"({"colour": "green"})").ok());
  EXPECT_EQ(AnswerToElicitation().value("action", ""), "accept");
  EXPECT_EQ(WaitForTurn(chat.response.turn_id()).result().outcome(),
            api::TurnResult::OUTCOME_COMPLETED);
}

TEST_F(QuestionsTest, TheAgentsMistakesAreSaidToIt) {
  StartDaemon();
  const auto wrong = Elicit({{"mode", "form"}, {"message", "No schema"}});
  EXPECT_EQ(AnswerToElicitation().value("code", 0), -32602);
  WaitForTurn(wrong.response.turn_id());
}

TEST_F(QuestionsTest, TheIdOfAPageHasAtMost1KiB) {
  StartDaemon();
  const auto page = [](size_t size) {
    return json{{"mode", "url"},
                {"message", "Sign in"},
                {"elicitationId", std::string(size, 'e')},
                {"url", "https://example.test/"}};
  };
  const auto refused = Elicit(page(1025));
  EXPECT_EQ(AnswerToElicitation().value("code", 0), -32602);
  WaitForTurn(refused.response.turn_id());
  const auto asked = Elicit(page(1024));
  EXPECT_EQ(AcceptAll(asked, 1).size(), 1u);
  WaitForTurn(asked.response.turn_id());
}

TEST_F(QuestionsTest, WithoutTheCapabilityThereIsNoSuchMethod) {
  SetFake("capabilities", json{{"elicitation", false}});
  StartDaemon();
  const auto chat = Elicit(Form());
  EXPECT_EQ(AnswerToElicitation().value("code", 0), -32601);
  WaitForTurn(chat.response.turn_id());
  EXPECT_FALSE(log()
                   .Received("initialize")
                   .back()
                   .at("params")
                   .at("clientCapabilities")
                   .contains("elicitation"));
}

TEST_F(QuestionsTest, TheAgentTakesAnElicitationBack) {
  StartDaemon();
  json params = Form();
  const auto made = client().Say(kProject, "", "hello");
  params["sessionId"] = made.response.agent_session_id();
  const auto chat = client().Begin(
      kProject, made.response.session_id(),
      Scripted(Steps(
          Step("request", {{"id", "e"}, {"method", "elicitation/create"}, {"params", params}}),
          Step("notify", {{"method", "$/cancel_request"}, {"params", {{"requestId", "e"}}}}))));
  EXPECT_EQ(ResolutionOf(chat).by(), Resolved::BY_AGENT);
}

}  // namespace
}  // namespace acpd::e2e
