// However a turn ends, and wherever it stands by then, it ends once.

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using Result = api::TurnResult;

// Where the turn stands when it happens.
enum class Phase { kRunning, kQueued, kStarting };

constexpr auto kImpossible = Result::OUTCOME_UNSPECIFIED;

class EndsOnceTest;

struct Ending {
  const char* name;
  json steps;  // the turn's own, once the test has let it go
  void (EndsOnceTest::*happen)();
  // The turn's outcome by phase; kImpossible: that cannot happen there.
  Result::Outcome running, queued, starting;
  bool deleted = false;  // its log is gone
};

struct Case {
  Ending ending;
  Phase phase;
};

std::string NameOf(Phase phase) {
  switch (phase) {
    case Phase::kRunning:
      return "Running";
    case Phase::kQueued:
      return "Queued";
    case Phase::kStarting:
      return "Starting";
  }
  return "";
}

void PrintTo(const Case& c, std::ostream* out) { *out << c.ending.name << NameOf(c.phase); }

class EndsOnceTest : public TurnsTest, public ::testing::WithParamInterface<Case> {
 public:
  // What happens. What was let go goes on by itself.
  void LetGo() {
    for (const char* name : {"new", "first", "victim"}) barriers().Release(name);
  }
  void Cancel() {
    api::CancelRequest request;
    request.set_turn_id(victim_);
    const auto cancelled = client().Cancel(request);
    EXPECT_TRUE(cancelled.ok()) << cancelled.ToString();
  }
  void AgentIsKilled() { KillAgent(); }
  // The agent is not to be found any more when it is needed again.
  void AgentIsRemoved() {
    std::filesystem::remove(dir() / "agent");
    KillAgent();
  }
  void QuestionIsCancelled() {
    LetGo();
    ASSERT_TRUE(WaitForState(session_id_, api::Session::STATE_WAITING));
    const auto session = client().GetSession(session_id_);
    ASSERT_EQ(session.response.open_questions_size(), 1);
    api::RespondRequest request;
    request.set_session_id(session_id_);
    request.set_question_id(
        session.response.open_questions(0).permission_requested().question_id());
    request.set_cancelled(true);
    const auto answered = client().Call(&Client::Stub::Respond, request);
    EXPECT_TRUE(answered.ok()) << answered.ToString();
  }
  void Close() {
    api::CloseSessionRequest request;
    request.set_session_id(session_id_);
    request.set_force(true);
    barriers().Release("new");  // a set-up under way comes to its end first
    const auto closed = client().Call(&Client::Stub::CloseSession, request);
    EXPECT_TRUE(closed.ok()) << closed.ToString();
  }
  void Delete() {
    api::DeleteSessionRequest request;
    request.set_session_id(session_id_);
    request.set_force(true);
    barriers().Release("new");
    const auto deleted = client().Call(&Client::Stub::DeleteSession, request);
    EXPECT_TRUE(deleted.ok()) << deleted.ToString();
  }
  void ShutDown() { RestartDaemon(); }
  void AcpdIsKilled() { KillAndRestartDaemon(); }
  void QueueIsFull() {
    for (int i = 0; i < 3; ++i) {
      const auto chat =
          client().Chat(ChatOf(kProject, session_id_, "more", api::WAIT_FOR_ACCEPTED));
      refused_ = chat.reason();
    }
    EXPECT_EQ(refused_, "QUEUE_FULL");
  }

 protected:
  void SetUp() override {
    std::filesystem::create_symlink(ProgramPath("fake_agent"), dir() / "agent");
    json script = json::object();
    if (phase() == Phase::kStarting) script["session/new"] = Steps(Barrier("new"), "reply");
    UseScript(script);
    options().agents["fake"].command = dir() / "agent";
    SetFake("cancel_grace", "500ms");
    SetFake("stop_grace", "500ms");
    options().extra = {{"limits", {{"max_queued_turns", 2}}}};
    StartDaemon();
  }
  Phase phase() const { return GetParam().phase; }
  Result::Outcome Expected() const {
    const Ending& ending = GetParam().ending;
    return phase() == Phase::kRunning  ? ending.running
           : phase() == Phase::kQueued ? ending.queued
                                       : ending.starting;
  }

  // Brings the turn to where it is to stand.
  void Bring() {
    json steps = Steps(Barrier("victim"));
    for (const json& step : GetParam().ending.steps) steps.push_back(step);
    if (phase() == Phase::kQueued) session_id_ = BeginAt("first").session_id();
    api::ChatRequest request =
        ChatOf(kProject, session_id_, Scripted(steps), api::WAIT_FOR_ACCEPTED);
    if (std::string(GetParam().ending.name) == "Deadline") {
      request.mutable_turn_timeout()->set_nanos(300'000'000);
    }
    const auto chat = client().Chat(request);
    ASSERT_TRUE(chat.ok()) << chat.ToString();
    victim_ = chat.response.turn_id();
    session_id_ = chat.response.session_id();
    if (phase() == Phase::kRunning) {
      ASSERT_TRUE(barriers().WaitReached("victim"));
    } else if (phase() == Phase::kStarting) {
      ASSERT_TRUE(barriers().WaitReached("new"));
    }
  }

