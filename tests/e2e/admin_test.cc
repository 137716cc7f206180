// What operators do to an acpd at work: look, drain, log a session's traffic, stop.

#include <algorithm>
#include <map>
#include <sstream>
#include <thread>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using AdminStub = Client::AdminStub;

class AdminTest : public TurnsTest {
 protected:
  api::GetServerInfoResponse Info() {
    const auto info = client().Call(&AdminStub::GetServerInfo, api::GetServerInfoRequest());
    EXPECT_TRUE(info.ok()) << info.ToString();
    return info.response;
  }
  Called<api::DrainResponse> Drain(milliseconds patience = kPatience) {
    return client().Call(&AdminStub::Drain, api::DrainRequest(), patience);
  }
  Called<api::SetWireLogResponse> SetWireLog(const std::string& session_id, bool on) {
    api::SetWireLogRequest request;
    request.set_session_id(session_id);
    request.set_on(on);
    return client().Call(&AdminStub::SetWireLog, request);
  }
  // "out {...}" and "in {...}", as the log has them.
  std::vector<std::string> WireLines() {
    std::vector<std::string> lines;
    std::istringstream log(daemon().Log());
    for (std::string text; std::getline(log, text);) {
      const json line = json::parse(text);
      if (line["msg"] != "wire") continue;
      lines.push_back(line.value("direction", "") + " " + line.value("line", ""));
    }
    return lines;
  }
};

TEST_F(AdminTest, InfoCountsWhatThereIs) {
  StartDaemon();
  const std::string dormant = MakeDormant();
  const api::ChatResponse busy = BeginAt("b");
  Accept(busy.session_id(), Steps(Say("next")));
  const auto asking = client().Begin(kProject, "", "ASK");
  ASSERT_TRUE(asking.ok()) << asking.ToString();
  ASSERT_TRUE(WaitForState(asking.response.session_id(), api::Session::STATE_WAITING));
  const auto stream = client().SubscribeSession(dormant);
  ASSERT_TRUE(stream->WaitFor(HasCaughtUp()));

  const auto counts = Info().counts();
  EXPECT_EQ(counts.running_turns(), 2u);
  EXPECT_EQ(counts.queued_turns(), 1u);
  EXPECT_EQ(counts.workers(), 2u);
  EXPECT_EQ(counts.open_questions(), 1u);
  EXPECT_EQ(counts.subscribers(), 1u);
  std::map<api::Session::State, uint64_t> sessions;
  for (const auto& each : counts.sessions()) sessions[each.state()] = each.count();
  const std::map<api::Session::State, uint64_t> expected = {{api::Session::STATE_BUSY, 1},
                                                            {api::Session::STATE_DORMANT, 1},
                                                            {api::Session::STATE_WAITING, 1}};
  EXPECT_EQ(sessions, expected);
}

TEST_F(AdminTest, DrainWaitsForEveryTurn) {
  StartDaemon();
  api::ChatRequest first =
      ChatOf(kProject, "", Scripted(Steps(Barrier("b"))), api::WAIT_FOR_STARTED);
  first.set_request_id("first");
  const auto running = client().Chat(first);
  ASSERT_TRUE(running.ok()) << running.ToString();
  const std::string queued = Accept(running.response.session_id(), Steps(Say("next")));

  const auto not_yet = Drain(milliseconds(700));
  ASSERT_TRUE(not_yet.ok()) << not_yet.ToString();
  EXPECT_FALSE(not_yet.response.drained());
  EXPECT_EQ(not_yet.response.running_turns(), 1u);
  EXPECT_EQ(not_yet.response.queued_turns(), 1u);
  EXPECT_TRUE(Info().draining());

  const auto refused = client().Say(kProject, running.response.session_id(), "hello");
  EXPECT_EQ(refused.code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(refused.reason(), "DRAINING");
  EXPECT_EQ(client().ChatStream(first)->WaitForEnd(milliseconds(0)), std::nullopt)
      << "the same request attaches to its turn";
  EXPECT_TRUE(client().GetTurn(queued).ok());

  barriers().Release("b");
  const auto drained = Drain();
  ASSERT_TRUE(drained.ok()) << drained.ToString();
  EXPECT_TRUE(drained.response.drained());
  EXPECT_EQ(client().GetTurn(queued).response.result().text(), "next");

  api::DrainRequest resume;
  resume.set_resume(true);
  EXPECT_TRUE(client().Call(&AdminStub::Drain, resume).ok());
  EXPECT_TRUE(client().Say(kProject, running.response.session_id(), "hello").ok());
}

// Who waits for the end of draining need not wait for the turns.
TEST_F(AdminTest, ADrainThatIsTakenBackEnds) {
  StartDaemon();
  BeginAt("b");
  std::thread resume([this] {
    const auto other = NewClient();
    EXPECT_TRUE(WaitUntil([this] { return Info().draining(); }));
    api::DrainRequest request;
    request.set_resume(true);
    EXPECT_TRUE(other->Call(&AdminStub::Drain, request).ok());
  });
  const auto drain = Drain();
  resume.join();
  ASSERT_TRUE(drain.ok()) << drain.ToString();
  EXPECT_FALSE(drain.response.drained());
  EXPECT_EQ(drain.response.running_turns(), 1u);
}

TEST_F(AdminTest, TheWireLogShowsTheTrafficWithoutKeys) {
  options().extra["secrets"] = {{"team", "sk-of-the-team"}};
  options().agents["fake"].env["SOME_TOKEN"] = "token-of-the-agent";
  StartDaemon();
  api::ChatRequest request = ChatOf(kProject, "", "hello", api::WAIT_FOR_FINISHED);
  request.mutable_model_provider()->set_api_key("sk-of-the-caller");
  const auto chat = client().Chat(request);
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const std::string session_id = chat.response.session_id();
  EXPECT_THAT(WireLines(), IsEmpty());

  ASSERT_TRUE(SetWireLog(session_id, true).ok());
  EXPECT_THAT(Info().wire_logged_session_ids(), testing::ElementsAre(session_id));
  const std::string said =
      "keys: sk-of-the-team, sk-of-the-caller, token-of-the-agent; " + std::string(20'000, 'x');
  ASSERT_TRUE(client().Say(kProject, session_id, said).ok());
  const auto tells = [this](const std::string& begin, const std::string& part) {
    return WaitUntil([&] {
      const std::vector<std::string> lines = WireLines();
      return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
        return line.starts_with(begin) && line.find(part) != std::string::npos;
      });
    });
  };
  EXPECT_TRUE(tells("out ", "\"session/prompt\""));
  EXPECT_TRUE(tells("in ", "\"session/update\""));
  EXPECT_TRUE(tells("in ", "\"end_turn\""));
  EXPECT_TRUE(tells("out ", "keys: ***, ***, ***; xxx"));
  for (const std::string& line : WireLines()) EXPECT_LE(line.size(), (16u << 10) + 4);

  ASSERT_TRUE(SetWireLog(session_id, false).ok());
  EXPECT_THAT(Info().wire_logged_session_ids(), IsEmpty());
  const size_t before = WireLines().size();
  ASSERT_TRUE(client().Say(kProject, session_id, "quiet").ok());
  EXPECT_EQ(WireLines().size(), before);
  EXPECT_THAT(daemon().Log(), AllOf(Not(HasSubstr("sk-of-the")), Not(HasSubstr("token-of-the"))));
}

