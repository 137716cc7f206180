// Ids of the agent's requests are echoed with type and value, and are a space of their own.

#include "tests/e2e/agents_support.h"

namespace acpd::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kPromptId = 3;  // behind initialize and session/new

// What the tests tell the questions apart by is the tool call's id, what the answers by is the
// option's.
std::string Name(size_t i) { return "call-" + std::to_string(i); }
std::string Option(size_t i) { return "yes-" + std::to_string(i); }

json Ask(const json& id, size_t i) {
  const json options = json::array({{{"optionId", Option(i)}, {"kind", "allow_once"}},
                                    {{"optionId", "no"}, {"kind", "reject_once"}}});
  return Do("ask", {{"id", id},
                    {"options", options},
                    {"toolCall", {{"toolCallId", Name(i)}, {"title", Name(i)}}}});
}

// An agent that asks all of `ids` at the same time and then wants each answered with its own
// option.
std::string PromptThatAsks(const std::vector<json>& ids) {
  json steps = json::array();
  for (size_t i = 0; i < ids.size(); ++i) steps.push_back(Ask(ids[i], i));
  for (size_t i = 0; i < ids.size(); ++i) {
    steps.push_back(
        Do("expect_answer", {{"id", ids[i]}, {"outcome", "selected"}, {"optionId", Option(i)}}));
  }
  return Scripted(steps);
}

EventTest Asks(size_t i) {
  return [i](const Event& event) { return event.permission_requested().tool_call_id() == Name(i); };
}

TEST_F(E2eTest, IdsOfAllKindsAliveTogetherAreEchoedAsTheyCame) {
  const std::vector<json> ids = {"1",
                                 1,
                                 "550e8400-e29b-41d4-a716-446655440000",
                                 9007199254740993,
                                 kPromptId,
                                 std::to_string(kPromptId),
                                 -7,
                                 18446744073709551615u,
                                 "",
                                 "a \"quoted\" \u20AC"};
  StartDaemon();
  const auto chat = client().Begin("shop", "", PromptThatAsks(ids));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const std::string& session_id = chat.response.session_id();
  const auto stream = client().SubscribeSession(session_id);
  ASSERT_TRUE(stream->WaitForCount(ids.size(), Is(Event::kPermissionRequested)));
  const auto prompts = log().Received("session/prompt");
  ASSERT_THAT(prompts, SizeIs(1));
  ASSERT_EQ(prompts[0].at("id"), kPromptId) << "the test wants an id that both sides use";

  for (const size_t i : {3, 0, 9, 2, 4, 1, 8, 5, 7, 6}) {
    const auto question = stream->WaitFor(Asks(i));
    ASSERT_TRUE(question) << Name(i);
    const auto answered =
        client().Respond(session_id, question->permission_requested().question_id(), Option(i));
    ASSERT_TRUE(answered.ok()) << answered.ToString();
  }
  const auto turn = client().GetTurn(chat.response.turn_id(), api::WAIT_FOR_FINISHED);
  ASSERT_TRUE(turn.ok()) << turn.ToString();
  EXPECT_EQ(turn.response.result().outcome(), api::TurnResult::OUTCOME_COMPLETED)
      << turn.ToString();
  EXPECT_THAT(log().Events("mismatch"), IsEmpty());
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::vector<json> answers = log().AnswersTo(ids[i]);
    ASSERT_THAT(answers, SizeIs(1)) << ids[i];
    EXPECT_EQ(answers[0].at("id").dump(), ids[i].dump());
    EXPECT_EQ(answers[0].at("result").at("outcome").at("optionId"), Option(i)) << ids[i];
  }
  // A double would have made ...992 of it, and a reader that compares doubles would not see that.
  EXPECT_THAT(ReadFile(log().path()), HasSubstr(R"(\"id\":9007199254740993)"));
}

TEST_F(E2eTest, AnIdThatIsNullIsEchoedToo) {
  StartDaemon();
  const auto chat = client().Begin("shop", "", PromptThatAsks({json()}));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const auto stream = client().SubscribeSession(chat.response.session_id());
  const auto question = stream->WaitFor(Asks(0));
  ASSERT_TRUE(question);
  const auto answered = client().Respond(chat.response.session_id(),
                                         question->permission_requested().question_id(), Option(0));
  ASSERT_TRUE(answered.ok()) << answered.ToString();
  const auto turn = client().GetTurn(chat.response.turn_id(), api::WAIT_FOR_FINISHED);
  EXPECT_EQ(turn.response.result().outcome(), api::TurnResult::OUTCOME_COMPLETED)
      << turn.ToString();
  EXPECT_THAT(log().AnswersTo(json()), SizeIs(1));
}

TEST_F(E2eTest, RequestsThatNobodyKnowsAreAnsweredMethodNotFoundUnderTheirId) {
  const std::vector<json> ids = {"fs", 7};
  json steps = json::array();
  for (const json& id : ids) {
    steps.push_back(Do("request", {{"id", id}, {"method", "no/such_method"}}));
    steps.push_back(Do("expect_answer", {{"id", id}, {"code", -32601}}));
  }
  StartDaemon();
  const auto chat = client().Say("shop", "", Scripted(steps));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  for (const json& id : ids) EXPECT_THAT(log().AnswersTo(id), SizeIs(1)) << id;
}

}  // namespace
}  // namespace acpd::e2e
