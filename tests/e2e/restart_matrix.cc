#include "tests/e2e/restart_matrix.h"

#include <filesystem>
#include <future>

namespace acpd::e2e {
namespace {

using AdminStub = Client::AdminStub;

json AskYesOrNo(const std::string& id) {
  return Step("ask", {{"id", id},
                      {"options", json::array({{{"optionId", "yes"}, {"kind", "allow_once"}},
                                               {{"optionId", "no"}, {"kind", "reject_once"}}})}});
}

std::string NameOfPhase(Phase phase) {
  switch (phase) {
    case Phase::kQueued:
      return "Queued";
    case Phase::kStarting:
      return "Starting";
    case Phase::kRunning:
      return "Running";
    case Phase::kWaiting:
      return "Waiting";
  }
  return "";
}

}  // namespace

std::string NameOf(const MatrixCase& c) {
  const std::string name = c.ending.name + NameOfPhase(c.phase);
  switch (c.fate) {
    case Fate::kStays:
      return name;
    case Fate::kIsKilled:
      return name + "AfterAKill";
    case Fate::kIsAway:
      return name + "WithoutAcpd";
  }
  return name;
}

void PrintTo(const MatrixCase& c, std::ostream* out) { *out << NameOf(c); }

void MatrixTest::LetGo() {
  for (const char* name : {"new", "load", "first", "victim"}) barriers().Release(name);
}

void MatrixTest::CancelIt() {
  api::CancelRequest request;
  request.set_turn_id(victim_);
  const auto cancelled = client().Cancel(request);
  EXPECT_TRUE(cancelled.ok()) << cancelled.ToString();
}

void MatrixTest::CancelProject() {
  api::CancelRequest request;
  request.set_project_id(kProject);
  const auto cancelled = client().Cancel(request);
  EXPECT_TRUE(cancelled.ok()) << cancelled.ToString();
}

void MatrixTest::KillTheAgent() { KillAgent(); }

void MatrixTest::KillTheWorker() { ::kill(ParentOf(log().Pids().back()), SIGKILL); }

// It is not to be found any more when it is needed again.
void MatrixTest::RemoveTheAgent() {
  std::filesystem::remove(dir() / "agent");
  KillAgent();
}

void MatrixTest::AnswerCancelled() { Answer(false); }
void MatrixTest::AnswerNo() { Answer(true); }

void MatrixTest::Answer(bool no) {
  LetGo();
  // In a queue, the question may be that of the turn before.
  const auto is_asked = [this] {
    const auto session = client().GetSession(session_id_).response;
    return session.open_questions_size() == 1 && session.running().turn_id() == victim_;
  };
  ASSERT_TRUE(WaitUntil(is_asked));
  const auto session = client().GetSession(session_id_);
  api::RespondRequest request;
  request.set_session_id(session_id_);
  request.set_question_id(session.response.open_questions(0).permission_requested().question_id());
  no ? request.set_option_id("no") : request.set_cancelled(true);
  const auto answered = client().Call(&Client::Stub::Respond, request);
  EXPECT_TRUE(answered.ok()) << answered.ToString();
}

void MatrixTest::Close() {
  api::CloseSessionRequest request;
  request.set_session_id(session_id_);
  request.set_force(true);
  barriers().Release("new");  // a set-up under way comes to its end first
  const auto closed = client().Call(&Client::Stub::CloseSession, request);
  EXPECT_TRUE(closed.ok()) << closed.ToString();
}

void MatrixTest::Delete() {
  api::DeleteSessionRequest request;
  request.set_session_id(session_id_);
  request.set_force(true);
  barriers().Release("new");
  api::SubscribeProgressRequest all;
  all.set_everything(true);
  all.set_after_position(0);
  const auto stream = client().Subscribe(all);
  ASSERT_TRUE(stream->WaitFor(HasCaughtUp()));
  const auto deleted = client().Call(&Client::Stub::DeleteSession, request);
  EXPECT_TRUE(deleted.ok()) << deleted.ToString();
  ASSERT_TRUE(stream->WaitFor(e2e::Is(Event::kSessionDeleted)));
  size_t ends = 0;
  for (const Event& event : stream->Stored()) {
    if (!EndOf(victim_)(event)) continue;
    ++ends;
    EXPECT_EQ(event.turn_ended().result().outcome(), GetParam().expected.outcome);
  }
  EXPECT_EQ(ends, 1u);
}

void MatrixTest::Drain() {
  auto drained = std::async(
      std::launch::async, [this] { return client().Call(&AdminStub::Drain, api::DrainRequest()); });
  const auto is_draining = [this] {
    return client()
        .Call(&AdminStub::GetServerInfo, api::GetServerInfoRequest())
        .response.draining();
  };
  ASSERT_TRUE(WaitUntil(is_draining));
  EXPECT_EQ(client().Say(kProject, "", "late").reason(), "DRAINING");
  LetGo();
  EXPECT_TRUE(drained.get().response.drained());
  EXPECT_EQ(client().GetTurn(victim_).response.state(), api::TURN_STATE_ENDED);
  api::DrainRequest resume;
  resume.set_resume(true);
  EXPECT_TRUE(client().Call(&AdminStub::Drain, resume).ok());
}

void MatrixTest::FillTheQueue() {
  std::string refused;
  for (int i = 0; i < 3; ++i) {
    refused = client().Chat(ChatOf(kProject, session_id_, "more", api::WAIT_FOR_ACCEPTED)).reason();
  }
  EXPECT_EQ(refused, "QUEUE_FULL");
}

void MatrixTest::StopAcpd() { RestartDaemon(); }

void MatrixTest::Interrupt() {
  api::ChatRequest request = ChatOf(kProject, session_id_, "now", api::WAIT_FOR_ACCEPTED);
  request.set_busy_policy(api::BUSY_POLICY_INTERRUPT);
  const auto chat = client().Chat(request);
  EXPECT_TRUE(chat.ok()) << chat.ToString();
}

bool MatrixTest::IsResume() const {
  return std::string(GetParam().ending.name).starts_with("ResumeError");
}

std::string MatrixTest::BarrierOfSetUp() const { return IsResume() ? "load" : "new"; }

json MatrixTest::StepsOfVictim() const {
  const bool answers = Is("QuestionCancelled") || Is("QuestionRejected");
  const bool waits = GetParam().phase == Phase::kWaiting;
  json steps = waits ? Steps(AskYesOrNo("q"), Barrier("victim")) : Steps(Barrier("victim"));
  if (answers && !waits) steps.push_back(AskYesOrNo("q"));
  for (const json& step : GetParam().ending.steps) steps.push_back(step);
  return steps;
}

json MatrixTest::ScriptOfAgent() const {
  json script = json::object();
  if (IsResume()) {
    script["session/load"] = Steps(Barrier("load"), Error(-32002, "Resource not found"));
  } else if (GetParam().phase == Phase::kStarting) {
    script["session/new"] = Steps(Barrier("new"), "reply");
  }
  return script;
}

void MatrixTest::SetUp() {
  std::filesystem::create_symlink(ProgramPath("fake_agent"), dir() / "agent");
  UseScript(ScriptOfAgent());
  options().agents["fake"].command = dir() / "agent";
  SetFake("cancel_grace", "500ms");
  SetFake("stop_grace", "500ms");
  if (Is("Stall")) SetFake("turn_stall", "700ms");
  if (IsResume()) SetFake("resume", json::array({"session/load"}));
  options().extra = {{"limits", {{"max_queued_turns", 2}}}};
  StartDaemon();
}

void MatrixTest::Bring() {
  const Phase phase = GetParam().phase;
  if (IsResume() && phase == Phase::kStarting) session_id_ = MakeDormant();
  if (phase == Phase::kQueued) {
    // An open question, so that a watch on silence does not end this turn.
    const auto first =
        client().Begin(kProject, "", Scripted(Steps(AskYesOrNo("first"), Barrier("first"))));
    ASSERT_TRUE(first.ok()) << first.ToString();
    session_id_ = first.response.session_id();
    ASSERT_TRUE(barriers().WaitReached("first"));
  }
  api::ChatRequest request =
      ChatOf(kProject, session_id_, Scripted(StepsOfVictim()), api::WAIT_FOR_ACCEPTED);
  if (Is("TurnTimeout")) request.mutable_turn_timeout()->set_nanos(700'000'000);
  if (IsResume()) request.mutable_resume_policy()->set_mode(api::ResumePolicy::MODE_REQUIRE);
  const auto chat = client().Chat(request);
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  victim_ = chat.response.turn_id();
  session_id_ = chat.response.session_id();
  if (phase == Phase::kQueued) return;
  ASSERT_TRUE(barriers().WaitReached(phase == Phase::kStarting ? BarrierOfSetUp() : "victim"));
  if (phase != Phase::kWaiting) return;
  ASSERT_TRUE(WaitForState(session_id_, api::Session::STATE_WAITING));
}

std::vector<api::Turn> MatrixTest::ListTurns(const std::vector<api::TurnState>& states) {
  api::ListTurnsRequest request;
  request.set_project_id(kProject);
  for (const api::TurnState state : states) request.add_states(state);
  const auto listed = client().Call(&Client::Stub::ListTurns, request);
  EXPECT_TRUE(listed.ok()) << listed.ToString();
  return {listed.response.turns().begin(), listed.response.turns().end()};
}

void MatrixTest::ExpectTheEnd() {
  const Expected& expected = GetParam().expected;
  const api::Turn turn = WaitForTurn(victim_);
  EXPECT_EQ(turn.result().outcome(), expected.outcome) << turn.ShortDebugString();
  EXPECT_EQ(turn.result().error().reason(), expected.reason);
  const std::vector<Event> events = EventsOfTurn(victim_);
  EXPECT_EQ(CountEnds(victim_), 1u);
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.back().turn_ended().result().outcome(), expected.outcome);
  size_t listed = 0;
  for (const api::Turn& each : ListTurns({})) {
    if (each.turn_id() != victim_) continue;
    ++listed;
    EXPECT_EQ(each.state(), api::TURN_STATE_ENDED);
    EXPECT_EQ(each.result().outcome(), expected.outcome);
  }
  EXPECT_EQ(listed, 1u);
}

void MatrixTest::ExpectUsable() {
  if (Is("SpawnError")) std::filesystem::create_symlink(ProgramPath("fake_agent"), dir() / "agent");
  const auto next = client().Say(kProject, Is("Delete") ? "" : session_id_, "hello");
  ASSERT_TRUE(next.ok()) << next.ToString();
  EXPECT_EQ(next.response.result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  EXPECT_EQ(next.response.result().text(), "hello");
  const auto is_settled = [this] {
    return ListTurns({api::TURN_STATE_QUEUED, api::TURN_STATE_STARTING, api::TURN_STATE_RUNNING,
                      api::TURN_STATE_WAITING, api::TURN_STATE_CANCELLING})
        .empty();
  };
  EXPECT_TRUE(WaitUntil(is_settled));
}

void MatrixTest::KillAgents() {
  for (const pid_t pid : log().Pids()) {
    if (IsAlive(pid)) ::kill(pid, SIGKILL);
  }
  for (const api::Session& session : AllSessions()) {
    if (session.state() == api::Session::STATE_REPLACED) continue;
    EXPECT_TRUE(WaitForState(session.session_id(), api::Session::STATE_DORMANT));
  }
}

}  // namespace acpd::e2e