TEST_F(AdminTest, TheWireLogIsForAFewSessionsThatLive) {
  options().default_agent = "demo";
  StartDaemon();
  std::vector<std::string> sessions;
  for (int i = 0; i < 17; ++i) {
    const auto made = client().Say(kProject, "", "hello");
    ASSERT_TRUE(made.ok()) << made.ToString();
    sessions.push_back(made.response.session_id());
  }
  for (int i = 0; i < 16; ++i) EXPECT_TRUE(SetWireLog(sessions[i], true).ok()) << i;
  EXPECT_TRUE(SetWireLog(sessions[0], true).ok()) << "again";
  const auto one_more = SetWireLog(sessions[16], true);
  EXPECT_EQ(one_more.code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(one_more.reason(), "QUEUE_FULL");
  api::DeleteSessionRequest forget;
  forget.set_session_id(sessions[3]);
  ASSERT_TRUE(client().Call(&Client::Stub::DeleteSession, forget).ok());
  EXPECT_TRUE(SetWireLog(sessions[16], true).ok()) << "the deleted one makes room";
}

TEST_F(AdminTest, TheWireLogOfAReplacedSessionNamesItsSuccessor) {
  UseScript({{"capabilities", {{"loadSession", false}, {"sessionCapabilities", nullptr}}}});
  StartDaemon();
  const std::string old_session = MakeDormant();
  const auto next = client().Say(kProject, old_session, "hello");
  ASSERT_TRUE(next.ok()) << next.ToString();
  ASSERT_NE(next.response.session_id(), old_session);
  const auto refused = SetWireLog(old_session, true);
  EXPECT_EQ(refused.code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(refused.reason(), "SESSION_REPLACED");
  EXPECT_THAT(refused.status.error_message(), HasSubstr(next.response.session_id()));
}

TEST_F(AdminTest, ShutdownAnswersBeforeItStops) {
  options().extra["shutdown"] = {{"workers", "keep"}};
  StartDaemon();
  BeginAt("b");
  api::ShutdownRequest request;
  request.set_workers(api::WORKERS_AT_SHUTDOWN_STOP);
  const auto stopped = client().Call(&AdminStub::Shutdown, request);
  EXPECT_TRUE(stopped.ok()) << stopped.ToString();
  // It has not been signalled before it ended by itself.
  EXPECT_TRUE(WaitUntil([this] { return !IsAlive(daemon().pid()); }));
  EXPECT_THAT(leftovers().Processes(), IsEmpty()) << "the request goes before the config";
  EXPECT_EQ(daemon().Stop(), (ExitStatus{0, 0}));
  options().extra["shutdown"] = {{"workers", "stop"}};
  StartDaemon();
  const std::vector<Event> events = AllEvents();
  const auto end = std::find_if(events.begin(), events.end(), Is(Event::kTurnEnded));
  ASSERT_NE(end, events.end());
  EXPECT_EQ(end->turn_ended().result().cancelled_by(), "shutdown");
}

}  // namespace
}  // namespace acpd::e2e
