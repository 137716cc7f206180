// Calls whose time is up, whose caller leaves or which a stop of acpd ends: what they began goes
// on, and their callers know what was reached.

#include <future>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using ::testing::HasSubstr;
using Code = grpc::StatusCode;
using std::chrono::steady_clock;

constexpr milliseconds kShort{100};  // less than the 200 ms that are kept back for the answer
constexpr milliseconds kDeadline{1500};

class CallsDeadlineTest : public TurnsTest {
 protected:
  // The turn of a Chat that may have come too late to be accepted; empty: it did.
  std::string FindByRequestId(const std::string& request_id) {
    api::GetTurnRequest request;
    request.set_project_id(kProject);
    request.set_request_id(request_id);
    return client().Call(&Client::Stub::GetTurn, request).response.turn_id();
  }
  // A session whose agent takes its time to go.
  std::string MakeStubborn() {
    SetFake("stop_grace", "2s");
    StartDaemon();
    const auto chat = client().Say(
        kProject, "", Scripted(Steps(Step("ignore", "EOF"), Step("ignore", "TERM"), Say("hello"))));
    EXPECT_TRUE(chat.ok()) << chat.ToString();
    return chat.response.session_id();
  }
};

TEST_F(CallsDeadlineTest, AnAcceptedTurnRunsHoweverShortItsCallWas) {
  StartDaemon();
  ASSERT_TRUE(client().Say(kProject, "", "warm up").ok());
  size_t accepted = 0;
  for (int i = 0; i < 20 && accepted < 5; ++i) {
    api::ChatRequest request = ChatOf(kProject, "", Scripted(Steps(Say("x"))), {});
    request.set_wait_for(api::WAIT_FOR_ACCEPTED);
    request.set_request_id("short-" + std::to_string(i));
    const auto chat = client().Chat(request, kShort);
    // A loaded machine may be too slow even to accept it.
    const std::string turn_id = FindByRequestId(request.request_id());
    if (turn_id.empty()) continue;
    ++accepted;
    EXPECT_EQ(WaitForTurn(turn_id).result().text(), "x");
    if (!chat.ok()) continue;
    EXPECT_EQ(chat.response.turn_id(), turn_id);
    EXPECT_EQ(chat.initial.at("acpd-turn-id"), turn_id);
  }
  EXPECT_GT(accepted, 0u);
}

TEST_F(CallsDeadlineTest, ATurnOfAStreamRunsHoweverShortItWas) {
  StartDaemon();
  ASSERT_TRUE(client().Say(kProject, "", "warm up").ok());
  std::string turn_id;
  for (int i = 0; i < 20 && turn_id.empty(); ++i) {
    api::ChatStreamRequest request;
    *request.mutable_chat() = ChatOf(kProject, "", Scripted(Steps(Say("x"))), {});
    request.mutable_chat()->set_request_id("stream-" + std::to_string(i));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kShort);
    const auto reader = client().stub()->ChatStream(&context, request);
    for (Event event; reader->Read(&event);) continue;
    reader->Finish();
    turn_id = FindByRequestId(request.chat().request_id());
  }
  ASSERT_NE(turn_id, "");
  EXPECT_EQ(WaitForTurn(turn_id).result().text(), "x");
}

TEST_F(CallsDeadlineTest, ACloseAnswersInTimeAndGoesOn) {
  const std::string id = MakeStubborn();
  const pid_t agent = log().Pids().back();
  api::CloseSessionRequest request;
  request.set_session_id(id);
  const auto closed = client().Call(&Client::Stub::CloseSession, request, kDeadline);
  ASSERT_TRUE(closed.ok()) << closed.ToString();
  EXPECT_EQ(closed.response.session_id(), id);
  EXPECT_EQ(closed.trailers.at("acpd-session-id"), id);
  EXPECT_TRUE(IsAlive(agent));
  EXPECT_TRUE(WaitForState(id, api::Session::STATE_DORMANT));
  EXPECT_FALSE(IsAlive(agent));
}

TEST_F(CallsDeadlineTest, ADeleteAnswersInTimeAndGoesOn) {
  const std::string id = MakeStubborn();
  const pid_t agent = log().Pids().back();
  api::DeleteSessionRequest request;
  request.set_session_id(id);
  const auto first = client().Call(&Client::Stub::DeleteSession, request, kDeadline);
  EXPECT_EQ(first.code(), Code::FAILED_PRECONDITION) << first.ToString();
  EXPECT_EQ(first.reason(), "SESSION_BUSY");
  EXPECT_EQ(first.trailers.at("acpd-session-id"), id);
  const auto second = client().Call(&Client::Stub::DeleteSession, request);
  EXPECT_TRUE(second.ok()) << second.ToString();
  EXPECT_FALSE(IsAlive(agent));
  EXPECT_EQ(client().GetSession(id).reason(), "SESSION_NOT_FOUND");
}

