// How many questions of a session may be open at once.

#include <algorithm>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using ::testing::HasSubstr;

// As session/session_questions.cc has it.
constexpr int kMostOpen = 256;

class QuestionsBoundTest : public TurnsTest {
 protected:
  static json Elicitation(const std::string& id) {
    return Step("request", {{"id", id},
                            {"method", "elicitation/create"},
                            {"params",
                             {{"sessionId", "${sessionId}"},
                              {"mode", "form"},
                              {"message", id},
                              {"requestedSchema", {{"type", "object"}}}}}});
  }
  static json Permission(const std::string& id) {
    return Step("ask", {{"id", id}, {"options", {{{"optionId", "yes"}, {"kind", "allow_once"}}}}});
  }
  static json Refused(const std::string& id) {
    return Step("expect_answer",
                {{"id", id}, {"code", -32600}, {"message", "256 questions are open"}});
  }
  // As many as may be, half of them permissions; e-0, p-1, e-2, ...
  static json All() {
    json steps = json::array();
    for (int i = 0; i < kMostOpen; ++i) {
      const std::string number = std::to_string(i);
      steps.push_back(i % 2 == 0 ? Elicitation("e-" + number) : Permission("p-" + number));
    }
    return steps;
  }
  size_t Count(const std::string& session_id, const EventTest& fits) {
    const std::vector<Event> events = EventsOf(session_id);
    return static_cast<size_t>(std::count_if(events.begin(), events.end(), fits));
  }
  size_t CountAsked(const std::string& session_id) {
    return Count(session_id, Is(Event::kElicitationRequested)) +
           Count(session_id, Is(Event::kPermissionRequested));
  }
};

TEST_F(QuestionsBoundTest, TheOneOverItIsRefusedAndAnAnswerMakesRoom) {
  StartDaemon();
  json steps = All();
  for (const json& step :
       Steps(Elicitation("over"), Refused("over"), Permission("over-2"), Refused("over-2"),
             Barrier("full"), Elicitation("after"), Barrier("hold"))) {
    steps.push_back(step);
  }
  const auto chat = client().Begin(kProject, "", Scripted(steps));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const std::string id = chat.response.session_id();
  ASSERT_TRUE(barriers().WaitReached("full"));
  EXPECT_TRUE(log().Events("mismatch").empty());
  EXPECT_EQ(CountAsked(id), static_cast<size_t>(kMostOpen));
  EXPECT_EQ(client().GetSession(id).response.open_questions_size(), kMostOpen);
  const std::vector<Event> events = EventsOf(id);
  const auto first = std::find_if(events.begin(), events.end(), Is(Event::kElicitationRequested));
  ASSERT_NE(first, events.end());
  ASSERT_EQ(first->elicitation_requested().message(), "e-0");
  api::RespondRequest respond;
  respond.set_session_id(id);
  respond.set_question_id(first->elicitation_requested().question_id());
  respond.set_decline(true);
  const auto answered = client().Call(&Client::Stub::Respond, respond);
  ASSERT_TRUE(answered.ok()) << answered.ToString();
  barriers().Release("full");
  ASSERT_TRUE(barriers().WaitReached("hold"));
  EXPECT_TRUE(e2e::WaitUntil([&] { return CountAsked(id) == kMostOpen + 1u; }));
  EXPECT_TRUE(log().AnswersTo("after").empty()) << "it is open";

  const auto cancelled = client().CancelSession(id);
  ASSERT_TRUE(cancelled.ok()) << cancelled.ToString();
  EXPECT_EQ(cancelled.response.outcome(), api::CancelResponse::OUTCOME_CANCELLED);
  EXPECT_EQ(Count(id,
                  [](const Event& event) {
                    return event.question_resolved().by() == api::QuestionResolved::BY_CANCEL;
                  }),
            static_cast<size_t>(kMostOpen));
  EXPECT_EQ(client().GetSession(id).response.open_questions_size(), 0);
  const auto next = client().Say(kProject, id, "hello");
  ASSERT_TRUE(next.ok()) << next.ToString();
  EXPECT_EQ(next.response.origin().kind(), api::SessionOrigin::KIND_LIVE);
  EXPECT_EQ(log().AnswersTo("after").size(), 1u);
  EXPECT_EQ(log().AnswersTo("e-254").at(0)["result"], (json{{"action", "cancel"}}));
  EXPECT_EQ(log().AnswersTo("p-255").at(0)["result"]["outcome"]["outcome"], "cancelled");
}

TEST_F(QuestionsBoundTest, WhatPolicyDecidesIsNoneThatIsOpen) {
  SetFake("permission_mode", "allow");
  StartDaemon();
  json steps = json::array();
  for (int i = 0; i <= kMostOpen; ++i) steps.push_back(Permission("p-" + std::to_string(i)));
  steps.push_back(Step("expect_answer", {{"id", "p-256"}, {"optionId", "yes"}}));
  const auto chat = client().Say(kProject, "", Scripted(steps));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.result().outcome(), api::TurnResult::OUTCOME_COMPLETED)
      << chat.response.result().error().agent_data();
  EXPECT_EQ(CountAsked(chat.response.session_id()), kMostOpen + 1u);
}

TEST_F(QuestionsBoundTest, AnotherSessionHasItsOwn) {
  StartDaemon();
  json steps = All();
  steps.push_back(Barrier("full"));
  const auto full = client().Begin(kProject, "", Scripted(steps));
  ASSERT_TRUE(full.ok()) << full.ToString();
  ASSERT_TRUE(barriers().WaitReached("full"));
  const auto other =
      client().Begin(kProject, "", Scripted(Steps(Elicitation("other"), Barrier("o"))));
  ASSERT_TRUE(other.ok()) << other.ToString();
  EXPECT_TRUE(WaitForState(other.response.session_id(), api::Session::STATE_WAITING));
  EXPECT_TRUE(log().AnswersTo("other").empty());
}

}  // namespace
}  // namespace acpd::e2e