  std::string session_id_;
  std::string victim_;
  std::string refused_;
};

std::vector<Case> Cases() {
  const auto done = Result::OUTCOME_COMPLETED, cancelled = Result::OUTCOME_CANCELLED;
  const auto failed = Result::OUTCOME_FAILED, cut_off = Result::OUTCOME_INTERRUPTED;
  const json options = json::parse(R"([{"optionId": "yes", "kind": "allow_once"}])");
  const json ask =
      Steps(Step("ask", json{{"options", options}, {"wait", true}}), Reply("cancelled"));
  using T = EndsOnceTest;
  const std::vector<Ending> endings = {
      {"EndTurn", Steps(), &T::LetGo, done, done, done},
      {"Refusal", Steps(Reply("refusal")), &T::LetGo, Result::OUTCOME_REFUSED,
       Result::OUTCOME_REFUSED, Result::OUTCOME_REFUSED},
      {"MaxTokens", Steps(Reply("max_tokens")), &T::LetGo, Result::OUTCOME_TRUNCATED,
       Result::OUTCOME_TRUNCATED, Result::OUTCOME_TRUNCATED},
      {"AgentError", Steps(Error(-32603, "no")), &T::LetGo, failed, failed, failed},
      {"Cancel", Steps(), &T::Cancel, cancelled, cancelled, cancelled},
      {"Deadline", Steps("silent"), &T::LetGo, failed, failed, failed},
      {"AgentExit", Steps(Step("exit", 3)), &T::LetGo, cut_off, cut_off, cut_off},
      {"AgentKilled", Steps(), &T::AgentIsKilled, cut_off, done, failed},
      {"SpawnError", Steps(), &T::AgentIsRemoved, kImpossible, failed, kImpossible},
      {"PermissionAbort", ask, &T::QuestionIsCancelled, cancelled, cancelled, cancelled},
      {"Close", Steps(), &T::Close, cancelled, cancelled, cancelled},
      {"Delete", Steps(), &T::Delete, cancelled, cancelled, cancelled, true},
      {"Shutdown", Steps(), &T::ShutDown, cancelled, done, done},
      {"Killed", Steps(), &T::AcpdIsKilled, cut_off, done, done},
      {"QueueFull", Steps(), &T::QueueIsFull, done, done, done},
  };
  std::vector<Case> cases;
  for (const Ending& ending : endings) {
    if (ending.running != kImpossible) cases.push_back({ending, Phase::kRunning});
    if (ending.queued != kImpossible) cases.push_back({ending, Phase::kQueued});
    if (ending.starting != kImpossible) cases.push_back({ending, Phase::kStarting});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Endings, EndsOnceTest, ::testing::ValuesIn(Cases()), [](const auto& info) {
  return info.param.ending.name + NameOf(info.param.phase);
});

TEST_P(EndsOnceTest, OneTurnEnded) {
  ASSERT_NO_FATAL_FAILURE(Bring());
  api::SubscribeProgressRequest all;
  all.set_everything(true);
  all.set_after_position(0);
  const auto stream = client().Subscribe(all);
  ASSERT_TRUE(stream->WaitFor(HasCaughtUp()));
  ASSERT_NO_FATAL_FAILURE((this->*GetParam().ending.happen)());
  LetGo();
  if (GetParam().ending.deleted) {
    const auto end = stream->WaitFor(EndOf(victim_));
    ASSERT_TRUE(end);
    EXPECT_EQ(end->turn_ended().result().outcome(), Expected());
    ASSERT_TRUE(stream->WaitFor(Is(Event::kSessionDeleted)));
    EXPECT_TRUE(stream->WaitForCount(1, EndOf(victim_)));
    const std::vector<Event> events = stream->Events();
    EXPECT_EQ(std::count_if(events.begin(), events.end(), EndOf(victim_)), 1);
    return;
  }
  EXPECT_EQ(WaitForTurn(victim_).result().outcome(), Expected())
      << WaitForTurn(victim_).ShortDebugString();
  EXPECT_EQ(CountEnds(victim_), 1u);
  KillAndRestartDaemon();
  EXPECT_EQ(CountEnds(victim_), 1u);
  EXPECT_EQ(WaitForTurn(victim_).result().outcome(), Expected());
}

}  // namespace
}  // namespace acpd::e2e
