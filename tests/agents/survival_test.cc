// acpd is killed while a real agent works or asks: the next acpd goes on with the very same agent,
// and a reader with its cursor misses nothing.

#include <algorithm>

#include "tests/agents/agent_test.h"

namespace acpd::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kChunks = 60;

class SurvivalTest : public AgentTest {
 protected:
  SurvivalTest() { options().extra["shutdown"] = {{"workers", "keep"}}; }

  // A new session with this turn, and a reader of it.
  void BeginTurn(const std::string& prompt) {
    const auto chat = Begin("", prompt);
    ASSERT_TRUE(chat.ok()) << chat.ToString();
    session_id_ = chat.response.session_id();
    turn_id_ = chat.response.turn_id();
    reader_ = client().SubscribeSession(session_id_);
  }
  // The reader comes back with its cursor.
  void KillAcpd() {
    const int64_t agent = AgentPid();
    EXPECT_GT(agent, 0);
    daemon().Kill();
    reader_->WaitForEnd();
    seen_ = reader_->Stored();
    reader_.reset();
    StartDaemon();
    ASSERT_FALSE(seen_.empty());
    reader_ = client().SubscribeSession(session_id_, seen_.back().seq());
    EXPECT_TRUE(WaitUntil([&] { return AgentPid() == agent; }));
  }
  int64_t AgentPid() { return client().GetSession(session_id_).response.worker().pid(); }
  // The turn's end, once, in a record without a hole. All that the reader saw.
  std::vector<Event> ReadToTheEnd() {
    EXPECT_TRUE(reader_->WaitFor(EndOf(turn_id_), kAgentPatience));
    std::vector<Event> all = seen_;
    for (const Event& event : reader_->Stored()) all.push_back(event);
    EXPECT_THAT(CheckNoHoleNoRepeat(all), IsEmpty());
    EXPECT_EQ(all.front().seq(), 1u);
    EXPECT_EQ(EndsOf(turn_id_), 1);
    for (const Event& event : all) EXPECT_FALSE(event.has_worker_exited());
    return all;
  }
  void ExpectTheAgentGoesOn() {
    ExpectAnswer(Say(session_id_, "ECHO still here"), api::SessionOrigin::KIND_LIVE, "still here");
  }

  std::string session_id_, turn_id_;
  std::unique_ptr<Subscription> reader_;
  std::vector<Event> seen_;
};

INSTANTIATE_TEST_SUITE_P(Agents, SurvivalTest,
                         ::testing::ValuesIn(AgentNames([](const RealAgent& agent) {
                           return !agent.cannot.contains(Ability::kAskModel);
                         })),
                         AgentTestName);

TEST_P(SurvivalTest, ALongAnswerGoesOnAfterAKill) {
  ASSERT_NO_FATAL_FAILURE(BeginTurn("SLOW " + std::to_string(kChunks) + " 100"));
  const auto has_begun = [this] {
    return TextOf(reader_->Events(), turn_id_).find("chunk 3 ") != std::string::npos;
  };
  ASSERT_TRUE(WaitUntil(has_begun, kAgentPatience));
  ASSERT_NO_FATAL_FAILURE(KillAcpd());
  EXPECT_THAT(TextOf(seen_, turn_id_), ::testing::Not(HasSubstr("chunk 60 ")));
  std::string whole;
  for (int i = 1; i <= kChunks; ++i) whole += "chunk " + std::to_string(i) + " ";
  const api::TurnResult result = WaitForEnd(turn_id_);
  EXPECT_EQ(result.outcome(), api::TurnResult::OUTCOME_COMPLETED) << result.ShortDebugString();
  ExpectText(result.text(), whole);
  ExpectText(TextOf(ReadToTheEnd(), turn_id_), whole);
  ExpectTheAgentGoesOn();
}

TEST_P(SurvivalTest, AnOpenPermissionIsAnsweredAfterAKill) {
  ASSERT_NO_FATAL_FAILURE(BeginTurn(agent().tool_prompt));
  const auto asked = reader_->WaitFor(Is(Event::kPermissionRequested), kAgentPatience);
  ASSERT_TRUE(asked) << "the agent does not ask";
  ASSERT_NO_FATAL_FAILURE(KillAcpd());
  const auto session = client().GetSession(session_id_);
  ASSERT_EQ(session.response.open_questions_size(), 1) << session.ToString();
  const std::string question = asked->permission_requested().question_id();
  EXPECT_EQ(session.response.open_questions(0).permission_requested().question_id(), question);
  api::RespondRequest request;
  request.set_session_id(session_id_);
  request.set_question_id(question);
  request.set_option_kind(api::PERMISSION_OPTION_KIND_ALLOW_ONCE);
  const auto answered = client().Call(&Client::Stub::Respond, request);
  ASSERT_TRUE(answered.ok()) << answered.ToString();
  const api::TurnResult result = WaitForEnd(turn_id_);
  EXPECT_EQ(result.outcome(), api::TurnResult::OUTCOME_COMPLETED) << result.ShortDebugString();
  EXPECT_THAT(result.text(), HasSubstr(agent().tool_answer));
  EXPECT_EQ(ReadFile(daemon().ProjectFolder(kProject) + "/acp-tool-proof.txt"), "hi\n");
  const std::vector<Event> all = ReadToTheEnd();
  EXPECT_EQ(std::count_if(all.begin(), all.end(), Is(Event::kQuestionResolved)), 1);
  ExpectTheAgentGoesOn();
}

}  // namespace
}  // namespace acpd::e2e
