// Permissions: by policy, by a caller, by the time-out.

#include <algorithm>
#include <ostream>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using Code = grpc::StatusCode;
using Resolved = api::QuestionResolved;

json Options(const std::vector<std::string>& kinds) {
  json options = json::array();
  for (const std::string& kind : kinds) {
    options.push_back({{"optionId", "id-of-" + kind}, {"kind", kind}});
  }
  return options;
}

struct Row {
  const char* name;
  api::PermissionMode mode;
  std::vector<std::string> kinds;
  std::string chosen;  // the option's id; empty: cancelled
  Resolved::By by;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

class PermissionTest : public TurnsTest, public ::testing::WithParamInterface<Row> {
 protected:
  void SetUp() override {
    SetFake("question_timeout", "500ms");
    StartDaemon();
  }
};

INSTANTIATE_TEST_SUITE_P(Ways, PermissionTest,
                         ::testing::Values(Row{"TimeoutTakesTheOfferedReject",
                                               api::PERMISSION_MODE_ASK,
                                               {"allow_once", "reject_once"},
                                               "id-of-reject_once",
                                               Resolved::BY_TIMEOUT},
                                           Row{"TimeoutWithoutARejectCancels",
                                               api::PERMISSION_MODE_ASK,
                                               {"allow_once"},
                                               "",
                                               Resolved::BY_TIMEOUT},
                                           Row{"AllowTakesOnceFirst",
                                               api::PERMISSION_MODE_ALLOW,
                                               {"allow_always", "allow_once", "reject_once"},
                                               "id-of-allow_once",
                                               Resolved::BY_POLICY},
                                           Row{"AllowTakesAlways",
                                               api::PERMISSION_MODE_ALLOW,
                                               {"reject_once", "allow_always"},
                                               "id-of-allow_always",
                                               Resolved::BY_POLICY},
                                           Row{"AllowWithoutAnAllowAsks",
                                               api::PERMISSION_MODE_ALLOW,
                                               {"reject_once"},
                                               "id-of-reject_once",
                                               Resolved::BY_TIMEOUT},
                                           Row{"DenyTakesOnceFirst",
                                               api::PERMISSION_MODE_DENY,
                                               {"reject_always", "reject_once", "allow_once"},
                                               "id-of-reject_once",
                                               Resolved::BY_POLICY},
                                           Row{"DenyWithoutARejectCancels",
                                               api::PERMISSION_MODE_DENY,
                                               {"allow_once"},
                                               "",
                                               Resolved::BY_POLICY}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(PermissionTest, IsAnsweredSo) {
  const Row& row = GetParam();
  api::ChatRequest request =
      ChatOf(kProject, "",
             Scripted(Steps(
                 Step("ask", json{{"id", "q"}, {"options", Options(row.kinds)}, {"wait", true}}),
                 Say("went on"))),
             api::WAIT_FOR_FINISHED);
  request.set_permission_mode(row.mode);
  const auto chat = client().Chat(request);
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  EXPECT_EQ(chat.response.result().text(), "went on");
  const std::vector<json> answers = log().AnswersTo("q");
  ASSERT_EQ(answers.size(), 1u);
  const json outcome = answers[0]["result"]["outcome"];
  EXPECT_EQ(outcome["outcome"], row.chosen.empty() ? "cancelled" : "selected");
  EXPECT_EQ(outcome.value("optionId", ""), row.chosen);
  const std::vector<Event> events = EventsOf(chat.response.session_id());
  EXPECT_EQ(std::count_if(events.begin(), events.end(), Is(Event::kPermissionRequested)), 1);
  const auto found = std::find_if(events.begin(), events.end(), Is(Event::kQuestionResolved));
  ASSERT_NE(found, events.end());
  const Resolved& resolved = found->question_resolved();
  EXPECT_EQ(resolved.by(), row.by);
  EXPECT_EQ(resolved.option_id(), row.chosen);
  EXPECT_EQ(resolved.outcome(),
            row.chosen.empty() ? Resolved::OUTCOME_CANCELLED : Resolved::OUTCOME_SELECTED);
}

class QuestionTest : public TurnsTest {
 protected:
  // A turn that has asked; sets `session_id` and `question_id`.
  api::ChatResponse Ask(const std::vector<std::string>& kinds) {
    const auto chat = client().Begin(
        kProject, "",
        Scripted(
            Steps(Step("ask", json{{"id", "q"}, {"options", Options(kinds)}, {"wait", true}}))));
    EXPECT_TRUE(chat.ok()) << chat.ToString();
    session_id_ = chat.response.session_id();
    EXPECT_TRUE(WaitForState(session_id_, api::Session::STATE_WAITING));
    const auto session = client().GetSession(session_id_);
    EXPECT_EQ(session.response.open_questions_size(), 1);
    question_id_ = session.response.open_questions(0).permission_requested().question_id();
    return chat.response;
  }
  std::string session_id_, question_id_;
};

TEST_F(QuestionTest, AnswersAreFenced) {
  StartDaemon();
  const api::ChatResponse chat = Ask({"allow_once", "reject_once"});
  EXPECT_EQ(client().GetTurn(chat.turn_id()).response.state(), api::TURN_STATE_WAITING);
  EXPECT_EQ(client().Respond(session_id_, question_id_, "never-offered").reason(),
            "INVALID_ANSWER");
  EXPECT_EQ(client().Respond(session_id_, "no-such-question", "id-of-allow_once").reason(),
            "QUESTION_NOT_FOUND");
  const auto first = client().Respond(session_id_, question_id_, "id-of-allow_once");
  ASSERT_TRUE(first.ok()) << first.ToString();
  EXPECT_EQ(first.response.resolved().by(), Resolved::BY_CALLER);
  const auto same = client().Respond(session_id_, question_id_, "id-of-allow_once");
  EXPECT_TRUE(same.ok()) << same.ToString();
  EXPECT_EQ(same.response.resolved().option_id(), "id-of-allow_once");
  const auto other = client().Respond(session_id_, question_id_, "id-of-reject_once");
  EXPECT_EQ(other.code(), Code::FAILED_PRECONDITION);
  EXPECT_EQ(other.reason(), "ALREADY_ANSWERED");
  WaitForTurn(chat.turn_id());
  EXPECT_EQ(log().AnswersTo("q").size(), 1u);
}

TEST_F(QuestionTest, AnAnswerByKindTakesTheOfferedOption) {
  StartDaemon();
  const api::ChatResponse chat = Ask({"allow_always", "reject_once"});
  api::RespondRequest request;
  request.set_session_id(session_id_);
  request.set_question_id(question_id_);
  request.set_option_kind(api::PERMISSION_OPTION_KIND_REJECT_ONCE);
  request.set_comment("not today");
  const auto answered = client().Call(&Client::Stub::Respond, request);
  ASSERT_TRUE(answered.ok()) << answered.ToString();
  EXPECT_EQ(answered.response.resolved().option_id(), "id-of-reject_once");
  EXPECT_EQ(answered.response.resolved().comment(), "not today");
  WaitForTurn(chat.turn_id());
  EXPECT_EQ(log().AnswersTo("q").at(0)["result"]["outcome"]["optionId"], "id-of-reject_once");
}

TEST_F(QuestionTest, AWaitingTurnIsNotTakenForAnIdleOne) {
  SetFake("idle_timeout", "200ms");
  SetFake("question_timeout", "1500ms");
  StartDaemon();
  const api::ChatResponse chat = Ask({"allow_once", "reject_once"});
  EXPECT_EQ(WaitForTurn(chat.turn_id()).result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
}

TEST_F(QuestionTest, AQuestionThatTheTurnOutlivedIsResolvedByItsEnd) {
  StartDaemon();
  const auto chat = client().Say(
      kProject, "",
      Scripted(Steps(Step("ask", json{{"id", "q"}, {"options", Options({"allow_once"})}}))));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const std::vector<Event> events = EventsOf(chat.response.session_id());
  const auto resolved = std::find_if(events.begin(), events.end(), Is(Event::kQuestionResolved));
  ASSERT_NE(resolved, events.end());
  EXPECT_EQ(resolved->question_resolved().by(), Resolved::BY_TURN_END);
  EXPECT_LT(resolved->seq(), events.back().seq());
}

TEST_F(QuestionTest, AnAgentCanTakeItsQuestionBack) {
  StartDaemon();
  const auto chat = client().Say(
      kProject, "",
      Scripted(Steps(
          Step("ask", json{{"id", "q"}, {"options", Options({"allow_once"})}}),
          Step("notify", json{{"method", "$/cancel_request"}, {"params", {{"requestId", "q"}}}}),
          Step("expect_answer", json{{"id", "q"}}))));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const std::vector<Event> events = EventsOf(chat.response.session_id());
  const auto resolved = std::find_if(events.begin(), events.end(), Is(Event::kQuestionResolved));
  ASSERT_NE(resolved, events.end());
  EXPECT_EQ(resolved->question_resolved().by(), Resolved::BY_AGENT);
}

}  // namespace
}  // namespace acpd::e2e
