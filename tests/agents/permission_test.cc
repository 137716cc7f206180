// A tool of the agent that needs a permission: allowed, denied, and left without an answer.

#include <algorithm>

#include "tests/agents/agent_test.h"

namespace acpd::e2e {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

using Resolved = api::QuestionResolved;

class PermissionTest : public AgentTest {
 protected:
  // Begins a turn in a new session, whose tool writes a file, and returns when the agent asks for
  // it. Zero: acpd's own question_timeout.
  void BeginTool(seconds question_timeout = seconds(0));
  void Answer(api::PermissionOptionKind kind);
  // With none of the options.
  void AnswerCancelled();
  // The turn's end. Its one question was answered once, by `by`, with an option of `kind` / with
  // none of them.
  api::TurnResult EndOfTool(Resolved::By by, api::PermissionOptionKind kind);
  api::TurnResult EndOfToolCancelled(Resolved::By by);
  // What the tool wrote.
  std::string Written() {
    return ReadFile(daemon().ProjectFolder(kProject) + "/acp-tool-proof.txt");
  }
  void ExpectRefused(const api::TurnResult& result, api::TurnResult::Outcome outcome);
  void CancelTheTurn();

 private:
  void Respond(api::RespondRequest request);
  // The one QuestionResolved of the whole log, when the turn has ended.
  Resolved Resolution(api::TurnResult* result);