TEST_F(CallsDeadlineTest, AStopSaysThatTheTurnIsKept) {
  StartDaemon();
  const api::ChatResponse running = BeginAt("hold");
  const std::string id = running.session_id();
  auto chatting = std::async(std::launch::async, [&] {
    return client().Chat(ChatOf(kProject, id, Scripted(Steps(Say("x"))), api::WAIT_FOR_FINISHED));
  });
  auto getting = std::async(std::launch::async, [&] {
    return client().GetTurn(running.turn_id(), api::WAIT_FOR_FINISHED);
  });
  ASSERT_TRUE(WaitUntil([&] { return client().GetSession(id).response.queued_size() == 1; }));
  EXPECT_EQ(daemon().Stop(), (ExitStatus{0, 0}));
  const auto chat = chatting.get();
  EXPECT_EQ(chat.reason(), "SHUTTING_DOWN") << chat.ToString();
  EXPECT_THAT(chat.status.error_message(), HasSubstr("GetTurn"));
  EXPECT_THAT(chat.status.error_message(), HasSubstr("Do not send it again"));
  const auto got = getting.get();
  if (!got.ok()) {
    EXPECT_EQ(got.reason(), "SHUTTING_DOWN") << got.ToString();
    EXPECT_EQ(got.trailers.at("acpd-turn-id"), running.turn_id());
    EXPECT_EQ(got.trailers.at("acpd-session-id"), id);
  }
  StartDaemon();
  EXPECT_EQ(WaitForTurn(chat.trailers.at("acpd-turn-id")).result().text(), "x");
}

TEST_F(CallsDeadlineTest, AStopSaysThatTheNewSessionIsKept) {
  json script = json::object();
  script["session/new"] = Steps(Barrier("new"), "reply");
  UseScript(script);
  StartDaemon();
  api::CreateSessionRequest create;
  create.mutable_setup()->set_project_id(kProject);
  auto creating = std::async(std::launch::async,
                             [&] { return client().Call(&Client::Stub::CreateSession, create); });
  ASSERT_TRUE(barriers().WaitReached("new"));
  EXPECT_EQ(daemon().Stop(), (ExitStatus{0, 0}));
  const auto created = creating.get();
  EXPECT_EQ(created.reason(), "SHUTTING_DOWN") << created.ToString();
  EXPECT_THAT(created.status.error_message(), HasSubstr("GetSession"));
  barriers().Release("new");
  StartDaemon();
  EXPECT_TRUE(WaitForState(created.trailers.at("acpd-session-id"), api::Session::STATE_IDLE));
}

// An agent that never says a word.
class SilentProbeTest : public TurnsTest {
 protected:
  void SetUp() override {
    options().agents["silent"] = {.command = "/bin/sleep", .args = {"1000"}, .env = {}};
    StartDaemon();
  }
  bool AgentRuns() const {
    for (const std::string& process : leftovers().Processes()) {
      if (process.find("sleep 1000") != std::string::npos) return true;
    }
    return false;
  }
  grpc::Status Probe(grpc::ClientContext* context, std::string* reason = nullptr) {
    api::ProbeAgentRequest request;
    request.set_agent("silent");
    api::Agent response;
    const grpc::Status status = client().stub()->ProbeAgent(context, request, &response);
    const auto trailers = context->GetServerTrailingMetadata();
    const auto found = trailers.find("acpd-reason");
    if (reason && found != trailers.end())
      reason->assign(found->second.data(), found->second.size());
    return status;
  }
};

TEST_F(SilentProbeTest, AStopEndsIt) {
  grpc::ClientContext context;
  std::string reason;
  auto probing = std::async(std::launch::async, [&] { return Probe(&context, &reason); });
  ASSERT_TRUE(WaitUntil([&] { return AgentRuns(); }));
  EXPECT_EQ(daemon().Stop(), (ExitStatus{0, 0}));
  EXPECT_EQ(probing.get().error_code(), Code::UNAVAILABLE);
  EXPECT_EQ(reason, "SHUTTING_DOWN");
  EXPECT_FALSE(AgentRuns());
}

TEST_F(SilentProbeTest, ACallerThatLeavesEndsIt) {
  grpc::ClientContext context;
  auto probing = std::async(std::launch::async, [&] { return Probe(&context); });
  ASSERT_TRUE(WaitUntil([&] { return AgentRuns(); }));
  context.TryCancel();
  EXPECT_EQ(probing.get().error_code(), Code::CANCELLED);
  EXPECT_TRUE(WaitUntil([&] { return !AgentRuns(); }));
}

TEST_F(SilentProbeTest, ADeadlineEndsIt) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kDeadline);
  std::string reason;
  EXPECT_EQ(Probe(&context, &reason).error_code(), Code::UNAVAILABLE);
  EXPECT_EQ(reason, "START_TIMEOUT");
  EXPECT_TRUE(WaitUntil([&] { return !AgentRuns(); }));
}

}  // namespace
}  // namespace acpd::e2e