  std::string session_id_;
  std::string turn_id_;
  api::PermissionRequested question_;
};

void PermissionTest::BeginTool(seconds question_timeout) {
  api::ChatRequest request = ChatOf(kProject, "", agent().tool_prompt, api::WAIT_FOR_STARTED);
  request.set_permission_mode(api::PERMISSION_MODE_ASK);
  if (question_timeout.count() > 0) {
    request.mutable_question_timeout()->set_seconds(question_timeout.count());
  }
  const auto chat = client().Chat(request, kAgentPatience);
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  session_id_ = chat.response.session_id();
  turn_id_ = chat.response.turn_id();
  const auto stream = client().SubscribeSession(session_id_);
  const auto asked = stream->WaitFor(Is(Event::kPermissionRequested), kAgentPatience);
  ASSERT_TRUE(asked) << "the agent does not ask";
  EXPECT_EQ(asked->turn_id(), turn_id_);
  question_ = asked->permission_requested();
  EXPECT_THAT(question_.tool_call_json(), HasSubstr(agent().tool_subject));
}

void PermissionTest::Respond(api::RespondRequest request) {
  EXPECT_EQ(client().GetTurn(turn_id_).response.state(), api::TURN_STATE_WAITING);
  EXPECT_EQ(client().GetSession(session_id_).response.open_questions_size(), 1);
  request.set_session_id(session_id_);
  request.set_question_id(question_.question_id());
  const auto answered = client().Call(&Client::Stub::Respond, request);
  EXPECT_TRUE(answered.ok()) << answered.ToString();
}

void PermissionTest::Answer(api::PermissionOptionKind kind) {
  api::RespondRequest request;
  request.set_option_kind(kind);
  Respond(request);
}

void PermissionTest::AnswerCancelled() {
  api::RespondRequest request;
  request.set_cancelled(true);
  Respond(request);
}

void PermissionTest::CancelTheTurn() {
  api::CancelRequest request;
  request.set_turn_id(turn_id_);
  const auto cancelled = client().Cancel(request, kAgentPatience);
  EXPECT_EQ(cancelled.response.outcome(), api::CancelResponse::OUTCOME_CANCELLED)
      << cancelled.ToString();
}

Resolved PermissionTest::Resolution(api::TurnResult* result) {
  *result = WaitForEnd(turn_id_);
  EXPECT_EQ(EndsOf(turn_id_), 1);
  std::vector<Event> resolved = AllEvents();
  std::erase_if(resolved, [](const Event& event) { return !event.has_question_resolved(); });
  EXPECT_EQ(resolved.size(), 1u);
  if (resolved.empty()) return {};
  EXPECT_EQ(client().GetSession(session_id_).response.open_questions_size(), 0);
  const Resolved& answer = resolved.front().question_resolved();
  EXPECT_EQ(answer.question_id(), question_.question_id());
  return answer;
}

api::TurnResult PermissionTest::EndOfTool(Resolved::By by, api::PermissionOptionKind kind) {
  api::TurnResult result;
  const Resolved answer = Resolution(&result);
  EXPECT_EQ(answer.outcome(), Resolved::OUTCOME_SELECTED);
  EXPECT_EQ(Resolved::By_Name(answer.by()), Resolved::By_Name(by));
  const auto option = std::find_if(
      question_.options().begin(), question_.options().end(),
      [&answer](const auto& offered) { return offered.option_id() == answer.option_id(); });
  EXPECT_TRUE(option != question_.options().end() && option->kind() == kind)
      << answer.ShortDebugString() << " of " << question_.ShortDebugString();
  return result;
}

api::TurnResult PermissionTest::EndOfToolCancelled(Resolved::By by) {
  api::TurnResult result;
  const Resolved answer = Resolution(&result);
  EXPECT_EQ(answer.outcome(), Resolved::OUTCOME_CANCELLED);
  EXPECT_EQ(Resolved::By_Name(answer.by()), Resolved::By_Name(by));
  return result;
}

void PermissionTest::ExpectRefused(const api::TurnResult& result,
                                   api::TurnResult::Outcome outcome) {
  EXPECT_EQ(result.outcome(), outcome) << result.ShortDebugString();
  EXPECT_EQ(Written(), "");
  ExpectAnswer(Say(session_id_, "ECHO still here"), api::SessionOrigin::KIND_LIVE, "still here");
  EXPECT_EQ(Written(), "");
}

INSTANTIATE_TEST_SUITE_P(Agents, PermissionTest, ::testing::ValuesIn(AgentNames()), AgentTestName);

TEST_P(PermissionTest, AllowedByTheCaller) {
  ASSERT_NO_FATAL_FAILURE(BeginTool());
  Answer(api::PERMISSION_OPTION_KIND_ALLOW_ONCE);
  const api::TurnResult result =
      EndOfTool(Resolved::BY_CALLER, api::PERMISSION_OPTION_KIND_ALLOW_ONCE);
  EXPECT_EQ(result.outcome(), api::TurnResult::OUTCOME_COMPLETED) << result.ShortDebugString();
  EXPECT_THAT(result.text(), HasSubstr(agent().tool_answer));
  if (agent().only_answer.empty()) {
    EXPECT_EQ(Written(), "hi\n");
  }
}

TEST_P(PermissionTest, DeniedByTheCaller) {
  ASSERT_NO_FATAL_FAILURE(BeginTool());
  Answer(api::PERMISSION_OPTION_KIND_REJECT_ONCE);
  ExpectRefused(EndOfTool(Resolved::BY_CALLER, api::PERMISSION_OPTION_KIND_REJECT_ONCE),
                agent().outcome_of_refusal);
}

TEST_P(PermissionTest, RefusedWhenNobodyAnswers) {
  ASSERT_NO_FATAL_FAILURE(BeginTool(seconds(1)));
  ExpectRefused(EndOfTool(Resolved::BY_TIMEOUT, api::PERMISSION_OPTION_KIND_REJECT_ONCE),
                agent().outcome_of_refusal);
}

TEST_P(PermissionTest, AnsweredWithNoneOfTheOptions) {
  ASSERT_NO_FATAL_FAILURE(BeginTool());
  AnswerCancelled();
  ExpectRefused(EndOfToolCancelled(Resolved::BY_CALLER), agent().outcome_of_refusal);
}

TEST_P(PermissionTest, CancelledWithItsTurn) {
  ASSERT_NO_FATAL_FAILURE(BeginTool());
  CancelTheTurn();
  ExpectRefused(EndOfToolCancelled(Resolved::BY_CANCEL), api::TurnResult::OUTCOME_CANCELLED);
}

}  // namespace
}  // namespace acpd::e2e
